package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.protocol.Envelope;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Real datacenters, real sockets, the real client library. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class DatacenterTest {
  @AutoClose private final TestCluster cluster = new TestCluster("eu", "us", "ap");
  private final OsierClient eu = cluster.client("eu");
  private final OsierClient us = cluster.client("us");

  private Keyspace at(OsierClient client) {
    return client.session().keyspace("shop");
  }

  @Test
  void session_readsItsWritesAtAnotherDatacenter() {
    // One client, whose session moves: its datacenter goes down between write and read.
    try (TestCluster own = new TestCluster("eu", "us");
        OsierClient client = own.client("eu")) {
      Session session = client.session();
      for (int i = 0; i < 20; i++) {
        session.keyspace("shop").counter("x" + i).increment(i);
      }
      assertThat(session.datacenter()).contains("eu");
      own.stop("eu"); // gracefully: it ships what it holds
      for (int i = 0; i < 20; i++) {
        assertThat(session.keyspace("shop").counter("x" + i).get()).isEqualTo(i);
      }
      assertThat(session.datacenter()).contains("us");
      session.keyspace("shop").counter("x1").increment(100);
      own.start("eu"); // a new incarnation, empty: it catches up before it serves
      await().until(() -> client.nearest().filter("eu"::equals).isPresent());
      assertThat(session.keyspace("shop").counter("x1").get()).isEqualTo(101);
      await()
          .untilAsserted(
              () -> {
                session.keyspace("shop").counter("x2").get();
                assertThat(session.datacenter()).contains("eu");
              });
      assertThat(session.keyspace("shop").counter("x1").get()).isEqualTo(101);
    }
  }

  @Test
  void hotObject_goesToStateMode_andIsShown() {
    Keyspace here = at(eu);
    AtomicInteger done = new AtomicInteger();
    await()
        .untilAsserted(
            () -> {
              CompletableFuture<?>[] batch = new CompletableFuture<?>[100];
              for (int k = 0; k < batch.length; k++) {
                batch[k] = here.counter("hot").incrementAsync(1);
              }
              CompletableFuture.allOf(batch).join();
              done.addAndGet(batch.length);
              String hot = eu.inspectAsync("eu", Request.Topic.HOT, Optional.of("shop"), 3).join();
              assertThat(hot).contains("\"key\":\"hot\"").contains("\"mode\":\"state\"");
            });
    await().untilAsserted(() -> assertThat(at(us).counter("hot").get()).isEqualTo(done.get()));
  }

  @Test
  void malformedBytes_closeTheConnection_andOthersGoOn() throws IOException {
    int client = cluster.clientPort("eu");
    assertEnded(client, RawClient.frame(new byte[] {9, 9, 9, 9, 9}));
    assertEnded(client, new byte[] {Byte.MAX_VALUE, -1, -1, -1}); // the longest frame
    assertEnded(cluster.peerPort("eu"), RawClient.frame(new byte[] {1, 6, 127}));
    at(eu).counter("still").increment(1);
  }

  private static void assertEnded(int port, byte[] sent) throws IOException {
    try (RawClient client = new RawClient(port)) {
      assertThat(client.send(sent).isEnded()).isTrue();
    }
  }

  @Test
  void requestThatComesSlowly_isAnsweredWithSignsOfLife() throws IOException {
    try (RawClient client = new RawClient(cluster.clientPort("eu")).greet()) {
      byte[] ping = RawClient.frame(1, new Request.Ping());
      client.send(Arrays.copyOf(ping, 5));
      for (int i = 5; i < ping.length; i++) { // a byte a sign
        assertThat(client.any()).isEqualTo(new Envelope<Reply>(0, new Reply.Pong()));
        client.send(new byte[] {ping[i]});
      }
      assertThat(client.any()).isEqualTo(new Envelope<Reply>(1, new Reply.Pong()));
    }
  }

  /** Datacenters are upgraded before clients. */
  @Test
  void formerProtocolVersion_isWelcome_andALaterOneIsToldAndClosed() throws IOException {
    try (RawClient former = new RawClient(cluster.clientPort("eu"));
        RawClient later = new RawClient(cluster.clientPort("eu"))) {
      assertThat(hello(former, Request.PROTOCOL_VERSION_MIN)).isInstanceOf(Reply.Welcome.class);
      assertThat(hello(later, 99))
          .isInstanceOfSatisfying(
              Reply.Failure.class,
              f -> {
                assertThat(f.code()).isEqualTo(ErrorCode.VERSION_MISMATCH);
                assertThat(f.message())
                    .startsWith(
                        "client protocol 99 is not one of 2 to " + Request.PROTOCOL_VERSION);
              });
      assertThat(later.isEnded()).isTrue();
    }
  }

  private static Reply hello(RawClient client, int version) throws IOException {
    return client.send(RawClient.frame(0, new Greeting.Hello(version, "raw"))).any().message();
  }
}
