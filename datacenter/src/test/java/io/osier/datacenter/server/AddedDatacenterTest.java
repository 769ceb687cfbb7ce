package io.osier.datacenter.server;

import static io.osier.testing.Refused.refused;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.proxy.BoundedCounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A datacenter joins others: it is started, and they are started again and know it then. */
final class AddedDatacenterTest {
  private static final Duration LONG = Patience.LIMIT;

  private static final List<String> KEYSPACES = List.of("shop", "bank");
  private static final int COUNTERS = 30;

  @TempDir private Path dir;

  private static BoundedCounterHandle stock(OsierClient client) {
    return client.session().keyspace("shop").boundedCounter("stock");
  }

  private static void awaitValue(OsierClient client, String dc, long value) {
    await()
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              assertThat(client.nearest()).contains(dc);
              assertThat(stock(client).get()).isEqualTo(value);
            });
  }

  private static void incrementAll(OsierClient client) {
    for (String keyspace : KEYSPACES) {
      Keyspace space = client.session().keyspace(keyspace);
      for (int i = 0; i < 90; i++) {
        space.counter("c" + i % COUNTERS).increment(1);
      }
    }
  }

  private static void awaitAll(OsierClient client, String dc, long value) {
    await()
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              assertThat(client.nearest()).contains(dc);
              for (String keyspace : KEYSPACES) {
                Keyspace space = client.session().keyspace(keyspace);
                for (int i = 0; i < COUNTERS; i++) {
                  assertThat(space.counter("c" + i).get()).isEqualTo(value);
                }
              }
            });
  }

  /** Whoever is alone writes no log of its updates. Who comes gets states, and then the log. */
  @Test
  void datacenterThatWasAlone_givesAllToOneThatIsAdded_andThenWhatThatMisses() {
    try (TestCluster cluster =
        new TestCluster(
            "shop { sla = 200ms }, bank { sla = 200ms, consistency = causal }",
            "dir = \"" + dir + "\"",
            new String[] {"eu"})) {
      try (OsierClient eu = cluster.client("eu")) {
        incrementAll(eu);
      }
      cluster.add("us");
      cluster.stop("eu");
      cluster.start("eu");
      cluster.awaitReady();
      try (OsierClient us = cluster.client("us")) {
        awaitAll(us, "us", 3);
      }
      cluster.stop("us");
      try (OsierClient eu = cluster.client("eu")) {
        incrementAll(eu);
      }
      cluster.stop("eu");
      cluster.start("eu");
      cluster.start("us");
      cluster.awaitReady();
      try (OsierClient us = cluster.client("us");
          OsierClient eu = cluster.client("eu")) {
        awaitAll(us, "us", 6);
        incrementAll(us);
        awaitAll(eu, "eu", 9);
      }
    }
  }

  @Test
  void boundedCounter_givesAnAddedDatacenterOnlyWhatOthersGiveUp() {
    try (TestCluster cluster =
        new TestCluster(
            "shop { sla = 200ms }", "dir = \"" + dir + "\"", new String[] {"eu", "us"})) {
      try (OsierClient eu = cluster.client("eu");
          OsierClient us = cluster.client("us")) {
        stock(eu).create(-20, 20);
        stock(eu).decrement(9);
        awaitValue(us, "us", -9);
        stock(us).decrement(9, LONG); // eu, which ran low, may have some of them
        awaitValue(eu, "eu", -18);
      }
      cluster.add("ap");
      for (String dc : new String[] {"eu", "us"}) {
        cluster.stop(dc);
        cluster.start(dc);
      }
      cluster.awaitReady();
      try (OsierClient ap = cluster.client("ap");
          OsierClient eu = cluster.client("eu")) {
        awaitValue(ap, "ap", -18);
        stock(ap).create(-20, 20);
        assertThat(requireNonNull(stock(ap).rights().shares().get("ap")).down()).isZero();
        stock(ap).decrement(2, LONG); // eu and us give up one each
        refused(ErrorCode.NOT_ENOUGH_RIGHTS, () -> stock(ap).decrement(1));
        awaitValue(eu, "eu", -20);
      }
    }
  }
}
