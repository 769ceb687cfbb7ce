package io.osier.bench.wan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.bench.wan.WanLink.Direction;
import io.osier.core.Value;
import io.osier.core.net.Ports;
import io.osier.crdt.Query;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.server.Datacenter;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Datacenters and clients with real sockets over links of 1.6 Mbit/s and 100 ms. */
final class NarrowLinkTest {
  private static final WanQuality NARROW = new WanQuality(100, 5, 200_000);

  /** What the link carries in seven seconds: more than a silent connection lives. */
  private static final int BYTES = 1_400_000;

  private WanEmulator wan;

  @BeforeEach
  void start() {
    wan = new WanEmulator(1);
  }

  @AfterEach
  void stop() {
    wan.close();
  }

  private static InetSocketAddress at(int port) {
    return new InetSocketAddress("127.0.0.1", port);
  }

  private static Datacenter datacenter(String dc, int peerPort, String peer, int at) {
    String config =
        String.format(
            Locale.ROOT,
            "osier { dc = %s, store { dir = \"\" }, shutdown-timeout = 1s,"
                + " listen { client-port = 0, peer-port = %d },"
                + " peers { %s = \"127.0.0.1:%d\" },"
                + " keyspaces { k { sla = 1s, partitions = 4 } } }",
            dc,
            peerPort,
            peer,
            at);
    return Datacenter.start(ConfigReader.read(dc, config, Map.of()));
  }

  private static OsierClient client(int port) {
    OsierClient client =
        OsierClient.builder()
            .endpoint("eu", "127.0.0.1:" + port)
            .timeout(Patience.LIMIT) // no datacenter is taken for dead that is only slow
            .pingInterval(Patience.LIMIT.dividedBy(4))
            .build();
    client.awaitConnected(Patience.LIMIT);
    return client;
  }

  private static Value bytes(int size) {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return Value.of(bytes);
  }

  @Test
  void catchUpOverANarrowLink_ends_withoutTheConnectionBeingGivenUp() throws IOException {
    int euPort = Ports.free();
    int usPort = Ports.free();
    WanLink toUs = wan.open("eu-us", 0, at(usPort), NARROW, NARROW);
    WanLink toEu = wan.open("us-eu", 0, at(euPort), NARROW, NARROW);
    try (Datacenter eu = datacenter("eu", euPort, "us", toUs.port());
        OsierClient client = client(eu.clientPort())) {
      await().until(eu::isReady);
      Keyspace k = client.session().keyspace("k");
      int values = BYTES / 20_000;
      for (int i = 0; i < values; i++) {
        k.register("r" + i).assign(bytes(20_000));
      }
      try (Datacenter us = datacenter("us", usPort, "eu", toEu.port());
          OsierClient there = client(us.clientPort())) {
        Keyspace at = there.session().keyspace("k");
        await().until(us::isReady);
        await()
            .until(
                () ->
                    at.scan(Optional.empty(), Optional.empty(), new Query.Whole(), 1_000)
                            .rows()
                            .size()
                        == values);
        assertThat(toUs.bytes(Direction.FORTH)).as("sent once").isLessThan(BYTES * 3L / 2);
      }
    }
  }

  @Test
  void largeValueOverANarrowLink_isWritten_withoutTheConnectionBeingGivenUp() throws IOException {
    try (Datacenter eu = datacenter("eu", 0, "us", Ports.free())) {
      await().until(eu::isReady);
      WanLink toEu = wan.open("client-eu", 0, at(eu.clientPort()), NARROW, NARROW);
      try (OsierClient client = client(toEu.port())) {
        client.session().keyspace("k").register("large").assign(bytes(BYTES / 2));
        assertThat(toEu.bytes(Direction.FORTH)).as("sent once").isLessThan(BYTES * 3L / 4);
      }
    }
  }
}
