package io.osier.datacenter.embedded;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.InvalidRequestException;
import io.osier.core.Key;
import io.osier.core.TransientException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.server.RawClient;
import io.osier.datacenter.server.TestCluster;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Call;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import io.osier.proxy.Changes;
import io.osier.proxy.Keyspace;
import io.osier.proxy.KeyspaceStatus;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Scan;
import io.osier.proxy.Session;
import io.osier.proxy.SessionOptions;
import io.osier.proxy.SessionToken;
import io.osier.proxy.Watch;
import io.osier.proxy.WatchPosition;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A keyspace whose keys have homes, which different datacenters of three hold, as clients use it in
 * the processes of all three and by network.
 */
final class HomesOfKeysTest {
  @AutoClose
  private static final EmbeddedCluster cluster = new EmbeddedCluster("shop { sla = 100ms }");

  @AutoClose private final Opened open = new Opened();

  /** Keys of all homes, for one test. */
  private static List<String> keys(String of) {
    return Stream.of("1", "eu:1", "us:1", "cart:{ap}:1", "us:{eu}2", "sa:1")
        .map(key -> key + of)
        .toList();
  }

  private OsierClient client(String dc) {
    OsierClient client = open.add(PatientClients.of(dc, cluster.dc(dc).clientPort()).build());
    client.awaitConnected(Patience.LIMIT);
    return client;
  }

  /** The keyspace itself, and its home us, are held by eu and us, eu by eu, and ap by ap. */
  @BeforeAll
  static void create() {
    OsierClient eu = cluster.dc("eu").client();
    TestCluster.onceSettled(
        () ->
            eu.admin()
                .createKeyspace(
                    "carts",
                    k ->
                        k.homes("eu", "us", "ap")
                            .partitions(2)
                            .replicas("eu", "us")
                            .sla(Duration.ofMillis(100))));
    for (String dc : EmbeddedCluster.NAMES) {
      await()
          .until(
              () ->
                  cluster.dc(dc).client().admin().keyspaces().stream()
                          .filter(k -> k.name().startsWith("carts") && k.isActive())
                          .count()
                      == 4);
    }
    eu.admin().alterKeyspace("carts", k -> k.holdersMin(1));
    alter("carts@ap", "ap", "eu", "us");
    alter("carts@ap", "ap");
    alter("carts@eu", "eu");
    await().until(() -> replicas("carts@ap").equals("ap"));
    await().until(() -> replicas("carts@eu").equals("eu"));
  }

  /** Asks until it may: the holders' last change must have ended, and all must have heard of it. */
  private static void alter(String keyspace, String... replicas) {
    await()
        .ignoreExceptionsMatching(
            e -> e instanceof InvalidRequestException || e instanceof TransientException)
        .until(
            () ->
                cluster
                    .dc("us")
                    .client()
                    .admin()
                    .alterKeyspace(keyspace, k -> k.replicas(replicas))
                    .name()
                    .equals(keyspace));
  }

  private static String replicas(String keyspace) {
    return cluster.dc("us").client().admin().keyspaces().stream()
        .filter(k -> k.name().equals(keyspace))
        .map(KeyspaceStatus::settings)
        .map(settings -> requireNonNull(settings.get("replicas")))
        .findFirst()
        .orElseThrow();
  }

  /** In the process and by network. */
  private List<Session> sessions() {
    List<Session> sessions = new ArrayList<>();
    for (String dc : EmbeddedCluster.NAMES) {
      sessions.add(cluster.dc(dc).session());
      sessions.add(client(dc).session());
    }
    return sessions;
  }

