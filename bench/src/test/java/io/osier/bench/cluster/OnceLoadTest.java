package io.osier.bench.cluster;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.bench.wan.WanQuality;
import io.osier.core.net.Ports;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import io.osier.testing.ScaledTries;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Production's threads between its two ways to an object, what waits for the disk and what is on
 * it: three datacenters in this process, of which each one's every update is of an object of its
 * own, so that what a peer misses once it never gets. {@code ./osier bench crash --once} does the
 * same with processes that are killed. Two seconds each, more in proportion to {@link ScaledTries}
 * or with the system property {@code once.seconds}, and the same again with {@code once.seed};
 * {@code once.rate} is in updates per second.
 */
@Timeout(1_800)
final class OnceLoadTest {
  private static final int SECONDS =
      Integer.getInteger("once.seconds", Math.max(2, ScaledTries.scaled(10)));
  private static final int PER_SECOND = Integer.getInteger("once.rate", 900);
  private static final List<String> DCS = Topology.DCS;

  @TempDir private Path directory;
  private final Map<String, Integer> clientPorts = new LinkedHashMap<>();
  private final Map<String, Integer> peerPorts = new LinkedHashMap<>();
  private final Map<String, Datacenter> running = new LinkedHashMap<>();

  @ParameterizedTest
  @EnumSource(names = {"SYNC", "ASYNC", "MEMORY"})
  void objectsThatAreWrittenOnce_areEverywhere_howeverTheLinksFlicker(Durability durability) {
    long seed = Long.getLong("once.seed", new Random().nextInt(1_000_000));
    System.out.println("seed " + seed + ", " + durability);
    DCS.forEach(dc -> clientPorts.put(dc, Ports.free()));
    DCS.forEach(dc -> peerPorts.put(dc, Ports.free()));
    Map<String, String> endpoints = new LinkedHashMap<>();
    clientPorts.forEach((dc, port) -> endpoints.put(dc, "127.0.0.1:" + port));
    Fleet fleet = new Fleet("once", endpoints);
    List<String> broken = new CopyOnWriteArrayList<>();
    try (PeerLinks links =
        new PeerLinks(DCS, peerPorts, (from, to) -> new WanQuality(2, 2, 0), seed)) {
      DCS.forEach(dc -> start(dc, durability, links));
      OnceLoad load = new OnceLoad(DCS, fleet::client, PER_SECOND, false, seed);
      try (Flicker flicker = new Flicker(links, DCS, seed, broken::add)) {
        LockSupport.parkNanos(SECONDS * 1_000_000_000L);
        // A slow machine may have done nothing yet.
        await().until(() -> load.done() > 0 && flicker.cuts() > 0);
      }
      load.stop();
      System.out.println(load.done() + " acknowledged, " + load.failures() + " not");
      await().until(() -> DCS.stream().allMatch(fleet::isReady));
      boolean equal = fleet.awaitEqual(Patience.LIMIT, System.out::println);
      for (String dc : DCS) {
        try (OsierClient client = fleet.only(dc)) {
          Map<String, List<Keyspace.Row>> there =
              load.keyspaces().stream()
                  .collect(toMap(k -> k, k -> Contents.rows(client.session().keyspace(k))));
          assertThat(load.audit(there, 0)).as(dc).isEqualTo(new WriterLoad.Audit(0, 0));
        }
      }
      assertThat(equal).isTrue();
      assertThat(broken).isEmpty();
      load.close();
    } finally {
      fleet.close();
      running.values().parallelStream().forEach(Datacenter::close);
    }
  }

  private void start(String dc, Durability durability, PeerLinks links) {
    StringBuilder peers = new StringBuilder();
    DCS.stream()
        .filter(other -> !other.equals(dc))
        .forEach(other -> peers.append(other + " = \"127.0.0.1:" + links.port(dc, other) + "\"\n"));
    String config =
        """
        osier {
          dc = %s
          listen { client-port = %d, peer-port = %d }
          shutdown-timeout = 1s
          store { dir = "%s", cache = 1MiB, %s }
          memory { trails = 64KiB, relays = 64KiB }
          peers { %s }
          keyspaces { %s }
        }
        """
            .formatted(
                dc,
                requireNonNull(clientPorts.get(dc)),
                requireNonNull(peerPorts.get(dc)),
                directory.toAbsolutePath(),
                durability.setting(),
                peers,
                OnceLoad.KEYSPACES);
    running.put(dc, Datacenter.start(ConfigReader.read(dc, config, Map.of())));
  }
}
