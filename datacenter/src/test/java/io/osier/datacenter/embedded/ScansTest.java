package io.osier.datacenter.embedded;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.server.TestCluster;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Change;
import io.osier.proxy.Keyspace.Row;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Scan;
import io.osier.proxy.Session;
import io.osier.proxy.Transaction;
import io.osier.proxy.TransactionOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Many objects in the order of their keys, by network and in the process. */
@NullUnmarked // what is null is refused
final class ScansTest {
  private static final String KEYSPACES =
      "shop { sla = 400ms, partitions = 3 }, bank { sla = 400ms, consistency = causal },"
          + " order { sla = 400ms, partitions = 3 },"
          + " ordered { sla = 400ms, consistency = causal }";
  private static final byte[] PARTS = {0, 'a', 'b', (byte) 0x80, (byte) 0xff};

  @AutoClose private static final Ways ways = new Ways(KEYSPACES);

  private static List<Row> rows(ObjectSpace space, Scan scan) {
    try (Stream<Row> all = space.scan(scan)) {
      return all.toList();
    }
  }

  private static List<String> keys(List<Row> rows) {
    return rows.stream().map(row -> row.key().toString()).toList();
  }

  private static Key randomKey(Random random) {
    byte[] bytes = new byte[1 + random.nextInt(4)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = PARTS[random.nextInt(PARTS.length)];
    }
    return Key.of(bytes);
  }

  private static boolean begins(Key key, Key prefix) {
    byte[] with = prefix.toBytes();
    return key.length() >= with.length
        && java.util.Arrays.equals(java.util.Arrays.copyOf(key.toBytes(), with.length), with);
  }