  @Test
  void eachKindOfCall_goesToTheHomesOfItsKeys() {
    List<String> keys = keys("-c");
    List<String> sets = keys("-s");
    for (Session session : sessions()) {
      Keyspace carts = session.keyspace("carts");
      for (String key : keys) {
        carts.counter(key).increment(1);
        assertThat(carts.counter(key).get()).as(key).isPositive();
      }
      carts.updateAll(batch -> sets.forEach(key -> batch.set(key).add("x")));
      assertThat(carts.getAll(sets).values()).allMatch(Keyspace.Found::exists);
      assertThat(carts.program().update(b -> b.counter("eu:p").increment()).run().held()).isTrue();
      refused(
              ErrorCode.INVALID_ARGUMENT,
              () ->
                  carts
                      .program()
                      .update(
                          b -> {
                            b.counter("eu:p").increment();
                            b.counter("us:p").increment();
                          })
                      .run())
          .hasMessageContainingAll("'eu:p' is in 'carts@eu'", "'us:p' in 'carts@us'");
      assertThatThrownBy(() -> carts.rename("eu:p", "p"))
          .hasMessageContainingAll("'eu:p' is in 'carts@eu'", "'p' in 'carts'");
    }
    // What one has done the others see, in the order of the keys, whoever holds them.
    SessionToken token = SessionToken.decode(cluster.dc("eu").session().token().encode());
    for (Session session : sessions()) {
      session.join(token);
      Keyspace carts = session.keyspace("carts");
      await()
          .untilAsserted(
              () -> {
                for (String key : keys) {
                  assertThat(carts.counter(key).get()).as(key).isEqualTo(6);
                }
                List<String> all = scanned(carts);
                assertThat(all).isSorted().containsAll(keys).containsAll(sets);
                assertThat(all).doesNotHaveDuplicates();
                assertThat(carts.count(Scan.all())).isEqualTo(all.size());
                assertThat(scanned(session.keyspace("carts@ap")))
                    .as("one home alone")
                    .isEqualTo(all.stream().filter(key -> key.contains("{ap}")).toList());
              });
    }
  }

  private static List<String> scanned(Keyspace carts) {
    return carts.scan(Scan.all().pageRows(3)).map(row -> row.key().toString()).toList();
  }

  /** The home moves while all write, and each reads its own writes. */
  @Test
  void updatesOfAHomeThatMoves_areAllFound() {
    List<Session> sessions = sessions();
    int[] done = {0};
    List<Keyspace> all = sessions.stream().map(s -> s.keyspace("carts")).toList();
    Runnable round =
        () -> {
          done[0]++;
          for (int i = 0; i < all.size(); i++) {
            all.get(i).counter("eu:all").increment(1);
            all.get(i).counter("eu:" + i).increment(1);
            assertThat(all.get(i).counter("eu:" + i).get()).as("own %d", i).isEqualTo(done[0]);
          }
        };
    for (List<String> to : List.of(List.of("eu", "us"), List.of("us"), List.of("ap", "us"))) {
      alter("carts@eu", to.toArray(String[]::new));
      await()
          .until(
              () -> {
                round.run();
                return replicas("carts@eu").equals(String.join(",", to));
              });
    }
    round.run();
    for (Keyspace carts : all) {
      await()
          .untilAsserted(
              () ->
                  assertThat(carts.counter("eu:all").get()).isEqualTo((long) done[0] * all.size()));
    }
  }

  @Test
  void tokenOfASession_namesTheHomes_andIsWaitedForThere() {
    for (String key : keys("-t")) {
      Session here = client("eu").session();
      here.keyspace("carts").counter(key).increment(1);
      SessionToken ofKeyspace = SessionToken.decode(here.keyspace("carts").token().encode());
      assertThat(ofKeyspace.keyspaces()).hasSize(1).isEqualTo(here.token().keyspaces());
      for (OsierClient there : List.of(client("ap"), cluster.dc("us").client())) {
        Session session = there.session(SessionOptions.DEFAULT.after(ofKeyspace));
        assertThat(session.keyspace("carts").counter(key).get()).as(key).isEqualTo(1);
      }
    }
  }

  @Test
  void changesOfKeys_areToldByTheirHomes() {
    for (String dc : EmbeddedCluster.NAMES) {
      Keyspace carts = client(dc).session().keyspace("carts");
      List<String> keys = keys("-w" + dc);
      Queue<String> told = new ConcurrentLinkedQueue<>();
      for (String key : keys) {
        carts.watch(key).listen(c -> c.changes().forEach(of -> told.add(key))).begun().join();
      }
      Queue<String> all = new ConcurrentLinkedQueue<>();
      Watch.Watching watching =
          carts.changes().withValues().listen(c -> c.changes().forEach(of -> all.add(shown(of))));
      watching.begun().join();
      keys.forEach(key -> carts.counter(key).increment(1));
      List<String> expected = keys.stream().map(key -> key + " true").toList();
      await()
          .untilAsserted(
              () -> {
                assertThat(told).containsAll(keys);
                assertThat(all).containsAll(expected);
              });
      watching.close();
      WatchPosition position = WatchPosition.decode(watching.position().orElseThrow().encode());
      keys.forEach(key -> carts.counter(key).increment(1));
      List<String> ofUs = keys.stream().filter(key -> key.startsWith("us:")).toList();
      Map<Watch, List<String>> later =
          Map.of(
              carts.changes().from(position), keys,
              carts.changes().fromTheBeginning(), keys,
              carts.watchPrefix("us:").fromTheBeginning(), ofUs);
      later.forEach(
          (watch, changed) -> {
            Queue<String> heard = new ConcurrentLinkedQueue<>();
            Watch.Watching again =
                watch.listen(c -> c.changes().forEach(of -> heard.add(of.key().toString())));
            await().untilAsserted(() -> assertThat(heard).containsAll(changed));
            again.close();
          });
      Queue<String> home = new ConcurrentLinkedQueue<>();
      client(dc)
          .session()
          .keyspace("carts@eu")
          .changes()
          .listen(c -> c.changes().forEach(of -> home.add(of.key().toString())))
          .begun()
          .join();
      keys.forEach(key -> carts.counter(key).increment(1));
      await().untilAsserted(() -> assertThat(home).anyMatch(key -> key.startsWith("eu:")));
      assertThat(home).allMatch(key -> key.startsWith("eu:") || key.contains("{eu}"));
    }
  }

