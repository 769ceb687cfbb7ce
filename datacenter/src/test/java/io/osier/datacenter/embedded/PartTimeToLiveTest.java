package io.osier.datacenter.embedded;

import static io.osier.datacenter.embedded.Ways.LONG;
import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.datacenter.server.TestCluster;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.MapHandle;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Scan;
import io.osier.proxy.SetHandle;
import io.osier.proxy.Transaction;
import io.osier.proxy.TypedSet;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Time to live of elements and fields, by network and in the process. */
@NullUnmarked // what is null is refused
final class PartTimeToLiveTest {
  private static final Duration HOUR = Duration.ofHours(1);

  @AutoClose private static final Ways ways = new Ways();

  private static void isAboutAnHour(SetHandle set, String element) {
    assertThat(set.timeToLive(Value.of(element)).orElseThrow())
        .isBetween(HOUR.minusMinutes(5), HOUR);
  }

  @EachWay
  void elements_expireEachByItself(String how, String name) {
    SetHandle here = ways.here(how, name).set("online");
    SetHandle there = ways.there(how, name).set("online");
    here.add("for ever");
    here.expiring(HOUR).add("ada", "bob");
    isAboutAnHour(here, "ada");
    assertThat(here.timeToLive(Value.of("for ever"))).isEmpty();
    assertThat(here.timeToLive(Value.of("nobody"))).isEmpty();
    here.add("ada");
    isAboutAnHour(here, "ada");
    await().until(() -> there.timeToLive(Value.of("bob")).isPresent());
    there.expireAfter(List.of(Value.of("bob"), Value.of("nobody")), Duration.ZERO);
    assertThat(there.get()).containsExactly(Value.of("ada"), Value.of("for ever"));
    assertThat(there.size()).isEqualTo(2);
    assertThat(there.contains(Value.of("bob"))).isFalse();
    assertThat(there.among(List.of(Value.of("ada"), Value.of("bob"))))
        .containsExactly(Value.of("ada"));
    await().until(() -> here.size() == 2);
    assertThat(there.addNew("ada", "bob")).as("it is new").containsExactly(Value.of("bob"));
    assertThat(there.timeToLive(Value.of("bob"))).isEmpty();
    await().until(() -> here.size() == 3);
    here.expireAt(List.of(Value.of("ada")), Instant.now().plus(Duration.ofDays(400)));
    assertThat(here.timeToLive(Value.of("ada")).orElseThrow()).isGreaterThan(HOUR.multipliedBy(9));
    here.persist(List.of(Value.of("ada"), Value.of("nobody")));
    assertThat(here.timeToLive(Value.of("ada"))).isEmpty();
    assertThat(here.removePresent("ada", "bob", "for ever")).hasSize(3);
    assertThat(ways.here(how, name).exists("online")).isFalse();
  }

  /** Until the last one goes there is a set; then there is nothing, as if it had been removed. */
  @EachWay
  void whoseElementsHaveAllExpired_doesNotExist(String how, String name) {
    Keyspace here = ways.here(how, name);
    here.set("gone:1").expiring(Duration.ofMillis(300)).add("a", "b");
    here.map("gone:2").expiring(Duration.ofMillis(300)).counter("n").increment();
    assertThat(here.count(Scan.prefix("gone:"))).isLessThanOrEqualTo(2);
    await().until(() -> here.count(Scan.prefix("gone:")) == 0);
    assertThat(here.exists("gone:1")).isFalse();
    assertThat(here.type("gone:2")).isEmpty();
    assertThat(here.scan(Scan.prefix("gone:"))).isEmpty();
    here.register("gone:1").assign("another type");
    await().until(() -> ways.there(how, name).type("gone:1").equals(here.type("gone:1")));
    here.map("gone:2").counter("n").increment();
    assertThat(here.map("gone:2").counter("n").get()).as("it began anew").isEqualTo(1);
    assertThat(here.map("gone:2").timeToLive("n")).isEmpty();
  }

  @EachWay
  void fields_expireByTheirNames(String how, String name) {
    MapHandle map = ways.here(how, name).map("user");
    map.register("name").assign("ada");
    MapHandle briefly = map.expiring(HOUR);
    briefly.counter("visits").increment();
    briefly.update(
        List.of(
            new Operation.FieldUpdate(
                new FieldId("token", CrdtType.LWW_REGISTER), new Operation.Assign(Value.of("x")))));
    assertThat(map.timeToLive("visits")).isPresent();
    assertThat(map.timeToLive("token")).isPresent();
    assertThat(map.timeToLive("name")).isEmpty();
    assertThat(briefly.counter("visits").incrementAndGet(2)).isEqualTo(3);
    assertThat(briefly.register("token").assignIf(Value.of("x"), Value.of("y"))).isTrue();
    map.expireAfter(List.of("visits", "none"), Duration.ZERO);
    assertThat(map.get().keySet()).extracting(FieldId::name).containsExactly("name", "token");
    assertThat(map.counter("visits").get()).isZero();
    map.persist(List.of("token"));
    assertThat(map.timeToLive("token")).isEmpty();
    map.expireAt(List.of("token"), Instant.EPOCH);
    assertThat(map.get(List.of("token", "name")).keySet())
        .extracting(FieldId::name)
        .containsExactly("name");
  }

