package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.memory.Budget;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the streams keep in the heap, with tiny budgets: each holds, and nothing is lost by it. */
final class StreamBudgetTest {
  private static final int WINDOW_BYTES = 64 << 10;
  private static final int HOUR_MILLIS = 3_600_000;

  private static StreamSettings settings(int healMillis, StreamSettings.Memory memory) {
    return new StreamSettings(WINDOW_BYTES, 4 << 10, 1_000, 200, healMillis, 10_000).within(memory);
  }

  private static Budget.Usage usage(Cluster.Dc dc, String name) {
    return dc.report().memory().stream()
        .filter(u -> u.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** More objects change than the trail has places for: who was away is caught up by a scan. */
  @Test
  void outageOfAnyLength_takesNoMoreThanTheTrailsBudget() {
    StreamSettings.Memory memory = new StreamSettings.Memory(50_000, 50_000, 1 << 20);
    Cluster cluster =
        new Cluster(
            KeyspacePolicy.session("k", Duration.ofSeconds(1)),
            settings(1_000, memory),
            "eu",
            "us");
    cluster.run(1_000);
    cluster.cut("eu", "us");
    for (int i = 0; i < 5_000; i++) {
      cluster.dc("eu").add("x" + i, 1);
      if (i % 100 == 0) {
        cluster.run(10);
        assertThat(usage(cluster.dc("eu"), "trails").used()).isLessThanOrEqualTo(50_000);
      }
    }
    assertThat(usage(cluster.dc("eu"), "trails").spent()).isGreaterThan(4_000);
    cluster.heal("eu", "us");
    for (int i = 0; i < 1_000; i++) { // and more of it while the scan is under way
      cluster.dc("eu").add("x" + i * 5, 1);
      cluster.run(1);
      assertThat(usage(cluster.dc("eu"), "trails").used()).isLessThanOrEqualTo(50_000);
    }
    cluster.converges(20_000);
    assertThat(cluster.dc("us").value("x4995")).isEqualTo(2);
  }

  private static final int WAITING_BYTES = 50_000;

  /** One frame's updates, which have come when it is seen that there is no room for them. */
  private static final int FRAME_HEAP_BYTES = 150_000;

  private static Cluster causal(int healMillis) {
    StreamSettings.Memory memory = new StreamSettings.Memory(1 << 20, 1 << 20, WAITING_BYTES);
    Cluster cluster =
        new Cluster(
            KeyspacePolicy.causal("k", Duration.ofSeconds(1)),
            settings(healMillis, memory),
            "eu",
            "us",
            "ap");
    cluster.run(1_000);
    return cluster;
  }

  private static long waiting(Cluster cluster, String dc) {
    return usage(cluster.dc(dc), "waiting").used();
  }

  private static void convergesWithNothingWaiting(Cluster cluster) {
    cluster.converges(20_000);
    assertThat(waiting(cluster, "ap")).isZero();
  }

  /**
   * What waits for its cut takes more than there is, for as long as the origin that it depends on
   * is away: no more of it is taken, and all of it comes when the origin is back.
   */
  @Test
  void cutsThatWaitForAnAbsentOrigin_takeNoMoreThanTheirBudget() {
    Cluster cluster = causal(HOUR_MILLIS);
    cluster.cut("eu", "ap");
    cluster.dc("eu").add("first", 1);
    cluster.run(1_500);
    assertThat(cluster.dc("us").value("first")).isEqualTo(1);
    long most = 0;
    for (int i = 0; i < 20_000; i++) {
      cluster.dc("us").add("x" + i % 3_000, 1);
      if (i % 100 == 0) {
        cluster.run(20);
        most = Math.max(most, waiting(cluster, "ap"));
      }
    }
    assertThat(most).isBetween((long) WAITING_BYTES, 2L * WAITING_BYTES + FRAME_HEAP_BYTES);
    assertThat(usage(cluster.dc("ap"), "waiting").spent()).isPositive();
    cluster.heal("eu", "ap");
    convergesWithNothingWaiting(cluster);
  }

  /**
   * Two origins whose cuts depend on each other's, both away for long and then writing on: each of
   * their first cuts alone takes more than there is, and neither can be visible without the other.
   */
  @Test
  void cutsThatDependOnEachOther_areAdmitted_howeverMuchTheyTake() {
    Cluster cluster = causal(HOUR_MILLIS);
    cluster.cut("eu", "ap");
    cluster.cut("us", "ap");
    for (int i = 0; i < 1_000; i++) {
      cluster.dc("eu").add("e" + i, 1);
      cluster.dc("us").add("u" + i, 1);
    }
    cluster.run(2_000);
    cluster.heal("eu", "ap");
    cluster.heal("us", "ap");
    long most = 0;
    for (int i = 0; i < 3_000; i++) {
      cluster.dc("eu").add("e" + i % 500, 1);
      cluster.dc("us").add("u" + i % 500, 1);
      cluster.run(2);
      most = Math.max(most, waiting(cluster, "ap"));
    }
    assertThat(most).isGreaterThan(2L * WAITING_BYTES);
    assertThat(cluster.dc("ap").value("e0")).as("while all go on").isGreaterThan(1);
    convergesWithNothingWaiting(cluster);
  }

  /** The origin that is depended on never comes back: what others have of it is fetched. */
  @Test
  void cutsThatWaitForWhatOnlyOthersHave_areAdmittedByHealing() {
    Cluster cluster = causal(1_000);
    cluster.cut("eu", "ap");
    for (int i = 0; i < 6_000; i++) {
      cluster.dc("eu").add("e" + i % 1_000, 1);
      cluster.dc("us").add("u" + i % 1_000, 1);
      cluster.run(2);
    }
    assertThat(usage(cluster.dc("ap"), "waiting").spent()).isPositive();
    assertThat(cluster.dc("ap").value("e0")).as("while all go on").isGreaterThan(1);
    convergesWithNothingWaiting(cluster);
  }

  /**
   * What a third datacenter gives of an absent one builds on its own updates, whose stream is
   * disturbed: it gives no more until their states were fetched.
   */
  @Test
  void healing_thatBringsWhatIsNotReady_takesNoMoreThanItsBudget() {
    StreamSettings.Memory memory = new StreamSettings.Memory(1 << 20, 4 << 20, WAITING_BYTES);
    Cluster cluster =
        new Cluster(
            KeyspacePolicy.session("k", Duration.ofSeconds(1)),
            settings(1_000, memory),
            "eu",
            "us",
            "ap");
    cluster.dc("eu").add("first", 1);
    cluster.run(2_000);
    cluster.cut("eu", "ap");
    cluster.loss = (link, frame) -> link.equals("us>ap") && frame instanceof Frame.Updates;
    for (String dc : List.of("us", "eu")) {
      for (int i = 0; i < 2_000; i++) {
        cluster.dc(dc).add("x" + i, 1);
      }
      cluster.run(500);
    }
    long most = 0;
    for (int i = 0; i < 3_000; i++) {
      cluster.run(10);
      most = Math.max(most, waiting(cluster, "ap"));
    }
    assertThat(most).isBetween((long) WAITING_BYTES, WAITING_BYTES + (long) FRAME_HEAP_BYTES);
    assertThat(cluster.dc("ap").value("x1999")).as("though nothing is streamed").isEqualTo(2);
    cluster.loss = (link, frame) -> false;
    cluster.heal("eu", "ap");
    convergesWithNothingWaiting(cluster);
  }
}
