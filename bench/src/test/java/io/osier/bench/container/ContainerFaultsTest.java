package io.osier.bench.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import io.osier.bench.cluster.CounterLoad;
import io.osier.protocol.Request;
import io.osier.testcontainers.OsierContainer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/**
 * Three datacenters of the image while they are written to, and what befalls containers. After
 * each: every acknowledged update is at every datacenter exactly once, and all have equal digests.
 */
@NeedsEngine
@Timeout(600)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class ContainerFaultsTest {
  private static final int PER_SECOND = 300;
  private static final int SOME = 150;

  private Cluster cluster;

  @BeforeAll
  void start() {
    cluster = new Cluster(List.of("eu", "us", "ap"));
  }

  @AfterAll
  void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @AfterEach
  void endLoads() {
    cluster.endLoads();
  }

  private CounterLoad load() {
    return cluster.load(List.of("eu", "us", "ap"), PER_SECOND);
  }

  /** There are no passwords: whoever tests an application opens nothing to the network. */
  @Test
  @Order(0)
  void portsOnTheHost_areOpenToThisMachineAlone() {
    var ports = cluster.get("eu").getContainerInfo().getNetworkSettings().getPorts().getBindings();
    assertThat(
            ports.values().stream()
                .filter(Objects::nonNull)
                .flatMap(Arrays::stream)
                .map(b -> b.getHostIp()))
        .containsExactly("127.0.0.1", "127.0.0.1");
  }

  @Test
  @Order(1)
  void withoutAFault_theMetricsTellTheSla() {
    CounterLoad load = load();
    // What comes while a link is new counts as after an outage, however long that takes here.
    await()
        .atMost(Cluster.LONG)
        .until(() -> cluster.dcs().stream().allMatch(dc -> visible(dc) > 0));
    Cluster.awaitMore(load, SOME);
    cluster.settle(load);
    await()
        .atMost(Cluster.LONG)
        .until(
            () ->
                cluster.dcs().stream()
                        .mapToDouble(dc -> cluster.metric(dc, "osier_updates_total", ""))
                        .sum()
                    >= load.done());
    for (String dc : cluster.dcs()) {
      // They are published once a second.
      await().atMost(Cluster.LONG).untilAsserted(() -> assertTellsTheSla(dc));
    }
  }

  private double visible(String dc) {
    return cluster.metric(dc, "osier_visibility_seconds_count", "");
  }

  private void assertTellsTheSla(String dc) {
    double late =
        cluster.metric(dc, "osier_late_shipments_total", "")
            - cluster.metric(dc, "osier_late_shipments_total", "reason=\"outage\"");
    assertThat(late)
        .isEqualTo(cluster.inspect(dc, Request.Topic.STAT).get("sla_violations").asDouble());
    System.out.printf("%s: %.0f shipments became visible, %.0f late%n", dc, visible(dc), late);
  }

  @Test
  @Order(2)
  void networkCut_bothSidesGoOn_andAreEqualWhenItIsHealed() {
    CounterLoad load = load();
    Cluster.awaitMore(load, SOME);
    cluster.cut("us");
    await().atMost(Cluster.LONG).until(() -> !cluster.isConnected("eu", "us"));
    Cluster.awaitMore(load, SOME);
    await().atMost(Cluster.LONG).until(() -> !cluster.isConnected("us", "ap"));
    cluster.heal("us");
    Cluster.awaitMore(load, SOME);
    cluster.settle(load);
    await().atMost(Cluster.LONG).until(() -> cluster.isConnected("eu", "us"));
  }

  @Test
  @Order(3)
  void pausedDatacenter_catchesUpWhenItGoesOn() {
    CounterLoad load = load();
    Cluster.awaitMore(load, SOME);
    OsierContainer eu = cluster.get("eu");
    // On a busy machine the kernel may give up to freeze all processes.
    await()
        .atMost(Cluster.LONG)
        .untilAsserted(() -> assertThatCode(eu::pause).doesNotThrowAnyException());
    try {
      await().atMost(Cluster.LONG).until(() -> !cluster.isConnected("us", "eu"));
      Cluster.awaitMore(load, SOME);
    } finally {
      eu.resume();
    }
    Cluster.awaitMore(load, SOME);
    cluster.settle(load);
  }

  /**
   * Each restart reads a configuration that names one more, which hears of all meanwhile: of two
   * that were stopped, and of one that was killed.
   */
  @Test
  @Order(4)
  void rollingRestart_losesNothing_aStopIsGraceful_andADatacenterThatJoinsGetsAll() {
    CounterLoad load = load();
    Cluster.awaitMore(load, SOME);
    cluster.add("sa");
    for (String dc : List.of("eu", "us", "ap")) {
      OsierContainer container = cluster.get(dc).withPeers("sa");
      container.reconfigure();
      if (dc.equals("ap")) {
        container.kill();
        await().atMost(Cluster.LONG).until(() -> !container.isRunning());
        Cluster.awaitMore(load, SOME);
      } else {
        container.stopProcess(Cluster.LONG);
        assertThat(container.getLogs()).as("SIGTERM reaches the datacenter").contains("is closed");
      }
      container.startAgain();
      cluster.awaitReady(dc);
      Cluster.awaitMore(load, SOME);
    }
    cluster.awaitReady("sa");
    Cluster.awaitMore(load, SOME);
    cluster.settle(load); // of sa, too
    assertThat(cluster.inspect("sa", Request.Topic.STAT).get("objects").asLong()).isPositive();
  }
}
