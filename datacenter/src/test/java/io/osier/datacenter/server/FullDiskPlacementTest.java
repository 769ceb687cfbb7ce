package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.net.Ports;
import io.osier.proxy.Admin;
import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A datacenter whose disk is full is not to hold a keyspace: it would not even hear of that. */
final class FullDiskPlacementTest {
  private static final String SETTINGS = "dir = \"\" }, placement { period = 250ms";

  @TempDir private Path dir;

  @AutoClose private final Opened open = new Opened();

  private final TestCluster cluster =
      open.add(
          new TestCluster(
              "carts { sla = 50ms, replicas = [eu, us], placement = pinned }, all {}",
              SETTINGS,
              new String[] {"ap", "eu", "us"}));

  @Test
  void whoseDiskIsFull_isNoCandidate_andOneWithRoomIs() {
    Admin admin = cluster.clientOf("eu").admin();
    AtomicInteger looks = new AtomicInteger();
    String allowed = "\"holders\":[\"ap\",\"eu\",\"us\"],\"allowed\":";
    await()
        .atMost(Patience.LIMIT)
        .untilAsserted(
            () ->
                assertThat(admin.placementAsync().join())
                    .contains(allowed + "true")
                    .as("ap has told what is asked of it")
                    .contains("\"figures\":\"  ap: "));
    cluster.stop("ap");
    String full =
        cluster
            .config("ap", Ports.free(), cluster.peerPort("ap"))
            .replace("dir = \"\"", "dir = \"" + dir + "\", min-free = 1EiB");
    open.add(TestCluster.one(full));
    await()
        .atMost(Patience.LIMIT)
        .untilAsserted(
            () -> {
              // So there is something in _osier that it does not take.
              String sla = looks.incrementAndGet() % 2 == 0 ? "50ms" : "60ms";
              admin.alterKeyspaceAsync("carts", Map.of("sla", sla)).join();
              assertThat(admin.listKeyspacesAsync().join())
                  .as("it is connected, as a holder of 'all'")
                  .contains("{\"dc\":\"ap\",\"state\":\"holds\"}");
              assertThat(admin.placementAsync().join()).contains(allowed + "false");
            });
  }
}
