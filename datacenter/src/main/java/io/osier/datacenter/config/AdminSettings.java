package io.osier.datacenter.config;

import io.osier.propagation.net.link.PortLimits;
import java.util.Set;

/**
 * The port for metrics, health and the dashboard.
 *
 * @param host the address to bind
 * @param port 0 for any free one
 * @param names under which it may be asked for, besides addresses and localhost; in lower case
 */
public record AdminSettings(String host, int port, PortLimits limits, Set<String> names) {
  public AdminSettings {
    names = Set.copyOf(names);
  }
}
