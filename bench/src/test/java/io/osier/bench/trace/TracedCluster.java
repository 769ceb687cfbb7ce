package io.osier.bench.trace;

import static org.awaitility.Awaitility.await;

import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import io.osier.core.net.Ports;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.proxy.ClientTraces;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Three datacenters in this process, with emulated links between them, that send traces. */
final class TracedCluster implements AutoCloseable {
  static final List<String> DCS = List.of("eu", "us", "ap");

  private final WanEmulator wan = new WanEmulator(1);
  private final Map<String, Datacenter> running = new LinkedHashMap<>();

  /** Starts them, with these settings of all. */
  TracedCluster(String keyspaces, String trace) {
    Map<String, Integer> ports =
        DCS.stream().collect(Collectors.toMap(dc -> dc, dc -> Ports.free()));
    WanQuality quality = new WanQuality(2, 0, 0);
    for (String from : DCS) {
      String peers =
          DCS.stream()
              .filter(to -> !to.equals(from))
              .map(
                  to -> {
                    InetSocketAddress at = new InetSocketAddress("127.0.0.1", ports.get(to));
                    int port = wan.open(from + "-" + to, 0, at, quality, quality).port();
                    return to + " = \"127.0.0.1:" + port + "\"";
                  })
              .collect(Collectors.joining(", "));
      String config =
          """
          osier {
            dc = %s, store { dir = "" }, shutdown-timeout = 1s
            listen { client-port = 0, peer-port = %d }
            admin { enabled = true, port = 0 }
            streams { retry = 300ms, heal = 600ms }
            peers { %s }
            keyspaces { %s }
            trace { %s }
          }
          """
              .formatted(from, ports.get(from), peers, keyspaces, trace);
      running.put(from, Datacenter.start(ConfigReader.read(from, config, Map.of())));
    }
    await().until(() -> running.values().stream().allMatch(Datacenter::isReady));
  }

  Datacenter datacenter(String dc) {
    return running.get(dc);
  }

  void cut(String one, String two) {
    wan.link(one + "-" + two).cut();
    wan.link(two + "-" + one).cut();
  }

  void heal(String one, String two) {
    wan.link(one + "-" + two).heal();
    wan.link(two + "-" + one).heal();
  }

  /** A client of one datacenter alone. */
  OsierClient client(String dc) {
    return client(dc, update -> {});
  }

  /** A client of one datacenter alone that tells of its updates. */
  OsierClient client(String dc, ClientTraces traces) {
    OsierClient client =
        OsierClient.builder()
            .traces(1, traces)
            .timeout(Patience.LIMIT) // no datacenter is taken for dead that is only slow
            .pingInterval(Patience.LIMIT.dividedBy(4))
            .endpoint(dc, "127.0.0.1:" + running.get(dc).clientPort())
            .build();
    client.awaitConnected(Patience.LIMIT);
    return client;
  }

  @Override
  public void close() {
    List.copyOf(running.values()).parallelStream().forEach(Datacenter::close);
    wan.close();
  }
}
