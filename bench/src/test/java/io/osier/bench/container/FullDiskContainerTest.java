package io.osier.bench.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.bench.cluster.CounterLoad;
import io.osier.core.ErrorCode;
import io.osier.proxy.CounterHandle;
import io.osier.proxy.OsierClient;
import io.osier.testing.Refused;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.testcontainers.containers.Container.ExecResult;

/** A small disk that fills up under load, and is made room on. */
@NeedsEngine
@Timeout(600)
final class FullDiskContainerTest {
  private static final String FILLER = "/var/lib/osier/filler";

  /** A client of eu that does not take it for dead because it is slow. */
  private static OsierClient patient(Cluster cluster) {
    return OsierClient.builder()
        .endpoint("eu", cluster.get("eu").endpoint())
        .timeout(Cluster.LONG)
        .pingInterval(Cluster.LONG.dividedBy(4))
        .build();
  }

  @Test
  void fullDisk_refusesUpdatesAndReadsOn_andLosesNothingAcknowledged()
      throws IOException, InterruptedException {
    try (Cluster cluster =
        new Cluster(
            List.of("eu", "us"),
            c ->
                c.withTmpFs(Map.of("/var/lib/osier", "rw,size=160m,uid=7400,gid=7400"))
                    .withSettings("store.min-free = 64MiB"))) {
      CounterLoad load = cluster.load(List.of("eu", "us"), 200);
      Cluster.awaitMore(load, 100);
      try (OsierClient eu = patient(cluster)) {
        CounterHandle counter = eu.session().keyspace(Cluster.KEYSPACE).counter("alone");
        counter.increment(1);
        ExecResult filled =
            cluster.get("eu").execInContainer("sh", "-c", "head -c 110M /dev/zero >" + FILLER);
        assertThat(filled.getExitCode()).as(filled.getStderr()).isZero();
        await()
            .atMost(Cluster.LONG)
            .untilAsserted(
                () -> {
                  assertThat(cluster.page("eu", "/readyz").statusCode()).isEqualTo(503);
                  assertThat(cluster.page("eu", "/readyz").body()).contains("disk is full");
                });
        // On a busy machine eu may lose the connection first: then the outcome is unknown.
        await()
            .atMost(Cluster.LONG)
            .untilAsserted(
                () ->
                    assertThatThrownBy(() -> counter.increment(1))
                        .is(Refused.with(ErrorCode.STORE_FULL)));
        assertThat(counter.get()).isEqualTo(1);
        Cluster.awaitMore(load, 100); // us goes on
        cluster.get("eu").execInContainer("rm", FILLER);
        await().atMost(Cluster.LONG).until(() -> cluster.page("eu", "/readyz").statusCode() == 200);
        counter.increment(1);
        assertThat(counter.get()).isEqualTo(2);
      }
      Cluster.awaitMore(load, 100);
      cluster.settle(load);
    }
  }
}
