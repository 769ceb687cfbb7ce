package io.osier.spring;

import io.osier.datacenter.embedded.EmbeddedDatacenter;
import java.time.Duration;

/** A datacenter in this process, which clients reach by its port. */
final class OneDatacenter {
  private OneDatacenter() {}

  static EmbeddedDatacenter start() {
    EmbeddedDatacenter eu =
        EmbeddedDatacenter.start(
            """
            osier {
              dc = eu, store.dir = "", shutdown-timeout = 0s
              listen { client-port = 0, peer-port = 0 }
              keyspaces { default {}, shop {} }
            }
            """);
    eu.awaitReady(Duration.ofMinutes(10));
    return eu;
  }

  static String endpoint(EmbeddedDatacenter datacenter) {
    return "osier.endpoints.eu=127.0.0.1:" + datacenter.clientPort();
  }
}
