package io.osier.datacenter.cli.command;

import com.typesafe.config.ConfigUtil;
import io.osier.core.net.HostPort;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.ProtectedMode;
import io.osier.datacenter.config.TlsSettings;
import java.util.OptionalInt;

/**
 * The configuration of {@code osier server} without a file: one datacenter for this machine alone.
 */
final class StarterConfig {
  /** The name of this configuration in errors. */
  static final String SOURCE = "the built-in configuration";

  /** The store's directory if none is given. */
  static final String DIR = "osier-data";

  /**
   * The store's directory with {@code --redis}, since the number of a store's partitions cannot be
   * changed.
   */
  static final String REDIS_DIR = "osier-redis-data";

  private StarterConfig() {}

  /**
   * Returns the configuration's text.
   *
   * @param storeDir the store's directory; empty to keep all data in memory
   * @param redis whether to serve Redis clients at their usual port: their commands on several keys
   *     need a single partition
   */
  static String text(String storeDir, boolean redis) {
    return "osier { dc = local, admin { enabled = true }, store { dir = "
        + ConfigUtil.quoteString(storeDir)
        + " }, "
        + (redis
            ? "listen { redis-port = 6379 }, keyspaces { default { partitions = 1 } } }"
            : "keyspaces { default {} } }");
  }

  /**
   * Returns what a newcomer needs to know once the datacenter serves: where the page and the data
   * are, and what to type.
   *
   * @param adminPort empty if there is no page
   * @param redisPort empty if clients of Redis are not served
   */
  static String whatNext(
      DatacenterConfig config, int clientPort, OptionalInt adminPort, OptionalInt redisPort) {
    boolean isPageEncrypted = config.tls().filter(TlsSettings::admin).isPresent();
    return "one datacenter "
        + (ProtectedMode.isLoopback(config.host())
            ? "for this machine alone"
            : "that other machines reach, too (osier.listen.host = " + config.host() + ")")
        + "; data: "
        + config.store().dir().map(Object::toString).orElse("in memory, gone with this process")
        + "\n  page:          "
        + config
            .admin()
            .filter(admin -> adminPort.isPresent())
            .map(admin -> HostPort.bound(admin.host(), adminPort.getAsInt()))
            .map(page -> (isPageEncrypted ? "https://" : "http://") + page)
            .orElse("none (osier.admin.enabled = false)")
        + "\n  first command: osier cli --connect "
        + HostPort.bound(config.host(), clientPort)
        + (config.tls().isPresent() ? " --authorities FILE" : "")
        + " counter incr likes:42"
        + (redisPort.isPresent()
            ? "\n  with Redis:    redis-cli -p " + redisPort.getAsInt() + " INCR likes:42"
            : "")
        + "\n  go on with:    osier init --dc eu --peers us=us.example:7401   (osier help init)";
  }
}
