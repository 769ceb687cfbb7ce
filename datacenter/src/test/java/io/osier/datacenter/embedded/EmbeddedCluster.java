package io.osier.datacenter.embedded;

import static java.util.Objects.requireNonNull;

import io.osier.core.net.Ports;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.Keyspace;
import io.osier.proxy.PatientClients;
import io.osier.proxy.values.Values;
import io.osier.testing.Patience;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Three embedded datacenters in this JVM, joined over loopback. */
final class EmbeddedCluster implements AutoCloseable {
  static final List<String> NAMES = List.of("ap", "eu", "us");

  private final Map<String, EmbeddedDatacenter> running = new LinkedHashMap<>();

  EmbeddedCluster(String keyspaces) {
    this(keyspaces, "dir = \"\"");
  }

  EmbeddedCluster(String keyspaces, String store) {
    this(keyspaces, store, Values.plain());
  }

  EmbeddedCluster(String keyspaces, String store, Values values) {
    Map<String, Integer> ports = new LinkedHashMap<>();
    NAMES.forEach(name -> ports.put(name, Ports.free()));
    for (String name : NAMES) {
      StringBuilder peers = new StringBuilder();
      ports.forEach(
          (other, port) -> {
            if (!other.equals(name)) {
              peers.append(other).append(" = \"127.0.0.1:").append(port).append("\"\n");
            }
          });
      running.put(
          name,
          start(
              "osier { dc = "
                  + name
                  + ", shutdown-timeout = 2m, listen { client-port = 0, peer-port = "
                  + ports.get(name)
                  + " }, store { "
                  + store
                  + " }, peers { "
                  + peers
                  + " }, keyspaces { "
                  + keyspaces
                  + " } }",
              values));
    }
    running.values().forEach(dc -> dc.awaitReady(Patience.LIMIT));
  }

  /** The configuration of one that has no peers. */
  static String alone(String store, String keyspaces) {
    return "osier { dc = eu, listen { client-port = 0, peer-port = 0 }, store { "
        + store
        + " }, keyspaces { "
        + keyspaces
        + " } }";
  }

  /** An embedded datacenter whose client waits for whoever is only slow. */
  static EmbeddedDatacenter start(String config, Values values) {
    return EmbeddedDatacenter.startWith(
        ConfigReader.read("the test's configuration", config, Map.of()),
        datacenter -> PatientClients.inProcess(datacenter, values));
  }

  EmbeddedDatacenter dc(String name) {
    return requireNonNull(running.get(name), name);
  }

  Keyspace keyspace(String dc, String name) {
    return dc(dc).session().keyspace(name);
  }

  @Override
  public void close() {
    running.values().forEach(dc -> TestCluster.inAHurry(dc::close));
  }
}