  @BothWays
  void inATransaction_andInABatch(String how) {
    Keyspace bank = ways.here(how, "bank");
    try (Transaction transaction = bank.begin()) {
      SetHandle set = transaction.set("t");
      set.expiring(HOUR).add("a");
      set.expiring(Duration.ZERO).add("over at once");
      isAboutAnHour(set, "a");
      assertThat(set.get()).containsExactly(Value.of("a"));
      set.add("over at once");
      assertThat(set.size()).as("it is new").isEqualTo(2);
      transaction.commit();
    }
    isAboutAnHour(bank.set("t"), "a");
    assertThat(bank.set("t").size()).isEqualTo(2);
    Keyspace shop = ways.here(how, "shop");
    Operation add = new Operation.Add(Value.of("a"));
    shop.updateAll(List.of(new Keyspace.Change("t", CrdtType.RW_SET, add).partsExpiring(HOUR)));
    isAboutAnHour(shop.removeWinsSet("t"), "a");
  }

  @BothWays
  void setsOfObjects(String how) {
    TypedSet<String> set = ways.here(how, "shop").set("typed", String.class);
    set.expiring(HOUR).add("a", "b");
    assertThat(set.timeToLive("a")).isPresent();
    set.persist(Set.of("a"));
    assertThat(set.timeToLive("a")).isEmpty();
    set.expireAt(Set.of("a"), Instant.now().plus(HOUR));
    assertThat(set.timeToLive("a")).isPresent();
    set.expireAfter(Set.of("a", "b"), Duration.ofNanos(-1));
    assertThat(set.get()).isEmpty();
  }

  /** Deadlines are in the store with what they are of, and their index, too. */
  @ParameterizedTest
  @CsvSource({"shop", "bank"})
  void deadlines_outliveARestart(String name, @TempDir Path dir) {
    // What has been removed is forgotten at once, so that the test need not wait.
    String store = "dir = \"" + dir + "\" }, streams { forget = 0s, status = 50ms";
    try (TestCluster own = new TestCluster(Ways.KEYSPACES, store, new String[] {"eu"});
        OsierClient client = own.client("eu")) {
      client.awaitConnected(LONG);
      SetHandle set = client.session().keyspace(name).set("kept");
      set.add("for ever");
      set.expiring(Duration.ofSeconds(1)).add("soon");
      set.expiring(HOUR).add("late");
      MapHandle map = client.session().keyspace(name).map("gone");
      map.expiring(Duration.ofSeconds(1)).counter("n").increment();
      own.stop("eu");
      own.start("eu");
      own.awaitReady();
      await().ignoreExceptions().until(() -> set.size() == 2);
      isAboutAnHour(set, "late");
      assertThat(set.timeToLive(Value.of("for ever"))).isEmpty();
      // What is over is not only hidden: nothing but the set is left in the end.
      await().until(() -> holdsOneObject(client, name));
      assertThat(set.get()).containsExactly(Value.of("for ever"), Value.of("late"));
    }
  }

  private static boolean holdsOneObject(OsierClient client, String keyspace) {
    String stat = client.inspectAsync("eu", Request.Topic.STAT, Optional.empty(), 0).join();
    int at = stat.indexOf("\"" + keyspace + "\":{");
    return stat.startsWith("\"objects\":1,", stat.indexOf("\"objects\":", at));
  }

  @BothWays
  void badInput_isNamed(String how) {
    Keyspace shop = ways.here(how, "shop");
    SetHandle set = shop.set("bad");
    List<Value> one = List.of(Value.of("a"));
    refused(ErrorCode.INVALID_ARGUMENT, () -> set.expiring(Duration.ofDays(4_000_000)));
    refused(ErrorCode.INVALID_ARGUMENT, () -> set.expireAt(one, Instant.MAX));
    refused(ErrorCode.INVALID_ARGUMENT, () -> set.expireAfter(null, HOUR));
    refused(ErrorCode.INVALID_ARGUMENT, () -> set.expireAfter(one, null));
    refused(ErrorCode.INVALID_ARGUMENT, () -> set.expireAfter(List.of(), HOUR));
    refused(ErrorCode.INVALID_ARGUMENT, () -> set.timeToLive(null));
    MapHandle map = shop.map("bad map");
    refused(ErrorCode.INVALID_ARGUMENT, () -> map.persist(List.of("")));
    map.set("tags").add("a");
    refused(ErrorCode.INVALID_ARGUMENT, () -> map.set("tags").expiring(HOUR).add("b"));
    refused(ErrorCode.INVALID_ARGUMENT, () -> map.set("tags").expireAfter(one, HOUR));
    refused(ErrorCode.INVALID_ARGUMENT, () -> map.set("tags").timeToLive(Value.of("a")));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> shop.expiring(HOUR).set("bad").expiring(HOUR).add("both at once"));
    Operation increment = new Operation.Increment(1);
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () ->
            shop.updateAll(
                List.of(
                    new Keyspace.Change("c", CrdtType.PN_COUNTER, increment).partsExpiring(HOUR))));
    assertThat(shop.exists("bad")).isFalse();
    assertThat(map.set("tags").get()).containsExactly(Value.of("a"));
  }
}
