package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Scan;
import io.osier.proxy.Transaction;
import io.osier.testing.Patience;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** Clients of a datacenter that does not hold their keyspace, while two others do. */
final class ForwardedCommandsTest extends ForwardedFixture {
  private ThreeRedis startAll() {
    return start(
        """
        keyspaces.shop { sla = 300ms, replicas = [eu, us], partitions = 4 }
        keyspaces.bank { sla = 300ms, replicas = [eu, us], consistency = causal }
        redis.databases { 0 = shop, 1 = bank }
        """);
  }

  @Test
  void commandsAreDoneByAHolder_inTheirOrder() throws Exception {
    ThreeRedis all = startAll();
    RawRedis redis = open.add(all.connect("ap"));
    List<String> pipeline = new ArrayList<>();
    for (int i = 1; i <= 300; i++) {
      pipeline.add("INCR n");
      pipeline.add("GET n");
      pipeline.add("SET k" + i % 7 + " " + i);
      pipeline.add("GET k" + i % 7);
    }
    redis.commands(pipeline.toArray(String[]::new));
    for (int i = 1; i <= 300; i++) {
      assertThat(List.of(redis.read(), redis.read(), redis.read(), redis.read()))
          .isEqualTo(List.of(":" + i, "" + i, "+OK", "" + i));
    }
    // It counts what its holder has, and another one may be the nearest by now.
    await().untilAsserted(() -> assertThat(redis.ask("DBSIZE")).isEqualTo(":8"));
    assertThat(redis.ask("MSET {a}1 x {a}2 y")).isEqualTo("+OK");
    assertThat(redis.ask("MGET {a}1 {a}2")).isEqualTo("[x, y]");
  }

  /** Reads a key, and keeps that until it is told to forget it; until it has this value. */
  private static void awaitKept(RawRedis redis, String key, String value) throws IOException {
    while (true) {
      redis.commands("GET " + key);
      String kept = redis.read();
      while (kept.startsWith(">")) {
        kept = redis.read();
      }
      if (kept.equals(value)) {
        return;
      }
      boolean keeps = !kept.startsWith("-");
      while (keeps) {
        String told = redis.read();
        keeps = !told.equals(">[invalidate, [" + key + "]]") && !told.equals(">[invalidate, _]");
      }
    }
  }

  @Test
  void caches_hearOfWhatOthersAndTheyThemselvesChange_alsoWhenTheHolderEnds() throws Exception {
    ThreeRedis all = startAll();
    RawRedis eu = open.add(all.connect("eu"));
    RawRedis us = open.add(all.connect("us"));
    RawRedis keeps = open.add(all.connect("ap"));
    keeps.ask("HELLO 3");
    assertThat(keeps.ask("CLIENT TRACKING ON")).isEqualTo("+OK");
    RawRedis hears = open.add(all.connect("ap"));
    hears.ask("HELLO 3");
    assertThat(hears.ask("CLIENT TRACKING ON BCAST PREFIX b")).isEqualTo("+OK");

    eu.ask("SET a 1");
    awaitKept(keeps, "a", "1");
    us.ask("SET a 2");
    awaitKept(keeps, "a", "2");
    RawRedis writes = open.add(all.connect("ap"));
    assertThat(writes.ask("SET a 3")).isEqualTo("+OK");
    assertThat(keeps.ask("PING"))
        .as("before that, with all others if another holder is asked by now")
        .isIn(">[invalidate, [a]]", ">[invalidate, _]");

    for (String key : List.of("b1", "b2")) {
      hears.dropPushed();
      us.ask("SET " + key + " x");
      hears.awaitForgotten(key);
    }

    RawRedis last = open.add(all.connect("ap"));
    last.ask("HELLO 3");
    last.ask("CLIENT TRACKING ON");
    awaitKept(last, "c", "_");
    us.ask("SET c 1");
    awaitKept(last, "c", "1");
    for (String goes : List.of("eu", "us")) { // one of them is asked
      try (RawRedis waits = all.connect("ap")) {
        assertThat(waits.ask("WAIT 1 0")).as("none is lost of what was shown").isEqualTo(":1");
      }
      all.kill(goes);
      try (RawRedis other = all.connect(goes.equals("eu") ? "us" : "eu")) {
        other.ask("SET c " + goes);
        awaitKept(last, "c", goes);
        hears.dropPushed();
        other.ask("SET b" + goes + " x");
        hears.awaitForgotten("b" + goes);
      }
      all.start(goes);
      await().atMost(Patience.LIMIT).until(all.dc(goes)::isReady);
    }
  }

