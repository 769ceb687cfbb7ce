package io.osier.datacenter.cli.command;

import com.typesafe.config.ConfigUtil;
import io.osier.datacenter.config.DatacenterConfig;

/**
 * The configuration of {@code osier server} without a file: one datacenter for this machine alone.
 */
final class StarterConfig {
  /** What errors call it. */
  static final String SOURCE = "the built-in configuration";

  /** The store's directory where none is named. */
  static final String DIR = "osier-data";

  private StarterConfig() {}

  /**
   * The settings.
   *
   * @param storeDir the store's directory; empty keeps all data in memory
   */
  static String text(String storeDir) {
    return "osier { dc = local, admin { enabled = true }, store { dir = "
        + ConfigUtil.quoteString(storeDir)
        + " }, keyspaces { default {} } }";
  }

  /**
   * What a newcomer wants to know once it serves: where the page and the data are, what to type.
   */
  static String whatNext(DatacenterConfig config, int clientPort, int adminPort) {
    return "one datacenter for this machine alone; data: "
        + config.store().dir().map(Object::toString).orElse("in memory, gone with this process")
        + "\n  page:          http://127.0.0.1:"
        + adminPort
        + "\n  first command: osier cli --connect localhost:"
        + clientPort
        + " counter incr likes:42"
        + "\n  go on with:    osier init --dc eu --peers us=us.example:7401   (osier help init)";
  }
}
