package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.config.ConfigReader;
import io.osier.protocol.Envelope;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import io.osier.testing.Patience;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.Map;
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

  private static ErrorCode codeOf(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    Throwable thrown = org.assertj.core.api.Assertions.catchThrowable(call);
    assertThat(thrown).isInstanceOf(OsierException.class);
    return ((OsierException) thrown).code();
  }

  @Test
  void everyType_isWrittenAtOneAndReadAtAnother() {
    Keyspace here = at(eu);
    here.counter("c").increment(5);
    here.growOnlyCounter("g").increment(2);
    here.register("r").assign("x");
    here.multiRegister("m").assign(Value.of(7));
    here.flag("e").set(true);
    here.disableWinsFlag("d").set(true);
    here.set("s").add("a", "b");
    here.set("s").remove("a");
    here.growOnlySet("gs").add("a");
    here.removeWinsSet("rs").add("a");
    here.lastWriterWinsSet("ls").add("a");
    here.lastWriterWinsSetRemoveBias("lr").add("a");
    here.map("map").counter("n").increment(3);
    here.map("map").map("inner").set("tags").add("t");
    Keyspace there = at(us);
    await()
        .untilAsserted(
            () ->
                assertThat(there.map("map").map("inner").set("tags").get())
                    .containsExactly(Value.of("t")));
    await().untilAsserted(() -> assertThat(there.counter("c").get()).isEqualTo(5));
    await().untilAsserted(() -> assertThat(there.growOnlyCounter("g").get()).isEqualTo(2));
    await().untilAsserted(() -> assertThat(there.register("r").get()).contains(Value.of("x")));
    await().untilAsserted(() -> assertThat(there.multiRegister("m").get()).contains(Value.of(7)));
    await().untilAsserted(() -> assertThat(there.flag("e").get()).isTrue());
    await().untilAsserted(() -> assertThat(there.disableWinsFlag("d").get()).isTrue());
    await().untilAsserted(() -> assertThat(there.set("s").get()).containsExactly(Value.of("b")));
    assertThat(there.set("s").contains(Value.of("b"))).isTrue();
    assertThat(there.set("s").size()).isEqualTo(1);
    await().untilAsserted(() -> assertThat(there.growOnlySet("gs").size()).isEqualTo(1));
    await().untilAsserted(() -> assertThat(there.removeWinsSet("rs").size()).isEqualTo(1));
    await().untilAsserted(() -> assertThat(there.lastWriterWinsSet("ls").size()).isEqualTo(1));
    await()
        .untilAsserted(
            () -> assertThat(there.lastWriterWinsSetRemoveBias("lr").size()).isEqualTo(1));
    assertThat(there.map("map").counter("n").get()).isEqualTo(3);
    assertThat(there.exists("c")).isTrue();
    assertThat(there.exists("nothing")).isFalse();
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
  void badInput_isRefusedWithItsCode_andChangesNothing() {
    Keyspace here = at(eu);
    here.counter("typed").increment(1);
    assertThat(codeOf(() -> here.set("typed").add("x"))).isEqualTo(ErrorCode.WRONG_TYPE);
    assertThat(codeOf(() -> here.register("typed").get())).isEqualTo(ErrorCode.WRONG_TYPE);
    assertThat(codeOf(() -> eu.session().keyspace("nope").counter("x").get()))
        .isEqualTo(ErrorCode.UNKNOWN_KEYSPACE);
    assertThat(codeOf(() -> here.counter("k".repeat(65)).increment(1)))
        .isEqualTo(ErrorCode.KEY_TOO_LARGE);
    assertThat(codeOf(() -> here.register("big").assign("v".repeat(2_000))))
        .isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    assertThat(codeOf(() -> here.growOnlyCounter("gc").increment(-1)))
        .isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(codeOf(() -> here.growOnlySet("gone").remove("x"))).isEqualTo(ErrorCode.WRONG_TYPE);
    here.counter("full").increment(Long.MAX_VALUE);
    assertThat(codeOf(() -> here.counter("full").increment(1))).isEqualTo(ErrorCode.OVERFLOW);
    assertThat(codeOf(() -> here.scan(Optional.empty(), Optional.empty(), new Query.Whole(), 0)))
        .isEqualTo(ErrorCode.INVALID_ARGUMENT);
    for (int i = 0; i < 8; i++) {
      here.set("fill").add("e".repeat(800) + i);
    }
    assertThat(
            codeOf(
                () -> {
                  here.set("fill").add("e".repeat(800) + "x");
                  here.set("fill").add("e".repeat(800) + "y");
                  here.set("fill").add("e".repeat(800) + "z");
                }))
        .isEqualTo(ErrorCode.VALUE_TOO_LARGE);
    assertThat(here.counter("typed").get()).isEqualTo(1);
    assertThat(here.exists("big")).isFalse();
  }

  @Test
  void scan_isInOrderOverAllPartitions_andLeavesOutWhatIsRemoved() {
    Keyspace here = at(eu);
    for (int i = 0; i < 50; i++) {
      here.map("row%02d".formatted(i))
          .update(
              List.of(
                  new Operation.FieldUpdate(
                      new FieldId("f", CrdtType.LWW_REGISTER), new Operation.Assign(Value.of(i)))));
    }
    here.map("row10").clear();
    Keyspace.Page page =
        here.scan(
            Optional.of(Key.of("row05")), Optional.of(CrdtType.OR_MAP), new Query.Whole(), 20);
    assertThat(page.rows()).hasSize(20);
    assertThat(page.rows().getFirst().key()).isEqualTo(Key.of("row05"));
    assertThat(page.rows().stream().map(r -> r.key().toString()))
        .isSorted()
        .doesNotContain("row10");
    assertThat(page.next()).contains(Key.of("row26"));
  }

  @Test
  void malformedBytes_closeTheConnection_andOthersGoOn() throws IOException {
    try (Socket socket = new Socket("127.0.0.1", cluster.clientPort("eu"))) {
      socket.setSoTimeout(Patience.MILLIS);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      out.writeInt(5);
      out.write(new byte[] {9, 9, 9, 9, 9});
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
    try (Socket socket = new Socket("127.0.0.1", cluster.clientPort("eu"))) {
      socket.setSoTimeout(Patience.MILLIS);
      new DataOutputStream(socket.getOutputStream()).writeInt(Integer.MAX_VALUE);
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
    try (Socket socket = new Socket("127.0.0.1", cluster.peerPort("eu"))) {
      socket.setSoTimeout(Patience.MILLIS);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      out.writeInt(3);
      out.write(new byte[] {1, 6, 127});
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
    at(eu).counter("still").increment(1);
  }

  @Test
  void requestThatComesSlowly_isAnsweredWithSignsOfLife() throws IOException {
    try (Socket socket = new Socket("127.0.0.1", cluster.clientPort("eu"))) {
      socket.setSoTimeout(Patience.MILLIS);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      byte[] hello = ProtocolCodec.encode(0, new Request.Hello(Request.PROTOCOL_VERSION, "slow"));
      out.writeInt(hello.length);
      out.write(hello);
      assertThat(reply(in).message()).isInstanceOf(Reply.Welcome.class);
      byte[] ping = ProtocolCodec.encode(1, new Request.Ping());
      out.writeInt(ping.length);
      out.write(ping, 0, 1);
      for (int i = 1; i < ping.length; i++) { // a byte a sign
        assertThat(reply(in)).isEqualTo(new Envelope<Reply>(0, new Reply.Pong()));
        out.write(ping[i]);
      }
      assertThat(reply(in)).isEqualTo(new Envelope<Reply>(1, new Reply.Pong()));
    }
  }

  private static Envelope<Reply> reply(DataInputStream in) throws IOException {
    byte[] bytes = new byte[in.readInt()];
    in.readFully(bytes);
    return ProtocolCodec.decodeReply(bytes);
  }

  /** Datacenters are upgraded before clients. */
  @Test
  void formerProtocolVersion_isWelcome() throws IOException {
    try (Socket socket = new Socket("127.0.0.1", cluster.clientPort("eu"))) {
      socket.setSoTimeout(Patience.MILLIS);
      byte[] hello =
          ProtocolCodec.encode(0, new Request.Hello(Request.PROTOCOL_VERSION_MIN, "former"));
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      out.writeInt(hello.length);
      out.write(hello);
      assertThat(reply(new DataInputStream(socket.getInputStream())).message())
          .isInstanceOf(Reply.Welcome.class);
    }
  }

  @Test
  void otherProtocolVersion_isToldAndClosed() throws IOException {
    try (Socket socket = new Socket("127.0.0.1", cluster.clientPort("eu"))) {
      socket.setSoTimeout(Patience.MILLIS);
      byte[] hello = ProtocolCodec.encode(0, new Request.Hello(99, "future"));
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      out.writeInt(hello.length);
      out.write(hello);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      byte[] answer = new byte[in.readInt()];
      in.readFully(answer);
      assertThat(ProtocolCodec.decodeReply(answer).message())
          .isInstanceOfSatisfying(
              Reply.Failure.class,
              f -> {
                assertThat(f.code()).isEqualTo(ErrorCode.VERSION_MISMATCH);
                assertThat(f.message())
                    .startsWith(
                        "client protocol 99 is not one of 2 to " + Request.PROTOCOL_VERSION);
              });
      assertThat(in.read()).isEqualTo(-1);
    }
  }

  @Test
  void secondProcessOfOneName_isRefused_andTheFirstGoesOn() {
    String config = cluster.config("us", Ports.free(), Ports.free());
    try (Datacenter second =
        Datacenter.start(
            ConfigReader.read(
                "second", config.replace("dc = us", "dc = us, incarnation-min = 5"), Map.of()))) {
      await().until(() -> second.failure().isCompletedExceptionally());
      assertThatThrownBy(() -> second.failure().join())
          .hasCauseInstanceOf(OsierException.class)
          .hasMessageContaining("another process already runs as 'us'");
    }
    Keyspace here = at(us);
    here.counter("first").increment(1);
    await().untilAsserted(() -> assertThat(at(eu).counter("first").get()).isEqualTo(1));
  }

  @Test
  void portInUse_isToldWithItsKey() {
    assertThatThrownBy(
            () ->
                Datacenter.start(
                    ConfigReader.read(
                        "x",
                        cluster.config("eu", cluster.clientPort("eu"), Ports.free()),
                        Map.of())))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("osier.listen.client-port");
  }
}