  @Test
  void sessionOfAHolder_goesOnHere_behindAllThatItHadSeen() throws Exception {
    ThreeRedis all = startAll();
    RawRedis redis = open.add(all.connect("ap"));
    for (String holder : List.of("eu", "us", "eu", "us")) { // one of them is asked
      try (RawRedis there = all.connect(holder)) {
        String seen = redis.ask("OSIER.TOKEN");
        assertThat(there.ask("OSIER.AFTER " + seen + " 60000")).isEqualTo("+OK");
        String counted = there.ask("INCR n").substring(1);
        there.ask("INCR other");
        String token = there.ask("OSIER.TOKEN");
        assertThat(redis.ask("OSIER.AFTER " + token + " 60000")).isEqualTo("+OK");
        assertThat(redis.ask("GET n")).isEqualTo(counted);
      }
    }
    assertThat(redis.ask("GET n")).isEqualTo("4");
  }

  /** The holder that has done it is not counted, as this one would not be if it held it. */
  @Test
  void waitCountsTheOtherHolders_thatHaveWhatWasShownHere() throws Exception {
    ThreeRedis all = startAll();
    RawRedis redis = open.add(all.connect("ap"));
    assertThat(redis.ask("WAIT 1 60000")).as("of nothing").isEqualTo(":1");
    assertThat(redis.askAll("INCR n", "INCR m", "WAIT 1 60000").getLast()).isEqualTo(":1");
    await() // on a slow machine nothing may be known in its time
        .untilAsserted(
            () -> assertThat(redis.ask("WAIT 2 10")).as("there are two holders").isEqualTo(":1"));
    assertThat(redis.ask("WAITAOF 1 1 60000")).isEqualTo("[:1, :1]");
    all.kill("us");
    await().atMost(Patience.LIMIT).until(() -> isCounted(all));
    try (RawRedis other = all.connect("ap")) {
      assertThat(other.ask("INCR n")).isEqualTo(":2");
      assertThat(other.ask("WAIT 1 100")).as("nobody else has it").isEqualTo(":0");
      all.kill("eu");
      all.start("us"); // which has nothing of that, so what others have does not count
      await().atMost(Patience.LIMIT).until(() -> all.dc("us").isReady());
      assertThat(waited(other)).isNotEqualTo(":1");
      all.start("eu");
    }
    all.awaitForwarding("ap");
    await().atMost(Patience.LIMIT).until(() -> waits(all));
  }

  /** Else the answer would be 0 until this datacenter starts anew. */
  @Test
  void wait_countsAgain_onceWhatAHolderHadShownIsLostWithItsMemory() throws Exception {
    ThreeRedis all =
        open.add(
            new ThreeRedis(
                Path.of(""), // in memory
                """
                keyspaces.shop { sla = 300ms, replicas = [eu, us] }
                redis.databases { 0 = shop }
                """));
    all.awaitForwarding("ap");
    all.kill("us");
    all.awaitForwarding("ap");
    RawRedis redis = open.add(all.connect("ap"));
    assertThat(redis.ask("INCR n")).isEqualTo(":1");
    all.kill("eu");
    all.start("us");
    all.start("eu");
    await()
        .atMost(Patience.LIMIT)
        .until(
            () -> {
              try (RawRedis other = all.connect("ap")) {
                return other.askAll("SET m 1", "WAIT 1 1000").getLast().equals(":1");
              } catch (EOFException e) {
                return false; // what was shown is out of reach yet
              }
            });
  }

  /** An answer, or that the connection has ended. */
  private static String waited(RawRedis redis) throws IOException {
    try {
      return redis.ask("WAIT 1 100");
    } catch (EOFException e) {
      return "";
    }
  }

  private static boolean waits(ThreeRedis all) throws IOException {
    try (RawRedis redis = all.connect("ap")) {
      return redis.ask("GET n").equals("2") && redis.ask("WAIT 1 60000").equals(":1");
    }
  }

