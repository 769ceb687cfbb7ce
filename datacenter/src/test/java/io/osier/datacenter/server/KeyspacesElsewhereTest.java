package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
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
import java.util.List;
import java.util.Map;
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
        .atMost(Patience.LIMIT)
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
    await().atMost(Patience.LIMIT).until(() -> changed.containsAll(List.of("c", "s")));
    watching.close();
    assertThat(client.inspectAsync(Request.Topic.HOT, "pair", 3).join()).contains("\"pair\"");
    assertThat(client.status()).extracting(OsierClient.Status::name).startsWith("ap").hasSize(3);
  }

  @Test
  void whatIsCreatedForOthers_isUsedFromTheThirdAtOnce() {
    OsierClient client = cluster().clientOf("ap");
    Map<String, String> causal = Map.of("replicas", "eu,us", "consistency", "causal");
    client.admin().createKeyspaceAsync("bank", causal).join();
    await() // the answer does not wait for long
        .atMost(Patience.LIMIT)
        .until(
            () ->
                client.admin().keyspaces().stream()
                    .anyMatch(k -> k.name().equals("bank") && k.isActive()));
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
    assertThatThrownBy(() -> gone.counter("c").get())
        .isInstanceOfSatisfying(
            OsierException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
        .hasMessageContaining("keyspace 'pair' is held by eu, us, of which none can be reached");
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

  private static Reply.Welcome welcome(TestCluster cluster, int version) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", cluster.clientPort("ap"))) {
      socket.setSoTimeout(Patience.MILLIS);
      byte[] hello = ProtocolCodec.encode(0, new Request.Hello(version, "former"));
      DataOutputStream out = new DataOutputStream(socket.getOutputStream());
      out.writeInt(hello.length);
      out.write(hello);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      byte[] answer = in.readNBytes(in.readInt());
      return (Reply.Welcome) ProtocolCodec.decodeReply(answer).message();
    }
  }
}
