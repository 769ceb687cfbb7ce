package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Opened;
import java.io.IOException;
import java.util.Arrays;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Connections that say nothing, half of something, or are too many. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class PortLimitsTest {
  private static final int CONNECTIONS = 20;

  private static final String LONG = "1h";

  /** Soon takes a connection for one that says nothing. */
  @AutoClose private final Datacenter datacenter = start("500ms", "500ms");

  private static Datacenter start(String greeting, String frame) {
    return TestCluster.one(
        """
        osier {
          dc = eu, store.dir = ""
          listen {
            client-port = 0, peer-port = 0
            client-connections = 20, greeting-timeout = %s, frame-timeout = %s
          }
          keyspaces { shop {} }
        }
        """
            .formatted(greeting, frame));
  }

  @Test
  void silentConnection_isClosed_onEachPort() throws IOException {
    for (int port : new int[] {datacenter.clientPort(), datacenter.peerPort()}) {
      try (RawClient client = new RawClient(port)) {
        assertThat(client.isEnded()).isTrue();
      }
    }
  }

  @Test
  void halfAFrame_isClosed_onEachPort() throws IOException {
    for (int port : new int[] {datacenter.clientPort(), datacenter.peerPort()}) {
      try (RawClient client = new RawClient(port)) {
        assertThat(client.send(new byte[] {0, 0, 0, 9, 1}).isEnded()).isTrue();
      }
    }
    try (Datacenter patient = start(LONG, "500ms");
        RawClient client = new RawClient(patient.clientPort()).greet()) {
      assertThat(client.send(new byte[] {0, 0, 9, 9, 1, 1}).isEnded()).isTrue();
    }
  }

  @Test
  void largeValueThatComesSlowly_isTaken() throws IOException {
    byte[] frame =
        RawClient.frame(
            1,
            Requests.write(
                "shop",
                Key.of("large"),
                CrdtType.LWW_REGISTER,
                new Operation.Assign(Value.of("v".repeat(400_000)))));
    try (Datacenter patient = start(LONG, LONG); // far more than the time between two signs of life
        RawClient client = new RawClient(patient.clientPort()).greet()) {
      int part = frame.length / 4;
      for (int from = 0; from < frame.length; from += part) {
        client.send(Arrays.copyOfRange(frame, from, Math.min(frame.length, from + part)));
        if (from + part < frame.length) {
          assertThat(client.any().message()).isInstanceOf(Reply.Pong.class); // every few hundred ms
        }
      }
      assertThat(client.reply().message()).isInstanceOf(Reply.Done.class);
    }
  }

  @Test
  void connectionTooMany_isToldSo_andRoomIsFreeAgainLater() throws IOException {
    try (Datacenter patient = start(LONG, LONG)) {
      try (Opened clients = new Opened()) {
        for (int i = 0; i < CONNECTIONS; i++) {
          clients.add(new RawClient(patient.clientPort()).greet());
        }
        RawClient client = clients.add(new RawClient(patient.clientPort()));
        assertThat(client.reply().message())
            .is(Failed.with(ErrorCode.OVERLOADED, "osier.listen.client-connections", "20"));
        assertThat(client.isEnded()).isTrue();
      }
      Awaitility.await().until(() -> isGreeted(patient));
    }
  }

  private static boolean isGreeted(Datacenter by) throws IOException {
    try (RawClient client = new RawClient(by.clientPort())) {
      client.send(RawClient.frame(0, new Greeting.Hello(Request.PROTOCOL_VERSION, "raw")));
      return client.reply().message() instanceof Reply.Welcome;
    }
  }
}
