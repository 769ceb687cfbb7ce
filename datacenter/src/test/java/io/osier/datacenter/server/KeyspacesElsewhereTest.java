package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.Changes;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Scan;
import io.osier.proxy.Session;
import io.osier.proxy.Transaction;
import io.osier.proxy.Watch;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Keyspaces that two of three datacenters hold, used by clients of the third. */
final class KeyspacesElsewhereTest {
  private static final String[] NAMES = {"ap", "eu", "us"};

  @AutoClose private final Opened open = new Opened();

  /** All hold shop, and eu and us hold pair. */
  private TestCluster cluster() {
    TestCluster cluster =
        open.add(
            new TestCluster(
                "shop { sla = 100ms }, pair { sla = 100ms, replicas = [eu, us] }", NAMES));
    // They tell each other by way of _osier how clients reach them.
    await()
        .until(
            () -> welcome(cluster, Request.PROTOCOL_VERSION).elsewhere().addresses().size() == 2);
    return cluster;
  }

  /** All kinds of calls, by a client that knows the third datacenter alone. */
  @Test
  void clientOfTheThird_usesIt_asIfItWereThere() {
    OsierClient client = cluster().clientOf("ap");
    assertThat(client.keyspaces()).containsExactly("pair", "shop");
    Session session = client.session();
    Keyspace pair = session.keyspace("pair");
    Queue<String> changed = new ConcurrentLinkedQueue<>();
    Watch.Watching watching =
        pair.watchPrefix("")
            .listen(
                told ->
                    told.changes().stream()
                        .map(Changes.Change::key)
                        .forEach(k -> changed.add(k.toString())));
    watching.begun().join();
    pair.counter("c").increment(2);
    session.keyspace("shop").counter("c").increment(1);
    pair.set("s").add("x");
    assertThat(pair.counter("c").get()).isEqualTo(2);
    assertThat(session.keyspace("shop").counter("c").get()).isEqualTo(1);
    assertThat(pair.count(Scan.all())).isEqualTo(2);
    await().until(() -> changed.containsAll(List.of("c", "s")));
    watching.close();
    assertThat(client.inspectAsync(Request.Topic.HOT, "pair", 3).join()).contains("\"pair\"");
    assertThat(client.status()).extracting(OsierClient.Status::name).startsWith("ap").hasSize(3);
  }

  @Test
  void whatIsCreatedForOthers_isUsedFromTheThird() {
    TestCluster cluster = cluster();
    OsierClient client = cluster.clientOf("ap");
    Map<String, String> causal = Map.of("replicas", "eu,us", "consistency", "causal");
    client.admin().createKeyspaceAsync("bank", causal).join();
    for (String holder : List.of("eu", "us")) { // each takes updates once it knows of the other
      OsierClient at = cluster.clientOf(holder);
      await()
          .until(
              () ->
                  at.admin().keyspaces().stream()
                      .anyMatch(k -> k.name().equals("bank") && k.isActive()));
    }
    Keyspace bank = client.session().keyspace("bank");
    try (Transaction transaction = bank.begin()) {
      transaction.counter("a").increment(-5);
      transaction.counter("b").increment(5);
      transaction.commit();
    }
    assertThat(bank.counter("b").get()).isEqualTo(5);
    assertThat(client.admin().listKeyspacesAsync().join()).contains("\"bank\"", "\"pair\"");
    client.admin().dropKeyspaceAsync("bank").join();
  }

  /** Counters are incremented through all three meanwhile, and each increment counts once. */
  @Test
  void thirdThatIsAddedToTheHolders_takesPartInTheEnd_andNoCallFails() {
    TestCluster cluster = cluster();
    OsierClient client = cluster.clientOf("ap");
    List<Keyspace> all = new ArrayList<>();
    for (String name : NAMES) {
      all.add(cluster.clientOf(name).session().keyspace("pair"));
    }
    all.getFirst().set("s").add("x");
    client.admin().alterKeyspaceAsync("pair", Map.of("replicas", "ap,eu,us")).join();
    int done = 0;
    boolean holds = false;
    for (long end = System.nanoTime() + Patience.LIMIT.toNanos(); !holds; ) {
      all.forEach(pair -> pair.counter("c").increment(1));
      done += NAMES.length;
      String listed = client.admin().listKeyspacesAsync().join();
      String pair = listed.substring(listed.indexOf("\"pair\""), listed.indexOf("\"shop\""));
      holds = pair.contains("\"ap\",\"state\":\"holds\"");
      assertThat(System.nanoTime()).isLessThan(end);
    }
    cluster.stop("eu");
    cluster.stop("us");
    Keyspace alone = client.session().keyspace("pair");
    assertThat(alone.set("s").contains(Value.of("x"))).isTrue();
    assertThat(alone.counter("c").get()).isEqualTo(done);
  }

