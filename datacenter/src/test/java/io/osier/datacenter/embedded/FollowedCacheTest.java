package io.osier.datacenter.embedded;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.Watch;
import io.osier.testing.Patience;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Caches that follow the change feed: what they show, and what they ask for. */
final class FollowedCacheTest extends FollowedCacheFixture {
  private static void awaitValue(Keyspace by, String key, long value) {
    await()
        .pollInterval(Duration.ofMillis(1))
        .untilAsserted(() -> assertThat(by.counter(key).get()).isEqualTo(value));
  }

  @BothWays
  void changesOfOthers_areSeen_andNothingElseIsAskedFor(String how) {
    Hits hits = new Hits();
    try (OsierClient client = reader(how, hits);
        OsierClient eu = cluster.client("eu");
        OsierClient us = cluster.client("us")) {
      Keyspace reader = client.session().keyspace("shop");
      Keyspace here =
          how.equals("network") ? eu.session().keyspace("shop") : embedded.keyspace("eu", "shop");
      Keyspace there =
          how.equals("network") ? us.session().keyspace("shop") : embedded.keyspace("us", "shop");
      String key = "f:simple:" + how;
      for (int i = 1; i <= 20; i++) {
        (i % 2 == 0 ? here : there).counter(key).increment();
        awaitValue(reader, key, i);
        awaitHit(hits, () -> reader.counter(key).get());
        assertThat(reader.counter(key).get()).isEqualTo(i);
      }
      reader.counter(key).increment();
      assertThat(reader.counter(key).get()).as("its own").isEqualTo(21);
      here.delete(key);
      awaitValue(reader, key, 0);
      long before = hits.count.get();
      reader.counter("other").get();
      reader.counter("other").get();
      Keyspace bank = client.session().keyspace("bank");
      bank.counter("f:1").get();
      bank.counter("f:1").get();
      assertThat(hits.count).as("neither is followed").hasValue(before);
    }
  }

  /** No change is told when it expires, only seconds later. */
  @Test
  void whatExpires_isNotShownLongerThanByItsDatacenter() {
    Hits hits = new Hits();
    try (OsierClient client = reader("network", hits);
        OsierClient eu = cluster.client("eu")) {
      Keyspace reader = client.session().keyspace("shop");
      Keyspace here = eu.session().keyspace("shop");
      here.counter("f:soon").increment();
      here.counter("f:late").increment();
      here.expireAfter("f:late", Duration.ofHours(1));
      awaitValue(reader, "f:soon", 1);
      here.expireAfter("f:soon", Duration.ofSeconds(3));
      awaitHit(hits, () -> assertThat(reader.counter("f:soon").get()).isIn(0L, 1L));
      await()
          .pollInterval(Duration.ofMillis(1))
          .until(
              () -> {
                reader.counter("f:soon").get();
                return here.counter("f:soon").get() == 0;
              });
      assertThat(reader.counter("f:soon").get()).isZero();
      awaitHit(hits, () -> assertThat(reader.counter("f:late").get()).isEqualTo(1));
      here.expireAfter("f:late", Duration.ZERO.plusMillis(1));
      awaitValue(reader, "f:late", 0);
    }
  }

  @Test
  void whoMayNotWatch_readsAsBefore() {
    try (EmbeddedDatacenter own =
        EmbeddedDatacenter.start(
            """
            osier {
              dc = eu, store.dir = "", shutdown-timeout = 0s, keyspaces { shop {} }
              listen { client-port = 0, peer-port = 0 }
              users { default { rights = ["read shop f:public:", "write shop"] } }
            }
            """)) {
      own.awaitReady(LONG);
      Hits hits = new Hits();
      try (OsierClient client =
          connected(
              following(hits)
                  .cacheFollowing("shop", "f:public:", AT_MOST)
                  .endpoint("eu", "127.0.0.1:" + own.clientPort())
                  .build())) {
        Keyspace shop = client.session().keyspace("shop");
        Keyspace other = client.session().keyspace("shop");
        for (int i = 1; i <= 5; i++) {
          other.counter("f:public:1").increment();
          awaitValue(shop, "f:public:1", i);
        }
        awaitHit(hits, () -> shop.counter("f:public:1").get());
        refused(ErrorCode.FORBIDDEN, () -> shop.counter("f:secret").get());
      }
      try (OsierClient client =
          connected(
              PatientClients.builder()
                  .cache(PLAIN, 100)
                  .cacheFollowing("shop", "f:", AT_MOST)
                  .metrics(hits)
                  .endpoint("eu", "127.0.0.1:" + own.clientPort())
                  .build())) {
        Keyspace shop = client.session().keyspace("shop");
        long before = hits.count.get();
        for (int i = 1; i <= 50; i++) {
          own.session().keyspace("shop").counter("f:public:2").increment();
          assertThat(shop.counter("f:public:2").get()).isEqualTo(i);
        }
        assertThat(hits.count).hasValue(before);
      }
    }
  }

  /** What a watcher was told of its session has seen, whatever the cache holds. */
  @Test
  void readByWhoWasToldOfAChange_showsIt() throws InterruptedException {
    try (OsierClient client =
            cluster.client("eu", PatientClients.builder().cache(Duration.ofHours(1), 100));
        OsierClient us = cluster.client("us")) {
      Keyspace shop = client.session().keyspace("shop");
      assertThat(shop.counter("told").get()).isZero();
      CountDownLatch told = new CountDownLatch(1);
      try (Watch.Watching watching =
          shop.changes()
              .listen(
                  some -> {
                    if (some.changes().stream().anyMatch(c -> c.key().equals(Key.of("told")))) {
                      told.countDown();
                    }
                  })) {
        watching.begun().orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
        us.session().keyspace("shop").counter("told").increment();
        told.await();
        assertThat(shop.counter("told").get()).isEqualTo(1);
      }
    }
  }
}
