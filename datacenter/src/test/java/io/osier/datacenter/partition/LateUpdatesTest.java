package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.Timeliness;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.Set;
import org.assertj.core.data.Percentage;
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

  /** A link that holds its frames, and lets them through one by one when it is itself again. */
  @Test
  void builtOnWhatStillComesAfterACut_isLateBecauseOfTheOutage() {
    Cluster held =
        new Cluster(
            KeyspacePolicy.session("k", Duration.ofMillis(SLA_MILLIS)).with(Propagation.OP),
            new StreamSettings(1 << 20, 1 << 16, 2_000, 200, 60_000, 60_000),
            "ap",
            "eu",
            "us");
    held.loss = (link, frame) -> frame instanceof Frame.Fetch; // it would be sooner
    held.run(3_000);
    for (int i = 0; i < 400; i++) {
      held.delaysMillis.put("eu>us", 3_000L - 2L * i); // sent each 5 ms, they come each 3 ms
      held.dc("eu").add("counter " + i, 1);
      held.run(5);
    }
    held.delaysMillis.put("eu>us", 2_200L);
    held.run(1_100); // the first have come
    for (int i = 300; i < 400; i++) {
      held.dc("ap").add("counter " + i, 1);
    }
    held.run(10_000);
    PartitionReport us = held.dc("us").report();
    assertThat(us.arrived().late().outage()).as("eu's, and what waited for them").isEqualTo(500);
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

  private PartitionReport.Peer peer(String at, String dc) {
    return cluster.dc(at).report().peers().stream()
        .filter(p -> p.dc().equals(dc))
        .findFirst()
        .orElseThrow();
  }

  /** Updates at eu, one each 10 ms. */
  private void load(int count) {
    for (int i = 0; i < count; i++) {
      cluster.dc("eu").add("counter " + i % 3, 1);
      cluster.run(10);
      assertThat(peer("eu", "us").to().timeliness().overdue()).as("update %d", i).isZero();
    }
  }

  @Test
  void whatAnUnheardPeerLacks_isOverdue_fromTheMomentThatItIs() {
    load(200);
    assertThat(peer("eu", "ap").to().timeliness().overdue()).as("with the links up").isZero();
    cluster.cut("eu", "ap");
    cluster.cut("us", "ap");
    load(30);
    assertThat(peer("eu", "ap").to().timeliness().overdue()).as("in time still").isZero();
    load(100);
    PartitionReport.To toAp = peer("eu", "ap").to();
    // 130 are missing, and what eu was not told of before; the last 30 of them are not yet late.
    assertThat(toAp.lagUpdates()).isBetween(130L, 160L);
    assertThat(toAp.timeliness().overdue())
        .isBetween(toAp.lagUpdates() - 36, toAp.lagUpdates() - 29);
    assertThat(toAp.lagNanos() / 1_000_000).isBetween(1_290L, 1_600L);
    assertThat(peer("ap", "eu").from().unheardNanos() / 1_000_000).isBetween(1_290L, 1_600L);
    assertThat(peer("us", "eu").from().unheardNanos() / 1_000_000).isLessThan(400L);
    cluster.run(60_000);
    assertThat(peer("eu", "ap").to().timeliness().overdue()).as("all").isEqualTo(toAp.lagUpdates());
    assertThat(peer("eu", "us").to().lagUpdates()).isZero();
    cluster.heal("eu", "ap");
    cluster.heal("us", "ap");
    cluster.run(3_000);
    assertThat(peer("eu", "ap").to().timeliness().overdue()).isZero();
    Timeliness ap = peer("eu", "ap").to().timeliness();
    assertThat(ap.late()).as("late for good").isBetween(125L, 160L);
    assertThat(ap.confirmed()).isEqualTo(330);
    assertThat(peer("eu", "us").to().timeliness()).isEqualTo(new Timeliness(330, 0, 0));
  }

  @Test
  void whatWasNotShipped_isNotCompared() {
    load(200);
    cluster.run(1_000);
    PartitionReport.Shipped before = cluster.dc("eu").report().shipped();
    assertThat(before.opBytes()).as("all left as operations").isEqualTo(before.arrivedBytes());
    cluster.cut("eu", "ap");
    load(200);
    cluster.run(1_000);
    PartitionReport.Shipped during = cluster.dc("eu").report().shipped();
    assertThat(during.opBytes()).isEqualTo(during.arrivedBytes());
    assertThat(during.opBytes() - before.opBytes())
        .as("to us alone")
        .isCloseTo(before.opBytes() / 2, Percentage.withPercentage(10));
    cluster.heal("eu", "ap");
    cluster.run(3_000);
    PartitionReport.Shipped after = cluster.dc("eu").report().shipped();
    assertThat(after.opBytes())
        .isCloseTo(2 * before.opBytes(), Percentage.withPercentage(10))
        .as("what ap had missed was joined")
        .isGreaterThan(after.arrivedBytes());
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