  /** The holders go one after the other, and what the session has seen goes with it. */
  @Test
  void holdersThatGo_areReplaced_andNamedOnceAllHaveGone() {
    TestCluster cluster = cluster();
    OsierClient client = cluster.client("ap");
    Session session = client.session();
    Keyspace pair = session.keyspace("pair");
    pair.counter("c").increment(1);
    String first = session.datacenter().orElseThrow();
    String second = first.equals("eu") ? "us" : "eu";
    cluster.stop(first);
    assertThat(pair.counter("c").get()).isEqualTo(1);
    pair.counter("c").increment(1);
    assertThat(session.datacenter()).contains(second);
    session.keyspace("shop").counter("c").increment(1);
    assertThat(session.datacenter()).contains("ap");
    cluster.start(first);
    cluster.awaitReady();
    cluster.stop(second);
    assertThat(pair.counter("c").get()).isEqualTo(2);
    cluster.stop(first);
    OsierClient hasty =
        open.add(
            PatientClients.of("ap", cluster.clientPort("ap"))
                .timeout(Duration.ofMillis(300))
                .build());
    hasty.awaitConnected(Patience.LIMIT);
    Keyspace gone = hasty.session().keyspace("pair");
    await() // on a slow machine there may be no answer in its time
        .untilAsserted(
            () ->
                refused(ErrorCode.UNAVAILABLE, () -> gone.counter("c").get())
                    .hasMessageContaining(
                        "keyspace 'pair' is held by eu, us, of which none can be reached"));
  }

  @Test
  void formerClient_takesThemForOnesThatAreHere() throws IOException {
    TestCluster cluster = cluster();
    Reply.Welcome former = welcome(cluster, 9);
    assertThat(former.elsewhere().isEmpty()).isTrue();
    assertThat(former.keyspaces())
        .extracting(Reply.KeyspaceInfo::name)
        .containsExactly("shop", "pair");
    Reply.Welcome welcome = welcome(cluster, Request.PROTOCOL_VERSION);
    assertThat(welcome.keyspaces()).extracting(Reply.KeyspaceInfo::name).containsExactly("shop");
    assertThat(welcome.elsewhere().holders("pair")).containsExactly("eu", "us");
    assertThat(welcome.elsewhere().addresses())
        .containsEntry("us", "127.0.0.1:" + cluster.clientPort("us"));
  }

  /** Its datacenter asks a holder, whose dot it is told. */
  @Test
  void formerClient_usesThem_whereItIs() throws IOException {
    TestCluster cluster = cluster();
    Key key = Key.of("k");
    Request write =
        new Request.Write(
            "pair",
            key,
            CrdtType.PN_COUNTER,
            new Operation.Increment(2),
            VersionVector.EMPTY,
            Patience.MILLIS);
    Request read =
        new Request.Read(
            "pair", key, Optional.empty(), new Query.Whole(), VersionVector.EMPTY, true, 0);
    Request step =
        new Request.Transact(
            "pair",
            new TransactionId(1, 2),
            2,
            Optional.empty(),
            List.of(),
            List.of(),
            Request.End.ABORT);
    List<Reply> replies = replies(cluster, 9, write, read, step);
    assertThat(((Reply.Done) replies.get(1)).dot().replica().dc()).isIn("eu", "us");
    assertThat(((Reply.Answer) replies.get(2)).reading()).contains(new Reading.Count(2));
    Reply.Failure refused = (Reply.Failure) replies.get(3);
    assertThat(refused.code()).as("nobody has it open").isEqualTo(ErrorCode.TRANSACTION_ENDED);
  }

  private static Reply.Welcome welcome(TestCluster cluster, int version) throws IOException {
    return (Reply.Welcome) replies(cluster, version).getFirst();
  }

  /** What a client of a version is answered, to its greeting first. */
  private static List<Reply> replies(TestCluster cluster, int version, Request... requests)
      throws IOException {
    List<Reply> replies = new ArrayList<>();
    try (Socket socket = new Socket("127.0.0.1", cluster.clientPort("ap"))) {
      socket.setSoTimeout(Patience.MILLIS);
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      DataInputStream in = new DataInputStream(socket.getInputStream());
      List<Request> all = new ArrayList<>(List.of(new Greeting.Hello(version, "former")));
      all.addAll(List.of(requests));
      for (Request request : all) {
        byte[] content = ProtocolCodec.encode(0, request);
        out.writeInt(content.length);
        out.write(content);
        byte[] answer = in.readNBytes(in.readInt());
        replies.add(ProtocolCodec.decodeReply(answer).message());
      }
    }
    return replies;
  }
}
