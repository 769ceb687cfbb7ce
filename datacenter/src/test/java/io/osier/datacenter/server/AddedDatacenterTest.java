package io.osier.datacenter.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.BoundedCounterHandle;
import io.osier.proxy.OsierClient;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A datacenter joins others: it is started, and they are started again and know it then. */
final class AddedDatacenterTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir private Path dir;

  private static BoundedCounterHandle stock(OsierClient client) {
    return client.session().keyspace("shop").boundedCounter("stock");
  }

  private static void awaitValue(OsierClient client, String dc, long value) {
    await()
        .atMost(LONG)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              assertThat(client.nearest()).contains(dc);
              assertThat(stock(client).get()).isEqualTo(value);
            });
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
        assertThatThrownBy(() -> stock(ap).decrement(1))
            .isInstanceOfSatisfying(
                OsierException.class,
                e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_ENOUGH_RIGHTS));
        awaitValue(eu, "eu", -20);
      }
    }
  }
}