  private static String shown(Changes.Change change) {
    return change.key() + " " + change.found().isPresent();
  }

  /** As an outdated or hand-made client may ask, at a holder and at one who forwards. */
  @Test
  void requestForAnotherHome_isRefused_andNothingIsDone() throws Exception {
    Key key = Key.of("us:guarded");
    Operation add = new Operation.Increment(1);
    CrdtType type = CrdtType.PN_COUNTER;
    Query query = new Query.Whole();
    for (String dc : EmbeddedCluster.NAMES) {
      RawClient raw = open.add(new RawClient(cluster.dc(dc).clientPort()).greet());
      for (String name : List.of("carts", "carts@eu", "carts@ap")) {
        Request.Fetch fetch = new Request.Fetch(key, Optional.of(type), query);
        List<Request> all =
            List.of(
                Requests.write(name, key, type, add),
                Requests.read(name, key, type, query),
                new Request.WriteAll(
                    name, List.of(new Request.Update(key, type, add)), VersionVector.EMPTY, 0),
                new Request.ReadAll(name, List.of(fetch), VersionVector.EMPTY, false, 0),
                new Request.Evaluate(
                    name,
                    List.of(new Call.Update(key, type, add, Optional.empty())),
                    List.of(),
                    VersionVector.EMPTY,
                    0),
                new WatchRequest(name, Optional.of(key), false, List.of(), false, 0));
        for (Request request : all) {
          raw.send(RawClient.frame(1, request));
          assertThat(raw.reply().message())
              .as("%s at %s", request, dc)
              .is(
                  Failed.with(
                      ErrorCode.INVALID_ARGUMENT,
                      "'us:guarded': it is not in",
                      "its home is 'carts@us'"));
        }
      }
    }
    assertThat(scanned(client("ap").session().keyspace("carts"))).doesNotContain("us:guarded");
  }

  @Test
  void clientThatKnowsNoHomes_isRefusedByName() throws Exception {
    for (String dc : EmbeddedCluster.NAMES) {
      RawClient old = open.add(new RawClient(cluster.dc(dc).clientPort()));
      old.send(RawClient.frame(0, new Greeting.Hello(Request.HOMES_VERSION - 1, "raw")));
      assertThat(old.reply().message()).isInstanceOf(Reply.Welcome.class);
      for (String name : List.of("carts", "carts@eu")) {
        old.send(RawClient.frame(1, new ProgressRequest.Through(name, 0)));
        assertThat(old.reply().message())
            .isInstanceOfSatisfying(
                Reply.Failure.class,
                f -> assertThat(f.message()).contains("'" + name + "' has homes", "upgrade it"));
      }
      old.send(RawClient.frame(2, new ProgressRequest.Through("shop", 0)));
      assertThat(old.reply().message()).isInstanceOf(Reply.Through.class);
    }
  }

  /** Changes in the homes are not told to who follows the keyspace, so these answers end soon. */
  @Test
  void cachedAnswers_areNotKeptBeyondTheStaleness_butInTheDefaultHome() {
    OsierClient client =
        open.add(
            PatientClients.of("us", cluster.dc("us").clientPort())
                .cache(Duration.ofMillis(1), 1_000)
                .cacheFollowing("carts", "", Duration.ofDays(1))
                .build());
    client.awaitConnected(Patience.LIMIT);
    Keyspace carts = client.session().keyspace("carts");
    Keyspace other = client("us").session().keyspace("carts");
    for (int i = 1; i <= 5; i++) {
      for (String key : keys("-f")) {
        other.set(key).add("x" + i);
        int elements = i;
        await().untilAsserted(() -> assertThat(carts.set(key).size()).as(key).isEqualTo(elements));
        assertThat(carts.set(key).size()).as("not older").isEqualTo(elements);
      }
    }
  }
}
