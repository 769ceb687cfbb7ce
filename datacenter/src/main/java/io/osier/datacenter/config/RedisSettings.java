package io.osier.datacenter.config;

import java.util.Map;

/**
 * The port for clients that speak the Redis protocol.
 *
 * @param port 0 for any free one
 * @param databases the keyspaces that SELECT chooses, by number; empty if the only keyspace, or the
 *     one called default, is number 0
 */
public record RedisSettings(int port, Map<Integer, String> databases) {
  /** One more than the highest number of a database. */
  static final int DATABASES_MAX = 1_024;

  public RedisSettings {
    databases = Map.copyOf(databases);
  }
}