  /** Whether it is known that a holder is away, and the other one is asked. */
  private static boolean isCounted(ThreeRedis all) throws IOException {
    try (RawRedis redis = all.connect("ap")) {
      return redis.ask("GET n").equals("1");
    }
  }

  /** A transaction lives at one holder, and ends with the connection to it. */
  @Test
  void transactions_liveAtOneHolder() throws Exception {
    ThreeRedis all = startAll();
    RawRedis redis = open.add(all.connect("ap"));
    assertThat(redis.ask("SELECT 1")).isEqualTo("+OK");
    assertThat(redis.ask("OSIER.BEGIN 600")).isEqualTo("+OK");
    assertThat(redis.ask("OSIER.UPDATE counter incr a 2")).isEqualTo("+OK");
    redis.ask("OSIER.UPDATE counter incr b 3");
    assertThat(redis.ask("OSIER.COMMIT")).isEqualTo("+OK");
    assertThat(redis.ask("GET a")).isEqualTo("2");
    OsierClient client = open.add(PatientClients.inProcess(all.dc("ap").inProcess()));
    var bank = client.session().keyspace("bank");
    try (Transaction moves = bank.begin()) {
      assertThat(moves.counter("b").get()).isEqualTo(3);
      moves.counter("a").increment(-1);
      moves.counter("b").increment(1);
      moves.commit();
    }
    assertThat(bank.counter("a").get()).isEqualTo(1);
    assertThat(redis.ask("OSIER.BEGIN 600")).isEqualTo("+OK");
    redis.ask("OSIER.UPDATE counter incr a 5");
    List<String> holders = List.of("eu", "us");
    holders.forEach(all::kill);
    try {
      assertThat(redis.ask("OSIER.COMMIT")).startsWith("-");
    } catch (EOFException e) {
      // It was on its way when the loss of the link was heard of: that is an unknown outcome.
    }
    holders.forEach(all::start);
    all.awaitForwarding("ap");
    assertThat(bank.counter("a").get()).as("nothing of it was done").isEqualTo(1);
  }

  @Test
  void programsInItsProcess_areServed_too() {
    ThreeRedis all = startAll();
    OsierClient client = open.add(PatientClients.inProcess(all.dc("ap").inProcess()));
    var shop = client.session().keyspace("shop");
    for (int i = 1; i <= 100; i++) {
      shop.counter("c" + i % 5).increment(1);
      assertThat(shop.counter("c" + i % 5).get()).isEqualTo((i + 4) / 5);
    }
    await().untilAsserted(() -> assertThat(shop.scan(Scan.all())).hasSize(5));
    Set<String> changed = ConcurrentHashMap.newKeySet();
    var watching =
        shop.watchPrefix("c")
            .listen(told -> told.changes().forEach(change -> changed.add(change.key().toString())));
    watching.begun().join();
    shop.counter("c7").increment(1);
    await().atMost(Patience.LIMIT).until(() -> changed.contains("c7"));
    watching.close();
  }

  /**
   * Each acknowledged increment counts once, each unknown one at most once: the holder that ends
   * has them on its disk, and brings them back.
   */
  @Test
  void holderThatEndsUnderLoad_losesNothing_andNothingIsDoneTwice() throws Exception {
    ThreeRedis all = startAll();
    whileHoldersEnd(all, (at, number) -> increment(at));
    try (RawRedis eu = all.connect("eu");
        RawRedis us = all.connect("us")) {
      await().atMost(Patience.LIMIT).until(() -> eu.ask("GET n").equals(us.ask("GET n")));
      assertThat(Integer.parseInt(eu.ask("GET n")))
          .as("%s acknowledged, %s unknown", done, unknown)
          .isBetween(done.get(), done.get() + unknown.get());
    }
  }

  /** Increments over one connection until it ends, or an answer says that it lacks something. */
  private void increment(ThreeRedis all) {
    try (RawRedis redis = all.connect("ap")) {
      while (!ends.get()) {
        int answers = 0;
        try {
          redis.commands("INCR n", "INCR n");
          for (; answers < 2; answers++) {
            String answer = redis.read();
            if (answer.startsWith(":")) {
              done.incrementAndGet();
            } else {
              assertThat(answer).as("certain that nothing was done").startsWith("-LOADING");
            }
          }
        } catch (IOException e) { // perhaps while the commands are sent
          unknown.addAndGet(2 - answers);
          return;
        }
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
