package io.osier.datacenter.embedded;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Session;
import io.osier.proxy.SessionOptions;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EmbeddedDatacenterTest {
  @AutoClose
  private static final EmbeddedCluster cluster =
      new EmbeddedCluster(
          """
          shop { sla = 400ms, limits { key = 64B, value = 1KiB, object = 8KiB } }
          slow { sla = 60s }
          causal { consistency = causal, sla = 400ms }
          """);

  private static void eventually(Runnable check) {
    Awaitility.await().untilAsserted(check::run);
  }

  @Test
  void token_holdsWhatWasAcknowledgedInFrontOfThePartition() {
    for (int i = 1; i <= 30; i++) {
      Session here = cluster.dc("eu").session();
      here.keyspace("shop").counter("token").increment(1);
      SessionOptions after = SessionOptions.DEFAULT.after(here.token());
      Keyspace there = cluster.dc("us").client().session(after).keyspace("shop");
      if (i % 2 == 0) {
        // An update comes after what the token names, too, and is not acknowledged in front of it.
        there.counter("other").increment(1);
        there = cluster.dc("us").session().keyspace("shop");
      }
      assertThat(there.counter("token").get()).isEqualTo(i);
    }
  }

  @Test
  void manyThreads_loseNothing() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 6; t++) {
      String dc = EmbeddedCluster.NAMES.get(t % 3);
      int number = t;
      Keyspace shop = cluster.keyspace(dc, "shop");
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < 5_000; i++) {
                      shop.counter("c" + i % 7).increment(i % 3 == 0 ? -1 : 2);
                      if (i % 10 == 0) {
                        shop.set("s" + i % 3).add("t" + number + "-" + i % 50);
                      }
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    long each = (5_000 / 3 + 1) * -1 + (5_000 - 5_000 / 3 - 1) * 2;
    for (String dc : EmbeddedCluster.NAMES) {
      Keyspace shop = cluster.keyspace(dc, "shop");
      eventually(
          () -> {
            long sum = 0;
            for (int i = 0; i < 7; i++) {
              sum += shop.counter("c" + i).get();
            }
            assertThat(sum).isEqualTo(6 * each);
            long elements = 0;
            for (int i = 0; i < 3; i++) {
              elements += shop.set("s" + i).size();
            }
            assertThat(elements).isEqualTo(6 * 15);
          });
    }
  }

  @Test
  void orderWithinOneSession_isKept() {
    Keyspace slow = cluster.keyspace("eu", "slow");
    for (int i = 0; i < 50; i++) {
      slow.set("order").add("x");
      slow.set("order").remove("x", "y");
      assertThat(slow.set("order").size()).isZero();
      slow.set("order").add("x", "y");
      assertThat(slow.set("order").size()).isEqualTo(2);
      slow.counter("order-count").increment(5);
      slow.counter("order-count").clear();
      assertThat(slow.counter("order-count").get()).isZero();
      slow.counter("order-count").increment(3);
      assertThat(slow.counter("order-count").get()).isEqualTo(3);
      assertThat(slow.exists("order-count")).isTrue();
    }
  }

  @Test
  void otherSessions_scansAndTheNetwork_seeWhatIsAcknowledged() {
    Keyspace slow = cluster.keyspace("eu", "slow");
    try (OsierClient remote = PatientClients.of("eu", cluster.dc("eu").clientPort()).build()) {
      Keyspace byNetwork = remote.session().keyspace("slow");
      long n = 0;
      for (int i = 1; i <= 20; i++) {
        slow.counter("seen").increment(1);
        n++;
        assertThat(cluster.keyspace("eu", "slow").counter("seen").get()).isEqualTo(n);
        slow.counter("seen").increment(1);
        n++;
        assertThat(byNetwork.counter("seen").get()).isEqualTo(n);
        slow.counter("seen").increment(-1);
        n--;
        Keyspace.Page page =
            slow.scan(Optional.of(Key.of("seen")), Optional.empty(), new Query.Whole(), 1);
        assertThat(((Reading.Count) page.rows().getFirst().value()).value()).isEqualTo(n);
        byNetwork.counter("seen").increment(5);
        n += 5;
        assertThat(slow.counter("seen").get()).isEqualTo(n);
      }
    }
  }

  @Test
  void errors_areThoseOfTheNetwork() {
    try (OsierClient remote = PatientClients.of("eu", cluster.dc("eu").clientPort()).build()) {
      badInput_isRefusedWithItsCode("embedded", cluster.keyspace("eu", "shop"));
      badInput_isRefusedWithItsCode("network", remote.session().keyspace("shop"));
      refused(ErrorCode.UNKNOWN_KEYSPACE, () -> cluster.keyspace("eu", "none").exists("x"));
      refused(ErrorCode.UNKNOWN_KEYSPACE, () -> remote.session().keyspace("none").exists("x"));
    }
  }

  private static void badInput_isRefusedWithItsCode(String how, Keyspace shop) {
    String counter = how + "-counter";
    String set = how + "-set";
    shop.counter(counter).increment(1);
    shop.set(set).add("a");
    refused(ErrorCode.WRONG_TYPE, () -> shop.set(counter).add("x"));
    refused(ErrorCode.WRONG_TYPE, () -> shop.register(counter).get());
    refused(ErrorCode.WRONG_TYPE, () -> shop.counter(set).increment(1));
    refused(ErrorCode.WRONG_TYPE, () -> shop.growOnlySet(how + "-gone").remove("x"));
    assertThatThrownBy(
            () -> shop.update(Key.of(counter), CrdtType.PN_COUNTER, new Operation.Add(values("x"))))
        .isInstanceOf(OsierException.class);
    refused(ErrorCode.KEY_TOO_LARGE, () -> shop.counter("k".repeat(65)).increment(1));
    refused(ErrorCode.VALUE_TOO_LARGE, () -> shop.set(set).add("v".repeat(2_000)));
    refused(ErrorCode.INVALID_ARGUMENT, () -> shop.set(set).add(List.of()));
    refused(ErrorCode.INVALID_ARGUMENT, () -> shop.growOnlyCounter(how).increment(-1));
    refused(
        ErrorCode.INVALID_ARGUMENT,
        () -> shop.scan(Optional.empty(), Optional.empty(), new Query.Whole(), 0));
    shop.counter(counter).increment(Long.MAX_VALUE - 1);
    refused(ErrorCode.OVERFLOW, () -> shop.counter(counter).increment(1));
    refused(
        ErrorCode.VALUE_TOO_LARGE,
        () -> {
          for (int i = 0; i < 1_000; i++) {
            shop.set(set).add(i + "e".repeat(100));
          }
        });
    assertThat(shop.set(set).size()).isBetween(10L, 90L);
    shop.disableWinsFlag(how + "-off").set(true);
    refused(ErrorCode.WRONG_TYPE, () -> shop.flag(how + "-off").get());
    assertThat(shop.growOnlyCounter(how + "-up").incrementAndGet(2)).isEqualTo(2);
    assertThat(shop.counter(counter).get()).isEqualTo(Long.MAX_VALUE);
  }

  private static List<Value> values(String text) {
    return List.of(Value.of(text));
  }

  @Test
  void callbacks_mayCallAgain() {
    Keyspace shop = cluster.keyspace("ap", "shop");
    CompletableFuture<Long> chain =
        shop.register("callback")
            .assignAsync(Value.of("1"))
            .thenCompose(v -> shop.counter("callback-count").incrementAsync(1))
            .thenCompose(v -> shop.counter("callback-count").incrementAsync(1))
            .thenCompose(v -> shop.counter("callback-count").getAsync());
    assertThat(chain.join()).isEqualTo(2);
  }

  @Test
  void close_shipsWhatWasAcknowledged_andRefusesAfterwards() {
    EmbeddedCluster own = new EmbeddedCluster("slow { sla = 60s, propagation = state }");
    Keyspace eu = own.keyspace("eu", "slow");
    for (int i = 0; i < 1_000; i++) {
      eu.counter("k" + i % 10).increment(1);
      eu.set("s").add("e" + i % 10);
    }
    own.dc("eu").close();
    assertThat(own.dc("eu").isReady()).isFalse();
    Keyspace us = own.keyspace("us", "slow");
    eventually(
        () -> {
          for (int i = 0; i < 10; i++) {
            assertThat(us.counter("k" + i).get()).isEqualTo(100);
          }
          assertThat(us.set("s").size()).isEqualTo(10);
        });
    ThrowingCallable after = () -> eu.counter("k1").increment(1);
    assertThatThrownBy(after).isInstanceOf(OsierException.class);
    own.close();
  }

  @Test
  void withAStore_whatIsAcknowledgedIsThereAfterARestart(@TempDir Path dir) {
    String config = EmbeddedCluster.alone("dir = \"" + dir + "\"", "shop {}");
    for (int life = 1; life <= 2; life++) {
      try (EmbeddedDatacenter eu = EmbeddedDatacenter.start(config)) {
        eu.awaitReady(Patience.LIMIT);
        Keyspace shop = eu.session().keyspace("shop");
        for (int i = 0; i < 100; i++) {
          shop.counter("hits").increment(1);
          shop.set("elements").add("e" + i);
        }
        assertThat(shop.counter("hits").get()).isEqualTo(100L * life);
        assertThat(shop.set("elements").size()).isEqualTo(100);
      }
    }
  }

  @Test
  void withAStore_aCallbackThatWaits_doesNotStopTheStore(@TempDir Path dir) throws Exception {
    String config = EmbeddedCluster.alone("dir = \"" + dir + "\"", "shop {}");
    try (EmbeddedDatacenter eu = EmbeddedDatacenter.start(config)) {
      eu.awaitReady(Patience.LIMIT);
      Keyspace shop = eu.session().keyspace("shop");
      CompletableFuture<?> last = CompletableFuture.completedFuture(null);
      for (int i = 0; i < 50; i++) {
        last =
            shop.register("r")
                .assignAsync(Value.of(i))
                .thenRun(() -> shop.counter("written").increment(1));
      }
      last.get(Patience.SECONDS, TimeUnit.SECONDS);
      eventually(() -> assertThat(shop.counter("written").get()).isEqualTo(50));
    }
  }
}
