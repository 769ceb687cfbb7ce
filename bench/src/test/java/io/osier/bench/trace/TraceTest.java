package io.osier.bench.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.bench.trace.SpanReceiver.Came;
import io.osier.core.ReplicaId;
import io.osier.core.TraceId;
import io.osier.core.Value;
import io.osier.core.trace.TraceStream;
import io.osier.proxy.ClientTraces;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * What a collector receives of three datacenters: one trace of each update, and why it took long.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class TraceTest {
  private static final String KEYSPACES =
      """
      cold { propagation = op, sla = 20s, partitions = 1 }
      hot { propagation = state, sla = 2s, partitions = 1 }
      bank { consistency = causal, propagation = op, sla = 400ms }
      """;

  private SpanReceiver receiver;
  private TracedCluster cluster;

  @BeforeAll
  void start() {
    receiver = new SpanReceiver();
    cluster =
        new TracedCluster(
            KEYSPACES, "sample = 1.0, keys = true, endpoint = \"" + receiver.endpoint() + "\"");
  }

  @AfterAll
  void stop() {
    cluster.close();
    receiver.close();
  }

  /** The root spans of a key's updates, in the order of their numbers. */
  private List<Came> roots(String key) {
    return receiver.spans().stream()
        .filter(s -> s.parent().isEmpty() && key.equals(s.says().get("osier.key")))
        .sorted((a, b) -> Long.compare(number(a), number(b)))
        .toList();
  }

  private static long number(Came span) {
    return Long.parseLong(span.says().get("osier.number"));
  }

  /** Waits until a trace tells that its update is visible at these datacenters. */
  private List<Came> visible(Came root, String... at) {
    return await(root, "visible", Came::dc, at);
  }

  /** Waits until it also tells that it was shipped to them. */
  private List<Came> whole(Came root, String... at) {
    visible(root, at);
    return await(root, "ship", s -> s.says().get("osier.peer"), at);
  }

  private List<Came> await(Came root, String name, Function<Came, String> of, String... expected) {
    Awaitility.await()
        .untilAsserted(
            () ->
                assertThat(
                        receiver.trace(root.trace()).stream()
                            .filter(s -> s.name().equals(name))
                            .map(of))
                    .as(name)
                    .containsExactlyInAnyOrder(expected));
    return receiver.trace(root.trace());
  }

  private static Came only(List<Came> spans, String dc, String name) {
    List<Came> found =
        spans.stream().filter(s -> s.dc().equals(dc) && s.name().equals(name)).toList();
    assertThat(found).as("%s of %s in %s", name, dc, spans).hasSize(1);
    return found.getFirst();
  }

  private Came root(String key, int count) {
    Awaitility.await().until(() -> roots(key).size() == count);
    return roots(key).getFirst();
  }

  /** Every span hangs below the root, which is named as anybody can find it. */
  private static void assertTree(List<Came> spans, Came root) {
    ReplicaId origin =
        new ReplicaId(
            root.says().get("osier.origin"), Long.parseLong(root.says().get("osier.incarnation")));
    int partition = Integer.parseInt(root.says().get("osier.partition"));
    TraceId id =
        new TraceStream(root.says().get("osier.keyspace"), partition, origin).id(number(root));
    assertThat(root.trace()).isEqualTo(id.hex());
    assertThat(root.id()).isEqualTo(id.rootHex());
    assertThat(root.dc()).isEqualTo(origin.dc());
    for (Came span : spans) {
      if (Set.of("receive", "wait").contains(span.name())) {
        assertThat(span.parent()).isEqualTo(only(spans, span.dc(), "visible").id());
      } else if (span != root) {
        assertThat(span.parent()).as("parent of %s", span).isEqualTo(root.id());
      }
      assertThat(span.endNanos()).as("end of %s", span).isGreaterThanOrEqualTo(span.startNanos());
      assertThat(span.says()).containsEntry("osier.number", root.says().get("osier.number"));
    }
    assertThat(spans.stream().map(Came::id)).doesNotHaveDuplicates();
  }

  private static Set<String> names(List<Came> spans) {
    return spans.stream()
        .map(s -> s.dc() + " " + s.name())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Until both peers take what is shipped as it leaves: a stream begins with catching up. */
  private void awaitStreams(OsierClient client, String keyspace, String via) {
    boolean streams = false;
    for (int i = 0; !streams; i++) {
      String key = keyspace + " " + i;
      client.session().keyspace(keyspace).counter(key).increment(1);
      streams =
          whole(root(key, 1), "us", "ap").stream()
              .filter(s -> s.name().equals("visible"))
              .allMatch(s -> via.equals(s.says().get("osier.via")));
    }
  }

  @Test
  void operation_isFollowedFromItsRequestToEachDatacenter() {
    List<ClientTraces.Update> told = new CopyOnWriteArrayList<>();
    try (OsierClient client = cluster.client("eu", told::add)) {
      awaitStreams(client, "cold", "operations");
      told.clear();
      client.session().keyspace("cold").register("op").assign("x");
      client.session().keyspace("cold").register("op").get();
    }
    Came root = root("op", 1);
    // The client has found the trace by itself.
    assertThat(told).hasSize(1);
    assertThat(told.getFirst().trace().hex()).isEqualTo(root.trace());
    assertThat(told.getFirst().trace().rootHex()).isEqualTo(root.id());
    assertThat(told.getFirst().number().number()).isEqualTo(number(root));
    List<Came> spans = whole(root, "us", "ap");
    assertTree(spans, root);
    assertThat(names(spans))
        .containsExactly(
            "ap receive",
            "ap visible",
            "eu durable",
            "eu execute",
            "eu queue",
            "eu ship",
            "eu update",
            "us receive",
            "us visible");
    assertThat(spans.stream().filter(s -> s.name().equals("ship")))
        .allSatisfy(s -> assertThat(s.says()).containsEntry("osier.mode", "op"))
        .extracting(s -> s.says().get("osier.peer"))
        .containsExactlyInAnyOrder("us", "ap");
    assertThat(only(spans, "us", "visible").says())
        .containsEntry("osier.via", "operations")
        .containsEntry("osier.joined", "1")
        .containsEntry("osier.late", "false")
        .containsEntry("osier.sla_ms", "20000")
        .containsEntry("osier.type", "register");
    assertThat(root.says()).containsEntry("osier.request", "write");
  }

  /** The roots of three updates that were shipped as one; a busy machine may need several tries. */
  private List<Came> shippedAsOne(OsierClient client) {
    Session session = client.session();
    List<Came> roots;
    int tries = 0;
    do {
      String key = "state" + tries;
      for (int i = 0; i < 3; i++) {
        session.keyspace("hot").counter(key).increment(1);
        long then = System.nanoTime();
        Awaitility.await()
            .until(() -> System.nanoTime() > then + 30_000_000); // so that their ages differ
      }
      root(key, 3);
      roots = roots(key);
    } while (++tries < 20 && !roots.stream().allMatch(this::isOneOfThree));
    return roots;
  }

  private boolean isOneOfThree(Came root) {
    return whole(root, "us", "ap").stream()
        .anyMatch(s -> s.name().equals("hold") && "3".equals(s.says().get("osier.joined")));
  }

  @Test
  void heldUpdates_areFollowedEachByItself_thoughTheyAreShippedAsOne() {
    List<Came> roots;
    try (OsierClient client = cluster.client("eu")) {
      awaitStreams(client, "hot", "round");
      roots = shippedAsOne(client);
    }
    List<Long> beginnings = new ArrayList<>();
    for (Came root : roots) {
      List<Came> spans = whole(root, "us", "ap");
      assertTree(spans, root);
      assertThat(only(spans, "eu", "hold").says())
          .containsEntry("osier.mode", "state")
          .containsEntry("osier.mode.why", "propagation = state")
          .containsEntry("osier.via", "round")
          .containsEntry("osier.joined", "3");
      for (String dc : List.of("us", "ap")) {
        assertThat(only(spans, dc, "visible").says())
            .containsEntry("osier.via", "round")
            .containsEntry("osier.joined", "3");
      }
      beginnings.add(only(spans, "us", "visible").startNanos());
    }
    // Each begins when its own update was committed, not all when the oldest was.
    assertThat(beginnings).isSorted().doesNotHaveDuplicates();
    assertThat(beginnings.get(2) - beginnings.get(0)).isGreaterThan(30_000_000);
  }

  @Test
  void cutThatIsHeldBack_namesWhoHoldsItBack() {
    try (OsierClient us = cluster.client("us");
        OsierClient eu = cluster.client("eu")) {
      us.session().keyspace("bank").register("before").assign("0");
      whole(root("before", 1), "eu", "ap");
      cluster.cut("us", "ap");
      us.session().keyspace("bank").register("cause").assign("1");
      Awaitility.await()
          .until(
              () ->
                  eu.session()
                      .keyspace("bank")
                      .register("cause")
                      .get()
                      .equals(Optional.of(Value.of("1"))));
      eu.session().keyspace("bank").register("effect").assign("2");
      Came cause = root("cause", 1);
      Came effect = root("effect", 1);
      List<Came> spans = whole(effect, "us", "ap");
      assertTree(spans, effect);
      assertThat(only(spans, "ap", "wait").says())
          .containsEntry("osier.held_back_by", "[us]")
          .containsEntry("osier.waits_for", "its cut: update " + number(cause) + " of us");
      assertThat(names(spans)).doesNotContain("us wait");
      Came late = only(spans, "ap", "visible");
      assertThat(late.says()).containsEntry("osier.late", "true");
      assertThat(late.millis()).isGreaterThan(400);
      // The cause came to ap by way of eu.
      List<Came> healed = visible(cause, "eu", "ap");
      assertThat(only(healed, "ap", "visible").says())
          .containsEntry("osier.via", "healing")
          .containsEntry("osier.peer", "eu");
    } finally {
      cluster.heal("us", "ap");
    }
  }
}
