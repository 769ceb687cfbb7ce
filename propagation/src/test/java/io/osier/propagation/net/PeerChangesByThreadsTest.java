package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.osier.core.ReplicaId;
import io.osier.core.net.Sockets;
import io.osier.propagation.net.link.PortLimits;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Datacenters that are added and removed by many threads at a time, over real sockets. */
final class PeerChangesByThreadsTest extends PeersFixture {
  @Test
  void changesAndSendsOfManyThreads_endWithTheLastChange() throws Exception {
    List<ILoggingEvent> logged = TransportFixture.logged(Logger.ROOT_LOGGER_NAME, open);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Map<String, PeerTransport> all = new ConcurrentHashMap<>();
    for (ReplicaId self : List.of(EU, US, AP)) {
      PeerTransport transport =
          new PeerTransport(
              new ProcessIdentity(self, "test", START, List.of()),
              new InetSocketAddress("127.0.0.1", 0),
              NOBODY,
              dc -> POLICIES,
              new PortLimits(10_000, 20_000, 20_000), // each change may be a dial
              heardAt(self),
              Optional.empty(),
              Sockets.of("osier-peers", 1));
      open.add(transport);
      all.put(self.dc(), transport);
    }
    Map<String, InetSocketAddress> full = new TreeMap<>();
    all.forEach((dc, t) -> full.put(dc, new InetSocketAddress("127.0.0.1", t.port())));
    all.values().forEach(PeerTransport::dial);
    List<Thread> threads = new ArrayList<>();
    all.forEach(
        (dc, transport) -> {
          for (int i = 0; i < 3; i++) {
            Random random = new Random(seed + threads.size());
            threads.add(
                Thread.ofVirtual()
                    .start(
                        () -> {
                          try {
                            change(transport, others(dc, full), random);
                          } catch (Throwable e) {
                            failure.set(e);
                          }
                        }));
          }
        });
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failure.get()).isNull();
    all.forEach((dc, transport) -> transport.setPeers(others(dc, full)));
    await().until(() -> all.values().stream().allMatch(t -> t.connected() == 2));
    all.forEach(
        (dc, t) -> others(dc, full).keySet().forEach(to -> t.send(replica(to), "shop", 1, ack(7))));
    for (String dc : all.keySet()) {
      List<String> events = new ArrayList<>();
      HeardFrames there = Optional.ofNullable(heard.get(dc)).orElseThrow();
      while (events.stream().filter("shop/1 7"::equals).count() < 2) {
        events.add(there.next());
      }
      others(dc, full).keySet().forEach(other -> assertUpAndDownInTurn(other, events));
    }
    assertThat(logged)
        .as("nothing fails; to be refused is no failure")
        .noneMatch(
            e ->
                e.getLevel().isGreaterOrEqual(Level.ERROR)
                    && !e.getFormattedMessage().contains("refuse"));
  }

  private static ReplicaId replica(String dc) {
    return List.of(EU, US, AP).stream().filter(r -> r.dc().equals(dc)).findAny().orElseThrow();
  }

  private static Map<String, InetSocketAddress> others(
      String dc, Map<String, InetSocketAddress> full) {
    Map<String, InetSocketAddress> others = new TreeMap<>(full);
    others.remove(dc);
    return others;
  }

  private static void change(
      PeerTransport transport, Map<String, InetSocketAddress> others, Random random) {
    for (int i = 0; i < 300; i++) {
      Map<String, InetSocketAddress> some = new TreeMap<>(others);
      some.keySet().removeIf(dc -> random.nextInt(4) == 0);
      transport.setPeers(some);
      for (String to : others.keySet()) {
        transport.send(replica(to), "shop", 0, ack(i));
        transport.note(to, new byte[3]);
      }
      transport.keyspacesChanged();
    }
  }
}