  /** Every kind of scan, of keys at all borders, against a sorted map. */
  @ParameterizedTest
  @CsvSource({"network, order", "network, ordered", "embedded, order", "embedded, ordered"})
  void scan_isWhatASortedMapShows(String how, String name) {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Keyspace keyspace = ways.here(how, name);
    NavigableMap<Key, CrdtType> model = new TreeMap<>();
    for (int i = 0; i < 400; i++) {
      Key key = randomKey(random);
      CrdtType held = model.get(key);
      if (held == null) {
        CrdtType type = random.nextBoolean() ? CrdtType.PN_COUNTER : CrdtType.LWW_REGISTER;
        keyspace.update(
            key,
            type,
            type == CrdtType.PN_COUNTER
                ? new Operation.Increment(1)
                : new Operation.Assign(Value.of(1)));
        model.put(key, type);
      } else if (random.nextInt(3) == 0) {
        keyspace.update(key, held, new Operation.Clear());
        model.remove(key);
      }
    }
    List<ObjectSpace> spaces = new ArrayList<>(List.of(keyspace));
    Transaction transaction = name.equals("ordered") ? keyspace.begin() : null;
    if (transaction != null) {
      spaces.add(transaction);
    }
    for (int i = 0; i < 60; i++) {
      Scan scan = Scan.all();
      NavigableMap<Key, CrdtType> expected = new TreeMap<>(model);
      Key a = randomKey(random);
      Key b = randomKey(random);
      switch (random.nextInt(4)) {
        case 0 -> {
          scan = Scan.prefix(a);
          expected.keySet().removeIf(key -> !begins(key, a));
        }
        case 1 -> {
          Key from = a.compareTo(b) < 0 ? a : b;
          Key to = a.compareTo(b) < 0 ? b : a;
          scan = Scan.range(from, to);
          expected = new TreeMap<>(model.subMap(from, true, to, false));
        }
        case 2 -> {
          scan = scan.from(a);
          expected = new TreeMap<>(model.tailMap(a, true));
        }
        default -> {}
      }
      if (random.nextInt(3) == 0) {
        scan = scan.ofType(CrdtType.PN_COUNTER);
        expected.values().removeIf(type -> type != CrdtType.PN_COUNTER);
      }
      if (random.nextBoolean()) {
        scan = scan.pageRows(1 + random.nextInt(20));
      }
      List<Key> wanted = new ArrayList<>(expected.keySet());
      if (random.nextInt(4) == 0) {
        int limit = 1 + random.nextInt(30);
        scan = scan.limit(limit);
        wanted = wanted.subList(0, Math.min(limit, wanted.size()));
      }
      boolean bare = random.nextBoolean();
      for (ObjectSpace space : spaces) {
        List<Row> rows = rows(space, bare ? scan.keysOnly() : scan);
        assertThat(rows.stream().map(Row::key)).as("seed %d", seed).isEqualTo(wanted);
        for (Row row : rows) {
          assertThat(row.type()).isEqualTo(expected.get(row.key()));
          assertThat(row.value() instanceof Reading.Flag).isEqualTo(bare);
        }
        assertThat(space.count(scan)).as("seed %d", seed).isEqualTo(wanted.size());
      }
    }
    if (transaction != null) {
      transaction.abort();
    }
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "network, bank", "embedded, shop"})
  void pages_goOnFromTheirNextKey_andHoldFewLargeValues(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    for (int i = 0; i < 9; i++) {
      keyspace.register("large:" + i).assign(Value.of(new byte[1_000_000]));
    }
    Scan scan = Scan.prefix("large:");
    Keyspace.Page page = keyspace.page(scan);
    assertThat(page.rows()).as("4 MiB at most").hasSizeBetween(1, 4);
    List<Row> all = new ArrayList<>(page.rows());
    while (page.next().isPresent()) {
      page = keyspace.page(scan.from(page.next().get()));
      all.addAll(page.rows());
    }
    assertThat(keys(all)).hasSize(9).isSorted();
    assertThat(keyspace.page(scan.keysOnly()).rows()).as("without values").hasSize(9);
    assertThat(keyspace.page(scan.from(Key.of("zzz"))).rows()).as("a place behind it").isEmpty();
    assertThat(keyspace.page(scan.from(Key.of("a"))).rows()).as("a place before it").isNotEmpty();
    assertThat(keyspace.page(scan.from(Key.of("a"))).rows().getFirst().key())
        .isEqualTo(Key.of("large:0"));
  }

  /** A transaction's scan shows its snapshot and its own updates, whatever others do. */
  @BothWays
  void inATransaction_itIsTheSnapshot_andOwnUpdates(String how) {
    Keyspace bank = ways.here(how, "bank");
    for (int i = 0; i < 40; i++) {
      bank.counter("t:" + (10 + i)).increment(i);
    }
    try (Transaction transaction = bank.begin()) {
      List<Row> before = rows(transaction, Scan.prefix("t:").pageRows(7));
      assertThat(before).hasSize(40);
      List<Change> changes = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        changes.add(
            new Change(
                "t:" + (10 + i),
                CrdtType.PN_COUNTER,
                i % 2 == 0 ? new Operation.Clear() : new Operation.Increment(100)));
        changes.add(
            new Change("t:" + (10 + i) + "x", CrdtType.PN_COUNTER, new Operation.Increment(1)));
      }
      bank.updateAll(changes);
      bank.register("t:10").assign("another type");
      assertThat(rows(transaction, Scan.prefix("t:").pageRows(7))).isEqualTo(before);
      assertThat(transaction.count(Scan.prefix("t:"))).isEqualTo(40);
      assertThat(bank.count(Scan.prefix("t:"))).isEqualTo(20 + 40 + 1);
      transaction.counter("t:11").clear();
      transaction.set("t:own").add("a");
      transaction.set("u:own").add("a");
      List<String> now = new ArrayList<>(keys(before));
      now.remove("t:11");
      now.add("t:own");
      assertThat(keys(rows(transaction, Scan.prefix("t:").pageRows(7)))).isEqualTo(now);
      assertThat(keys(rows(transaction, Scan.prefix("t:").ofType(CrdtType.AW_SET))))
          .containsExactly("t:own");
      assertThat(keys(rows(transaction, Scan.prefix("t:").limit(2)))).isEqualTo(now.subList(0, 2));
      assertThat(bank.exists("t:own")).isFalse();
    }
  }

  /** More of a transaction's own than one page has. */
  @BothWays
  void ownUpdates_comeInPages(String how) {
    Keyspace bank = ways.here(how, "bank");
    try (Transaction transaction = bank.begin()) {
      for (int i = 0; i < 1_500; i++) {
        transaction.counter("own:%04d".formatted(i)).increment();
        if (i % 3 == 0) {
          bank.counter("own:%04d-not".formatted(i)).increment();
        }
      }
      List<Row> rows = rows(transaction, Scan.prefix("own:"));
      assertThat(rows).hasSize(1_500);
      assertThat(keys(rows)).isSorted().noneMatch(key -> key.endsWith("not"));
    }
  }

  @Test
  void snapshotThatIsOver_isNamed() {
    Keyspace bank = ways.here("network", "bank");
    for (int i = 0; i < 30; i++) {
      bank.counter("over:" + i).increment();
    }
    Transaction ended = bank.begin();
    Iterator<Row> rows = ended.scan(Scan.prefix("over:").pageRows(14)).iterator();
    rows.next();
    ended.abort();
    refused(ErrorCode.TRANSACTION_ENDED, () -> rows.forEachRemaining(row -> {}));
    refused(ErrorCode.TRANSACTION_ENDED, () -> ended.count(Scan.all()));
    Transaction late = bank.begin(TransactionOptions.DEFAULT.limit(Duration.ofMillis(1)));
    await()
        .untilAsserted(
            () -> refused(ErrorCode.TRANSACTION_ENDED, () -> late.count(Scan.prefix("over:"))));
  }

  /** The snapshot of a clock that is too old is refused, and one that is not shows what was. */
  @Test
  void snapshotOfThePast_isScanned_orTooOld() {
    try (TestCluster own =
            new TestCluster(
                "bank { sla = 200ms, consistency = causal, history = 1h },"
                    + " brief { sla = 200ms, consistency = causal, history = 0s }",
                "dir = \"\" }, streams { forget = 0s, status = 50ms",
                new String[] {"eu"});
        OsierClient client = own.client("eu")) {
      Session session = client.session();
      Keyspace bank = session.keyspace("bank");
      bank.set("p:1").add("a");
      bank.set("p:2").add("a");
      TransactionOptions then = TransactionOptions.DEFAULT.at(bank.clock());
      bank.set("p:1").clear();
      bank.counter("p:3").increment();
      // Cleared, seen by everybody and forgotten: only the past knows of it.
      await()
          .until(
              () ->
                  client
                      .inspectAsync(
                          "eu", io.osier.protocol.Request.Topic.STAT, Optional.of("bank"), 0)
                      .join()
                      .contains("\"removed_objects\":0"));
      try (Transaction past = bank.begin(then)) {
        assertThat(keys(rows(past, Scan.prefix("p:")))).containsExactly("p:1", "p:2");
        assertThat(past.count(Scan.all())).isEqualTo(2);
        assertThat(rows(past, Scan.prefix("p:1")).getFirst().value())
            .isEqualTo(new Reading.Many(List.of(Value.of("a"))));
      }
      assertThat(keys(rows(bank, Scan.all()))).containsExactly("p:2", "p:3");
      Keyspace brief = session.keyspace("brief");
      brief.counter("a").increment();
      TransactionOptions old = TransactionOptions.DEFAULT.at(brief.clock());
      brief.counter("a").increment();
      refused(ErrorCode.SNAPSHOT_TOO_OLD, () -> brief.begin(old));
    }
  }

  /** It goes on behind the last row, at another datacenter; a snapshot cannot. */
  @Test
  void datacenterThatStops_leavesScansToOthers() {
    try (TestCluster own =
            new TestCluster(
                "shop { sla = 100ms, partitions = 2 }, bank { sla = 100ms, consistency = causal }",
                new String[] {"eu", "us"});
        OsierClient client = own.client("eu");
        OsierClient other = own.client("us")) {
      List<Change> changes = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        changes.add(
            new Change("k%03d".formatted(i), CrdtType.PN_COUNTER, new Operation.Increment(1)));
      }
      for (String name : List.of("shop", "bank")) {
        client.session().keyspace(name).updateAll(changes);
        await().until(() -> other.session().keyspace(name).count(Scan.all()) == 200);
      }
      Session session = client.session();
      Iterator<Row> rows = session.keyspace("shop").scan(Scan.all().pageRows(10)).iterator();
      Transaction transaction = session.keyspace("bank").begin();
      Iterator<Row> snapshot = transaction.scan(Scan.all().pageRows(20)).iterator();
      List<Row> seen = new ArrayList<>();
      for (int i = 0; i < 25; i++) {
        seen.add(rows.next());
        snapshot.next();
      }
      assertThat(session.datacenter()).contains("eu");
      own.stop("eu");
      rows.forEachRemaining(seen::add);
      assertThat(session.datacenter()).contains("us");
      assertThat(keys(seen))
          .isEqualTo(changes.stream().map(change -> change.key().toString()).toList());
      own.start("eu"); // so that nobody waits for it until the time is over
      assertThatThrownBy(() -> snapshot.forEachRemaining(row -> {}))
          .isInstanceOfSatisfying(
              OsierException.class,
              e -> assertThat(e.code()).isIn(ErrorCode.UNAVAILABLE, ErrorCode.TRANSACTION_ENDED));
    }
  }

  @Test
  void keyspaceThatIsDropped_endsItsScans() {
    ways.client().admin().createKeyspaceAsync("gone", new TreeMap<>()).join();
    Keyspace gone = ways.here("network", "gone");
    await()
        .ignoreExceptions()
        .until(
            () -> {
              gone.counter("k0").increment();
              return true;
            });
    for (int i = 1; i < 30; i++) {
      gone.counter("k" + i).increment();
    }
    Iterator<Row> rows = gone.scan(Scan.all().pageRows(10)).iterator();
    rows.next();
    ways.client().admin().dropKeyspaceAsync("gone").join();
    await()
        .untilAsserted(
            () ->
                refused(
                    ErrorCode.UNKNOWN_KEYSPACE, () -> gone.scan(Scan.all()).forEach(row -> {})));
    refused(ErrorCode.UNKNOWN_KEYSPACE, () -> rows.forEachRemaining(row -> {}));
  }

  @Test
  void whatIsNoScan_isRefused() {
    Keyspace shop = ways.here("embedded", "shop");
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.prefix((String) null));
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.range(Key.of("b"), Key.of("a")));
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.all().limit(0));
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.all().limit(-1));
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.all().pageRows(0));
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.all().pageRows(10_001));
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.all().ofType(null));
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.all().query(null));
    refused(ErrorCode.INVALID_ARGUMENT, () -> Scan.all().from(null));
    refused(ErrorCode.INVALID_ARGUMENT, () -> shop.scan((Scan) null));
    refused(ErrorCode.INVALID_ARGUMENT, () -> shop.publish(null));
    refused(ErrorCode.INVALID_ARGUMENT, () -> shop.page(null));
    refused(ErrorCode.INVALID_ARGUMENT, () -> shop.count(null));
    assertThat(rows(shop, Scan.prefix("nothing:"))).isEmpty();
    assertThat(rows(shop, Scan.range(Key.of("a"), Key.of("a")))).isEmpty();
    shop.counter("wrong:1").increment();
    refused(
        ErrorCode.WRONG_TYPE,
        () -> rows(shop, Scan.prefix("wrong:").query(new Query.Contains(Value.of(1)))));
  }
}
