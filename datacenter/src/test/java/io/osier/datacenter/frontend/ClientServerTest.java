package io.osier.datacenter.frontend;

import static io.osier.testing.Refused.refused;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.server.LoggedLines;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.shard.agent.Phased;
import io.osier.datacenter.testing.Failed;
import io.osier.propagation.net.link.PortGuard;
import io.osier.protocol.Envelope;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.RegisterHandle;
import io.osier.testing.Patience;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients' connections, from both ends: answers that cannot be sent, and connections lost. */
final class ClientServerTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final List<Reply.KeyspaceInfo> SHOP =
      List.of(new Reply.KeyspaceInfo("shop", 500, 1, false));
  private static final Request.Write WRITE =
      new Request.Write(
          "shop",
          Key.of("k"),
          CrdtType.LWW_REGISTER,
          new Operation.Assign(Value.of(1)),
          VersionVector.EMPTY,
          0);
  private static final Duration PATIENCE = Patience.LIMIT;

  private static ClientServer server(Function<Request, Reply> answers) {
    return server(new SlowLog(0), answers);
  }

  private static ClientServer server(SlowLog slow, Function<Request, Reply> answers) {
    return server(
        MemoryPlan.ofThisProcess(),
        slow,
        (request, reply) -> {
          if (reply instanceof Phased phased) {
            phased.taken(System.nanoTime());
            phased.executed(System.nanoTime());
          }
          reply.accept(answers.apply(request));
        });
  }

  private static ClientServer server(
      MemoryPlan memory, SlowLog slow, BiConsumer<Request, Consumer<Reply>> handler) {
    AccessControl open =
        new AccessControl(
            () -> Users.OPEN,
            "osier",
            new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]),
            new AuditLog("eu"));
    return TestPorts.of(open, UserLimits.NONE, memory, slow, SHOP, handler);
  }

  @Test
  void slowRequests_areNamed_withKeyAndPhases_butOnlySoManyASecond() throws IOException {
    int requests = 5 * SlowLog.LINES_MAX;
    try (LoggedLines lines = new LoggedLines("io.osier.slow");
        ClientServer server = server(new SlowLog(1), request -> new Reply.Done(new Dot(EU, 1)));
        RawClient client = new RawClient(server.port()).greet()) {
      for (int i = 1; i <= requests; i++) {
        client.send(RawClient.frame(i, WRITE));
        client.reply();
      }
      await().until(() -> lines.all().size() >= SlowLog.LINES_MAX);
      assertThat(lines.all().getFirst())
          .matches(
              "slow write of 'k' in 'shop' took \\d+ ms: it waited for .+ \\(queue [\\d.]+ ms,"
                  + " execute [\\d.]+ ms, durable [\\d.]+ ms\\); client /127.0.0.1:\\d+");
      await() // what is answered is counted then
          .untilAsserted(
              () ->
                  assertThat(requireNonNull(server.figures().requests().get("write")).total())
                      .isEqualTo(requests));
    }
  }

  @Test
  void slowLog_saysHowManyItLeftOut() {
    SlowLog slow = new SlowLog(1);
    try (LoggedLines lines = new LoggedLines("io.osier.slow")) {
      for (int i = 0; i < SlowLog.LINES_MAX + 7; i++) {
        slow.answered(
            WRITE, new SlowLog.Phases(0, 1_000_000, 3_000_000, 7_000_000 + i, List.of()), "c");
      }
      assertThat(lines.all()).hasSize(SlowLog.LINES_MAX);
      slow.answered(WRITE, new SlowLog.Phases(0, 0, 0, 2_000_000_000, List.of()), "c");
      assertThat(lines.all().getFirst())
          .isEqualTo(
              "slow write of 'k' in 'shop' took 7 ms: it waited for the disk, to write and sync the"
                  + " log, or for its long answer to be built (queue 1.0 ms, execute 2.0 ms,"
                  + " durable 4.0 ms); client c");
      assertThat(lines.all().getLast())
          .isEqualTo(
              "slow write of 'k' in 'shop' took 2000 ms: it needed no partition, so the time is not"
                  + " divided; client c (and 7 others since the last such line)");
    }
  }

  @Test
  void slowRequest_saysWhatItWaitedForMost() {
    Waited past = new Waited(Waited.For.PAST, "updates of ap", 1_500_000_000);
    Waited read = new Waited(Waited.For.READ, "", 8_000_000);
    assertThat(new SlowLog.Phases(0, 10_000_000, 1_512_000_000, 1_513_000_000, List.of(read, past)))
        .hasToString(
            "it waited for what its session has seen elsewhere: updates of ap (read 8.0 ms, past"
                + " 1500.0 ms, queue 2.0 ms, execute 2.0 ms, durable 1.0 ms)");
  }

  @Test
  void browserAtThisPort_isToldWhereThePageIs() throws IOException {
    try (LoggedLines lines = new LoggedLines(PortGuard.class.getName());
        ClientServer server = server(new SlowLog(0), request -> new Reply.Pong());
        Socket browser = new Socket("127.0.0.1", server.port())) {
      server.setPage("http://127.0.0.1:7402/");
      browser.setSoTimeout(60_000);
      browser.getOutputStream().write("GET / HTTP/1.1\r\nHost: eu\r\n\r\n".getBytes(UTF_8));
      String answer = new String(browser.getInputStream().readAllBytes(), UTF_8);
      assertThat(answer)
          .startsWith("HTTP/1.1 400 ")
          .endsWith(
              "this looks like HTTP, and the port is for clients of Osier; the page is at"
                  + " http://127.0.0.1:7402/\n");
      await().until(() -> !lines.all().isEmpty());
      assertThat(lines.all().getFirst()).contains("the page is at http://127.0.0.1:7402/");
    }
  }

  @Test
  @SuppressWarnings("NullAway") // what cannot be encoded
  void answerThatCannotBeEncoded_failsItsCallAlone() throws IOException {
    Dot none = null;
    try (LoggedLines lines = new LoggedLines(ClientAnswers.class.getName()).quietly();
        ClientServer server =
            server(
                request ->
                    request instanceof Request.Write
                        ? new Reply.Done(none)
                        : new Reply.Report(request instanceof Request.Ping ? "pong" : null));
        RawClient client = new RawClient(server.port()).greet()) {
      client.send(RawClient.frame(1, WRITE));
      Envelope<Reply> done = client.reply();
      assertThat(done.id()).isEqualTo(1);
      assertThat(done.message())
          .as("it may have been done")
          .is(Failed.with(ErrorCode.TIMEOUT, "cannot be encoded"));
      client.send(RawClient.frame(2, new ProgressRequest.Through("shop", 0)));
      assertThat(client.reply().message()).is(Failed.with(ErrorCode.INTERNAL));
      client.send(RawClient.frame(3, new Request.Ping()));
      assertThat(client.reply().message()).isEqualTo(new Reply.Report("pong"));
      await().until(() -> lines.all().size() == 2);
      assertThat(lines.all()).allMatch(line -> line.endsWith("cannot be sent"));
    }
  }

  @Test
  void clientThatGoesWithoutItsAnswers_isLoggedOnce() throws IOException {
    AtomicInteger answered = new AtomicInteger();
    Reply large = new Reply.Report("x".repeat(200_000));
    try (LoggedLines lines = new LoggedLines("io.osier.datacenter.frontend");
        ClientServer server =
            server(
                request -> {
                  answered.incrementAndGet();
                  return large;
                })) {
      try (RawClient client = new RawClient(server.port()).greet()) {
        for (int id = 1; id <= 200; id++) {
          client.send(RawClient.frame(id, WRITE));
        }
        // More than the network takes.
        Awaitility.await().until(() -> answered.get() > 20);
      }
      Awaitility.await().until(() -> !lines.all().isEmpty());
      try (RawClient next = new RawClient(server.port())) { // the loops have gone on
        next.greet();
      }
      assertThat(lines.all()).hasSize(1).allMatch(line -> !line.contains("null"));
    }
  }

  @Test
  void datacenterThatIsLostWithRequestsUnsent_isLoggedOnce() throws Exception {
    byte[] large = new byte[100_000];
    try (LoggedLines lines = new LoggedLines("io.osier.proxy");
        ServerSocket eu = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        OsierClient client =
            OsierClient.builder()
                .endpoint("eu", "127.0.0.1:" + eu.getLocalPort())
                .timeout(Duration.ofSeconds(2))
                .build()) {
      List<CompletableFuture<Void>> writes = new ArrayList<>();
      try (Socket socket = eu.accept()) {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.readNBytes(in.readInt());
        byte[] welcome = ProtocolCodec.encode(0, new Reply.Welcome(1, EU, SHOP));
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        out.writeInt(welcome.length);
        out.write(welcome);
        client.awaitConnected(PATIENCE);
        RegisterHandle register = client.session().keyspace("shop").register("r");
        for (int i = 0; i < 200; i++) {
          writes.add(register.assignAsync(Value.of(large)));
        }
        in.readInt(); // they are on their way, and the rest is never read
      }
      eu.close();
      Awaitility.await()
          .until(() -> writes.stream().allMatch(CompletableFuture::isCompletedExceptionally));
      List<String> closed = lines.all().stream().filter(l -> l.contains("closed")).toList();
      assertThat(closed).hasSizeLessThanOrEqualTo(1).allMatch(line -> !line.contains("null"));
    }
  }

  @ParameterizedTest
  @CsvSource({"OVERLOADED, OVERLOADED", "TIMEOUT, TIMEOUT", "MALFORMED, UNKNOWN_KEYSPACE"})
  void keyspacesThatAreNotTold_areNoReasonToSayThatThereIsNone(ErrorCode answer, ErrorCode told) {
    try (ClientServer server = server(request -> new Reply.Failure(answer, "not now"));
        OsierClient client = PatientClients.of("eu", server.port()).build()) {
      client.awaitConnected(PATIENCE);
      refused(told, () -> client.session().keyspace("new").counter("c").get());
    }
  }

  /** Small requests that wait for a slow disk, say: however many come, so many are kept. */
  @Test
  void requestsThatAreNotAnswered_takeNoMoreThanTheirBudget() throws IOException {
    MemoryPlan little = new MemoryPlan(8 << 20);
    int requests = 5_000;
    Queue<Consumer<Reply>> waiting = new ConcurrentLinkedQueue<>();
    try (ClientServer server =
            server(little, new SlowLog(0), (request, reply) -> waiting.add(reply));
        RawClient client = new RawClient(server.port()).greet()) {
      // At once, so that many lie in a buffer that has grown beyond what a connection has anyway.
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      for (int id = 1; id <= requests; id++) {
        all.writeBytes(RawClient.frame(id, WRITE));
      }
      client.send(all.toByteArray());
      Envelope<Reply> first = client.reply();
      assertThat(first.message()).is(Failed.with(ErrorCode.OVERLOADED));
      int kept = Math.toIntExact(first.id() - 1);
      assertThat(kept).isBetween(1_000, (int) (little.requestBytes() / 512));
      for (int refused = 1; refused < requests - kept; refused++) {
        assertThat(client.reply().id()).isEqualTo(kept + 1 + refused);
      }
      assertThat(waiting).hasSize(kept);
      waiting.forEach(reply -> reply.accept(new Reply.Pong()));
      waiting.clear();
      for (int answered = 0; answered < kept; answered++) {
        assertThat(client.reply().message()).isEqualTo(new Reply.Pong());
      }
      client.send(RawClient.frame(requests + 1, WRITE));
      Awaitility.await().until(() -> waiting.size() == 1);
    }
  }
}
