package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.LateCounts;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is late is counted, and with its reason: a link that is down is none of a slow machine. */
final class LateUpdatesTest {
  private static final long SLA_MILLIS = 300;

  private final Cluster cluster =
      new Cluster(
          KeyspacePolicy.session("k", Duration.ofMillis(SLA_MILLIS)).with(Propagation.OP),
          "ap",
          "eu",
          "us");

  private int counters;

  /** Updates at eu, of each of which ap makes another as soon as it has seen it. */
  private void updatesThatBuildOnEachOther(int count) {
    for (int i = 0; i < count; i++) {
      String key = "counter " + ++counters;
      cluster.dc("eu").add(key, 1);
      cluster.run(60);
      cluster.dc("ap").add(key, 1);
      cluster.dc("ap").add(key, 1);
      cluster.run(40);
    }
  }

  @Test
  void builtOnWhatACutLinkHoldsUp_isLateBecauseOfTheOutage() {
    updatesThatBuildOnEachOther(10);
    cluster.run(2_000);
    Set<String> silent = Set.of("eu>us", "us>eu");
    cluster.loss = (link, frame) -> silent.contains(link); // nobody has noticed it yet
    updatesThatBuildOnEachOther(20);
    cluster.run(5_000);
    PartitionReport us = cluster.dc("us").report();
    assertThat(us.arrived().late().outage()).isPositive();
    assertThat(us.slaViolations()).as("with the links up").isZero();
  }

  @Test
  void builtOnWhatACutLinkHoldsUp_isLateBecauseOfTheOutage_alsoWhenTheLinkComesBack() {
    updatesThatBuildOnEachOther(10);
    cluster.run(2_000);
    cluster.cut("eu", "us");
    updatesThatBuildOnEachOther(8);
    cluster.heal("eu", "us"); // before anything came through ap
    updatesThatBuildOnEachOther(20);
    cluster.run(5_000);
    PartitionReport us = cluster.dc("us").report();
    assertThat(us.arrived().late().outage()).isPositive();
    assertThat(us.slaViolations()).as("with the links up").isZero();
  }

  @Test
  void builtOnWhatASlowLinkBrings_isAViolation() {
    cluster.delaysMillis.put("eu>us", SLA_MILLIS + 50);
    updatesThatBuildOnEachOther(20);
    cluster.run(5_000);
    PartitionReport us = cluster.dc("us").report();
    assertThat(us.arrived().late().outage()).isZero();
    assertThat(us.arrived().late().origin()).as("left at once").isZero();
    assertThat(us.slaViolations()).as("over slow links").isGreaterThan(10);
  }

  @Test
  void aLinkThatBecomesSlow_isTheWaysFault() {
    updatesThatBuildOnEachOther(5);
    cluster.delaysMillis.put("ap>us", SLA_MILLIS + 50);
    for (int i = 0; i < 10; i++) {
      cluster.dc("ap").add("own", 1);
    }
    cluster.run(5_000);
    LateCounts late = cluster.dc("us").report().arrived().late();
    assertThat(late).isEqualTo(new LateCounts(0, 10, 0, 0));
  }

  @Test
  void whatLeavesTooLate_isTheOriginsFault() {
    Cluster held =
        new Cluster(
            KeyspacePolicy.session("k", Duration.ofMillis(SLA_MILLIS)).with(Propagation.STATE),
            "ap",
            "eu");
    held.tickNanos = due -> due + SLA_MILLIS * 1_000_000;
    held.dc("eu").add("counter", 1);
    held.run(5_000);
    assertThat(held.dc("ap").report().arrived().late()).isEqualTo(new LateCounts(1, 0, 0, 0));
  }
}
