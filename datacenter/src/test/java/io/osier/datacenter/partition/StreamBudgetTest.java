package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Budget;
import io.osier.core.KeyspacePolicy;
import io.osier.propagation.StreamSettings;
import java.time.Duration;
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
    cluster.run(20_000);
    assertThat(cluster.isConverged()).isTrue();
    assertThat(cluster.dc("us").value("x4995")).isEqualTo(2);
  }

  /**
   * What waits for its cut takes more than there is, and the cut that it waits for depends, closed
   * late, on what its sender has still to send: nobody may be held back.
   */
  @Test
  void cutsThatWaitForEachOther_areAdmitted_howeverMuchTheyTake() {
    StreamSettings.Memory memory = new StreamSettings.Memory(1 << 20, 1 << 20, 50_000);
    Cluster cluster =
        new Cluster(
            KeyspacePolicy.causal("k", Duration.ofSeconds(1)),
            settings(HOUR_MILLIS, memory),
            "eu",
            "us",
            "ap");
    cluster.run(1_000);
    cluster.cut("eu", "ap");
    cluster.dc("eu").add("first", 1);
    cluster.run(1_500);
    assertThat(cluster.dc("us").value("first")).isEqualTo(1);
    for (int i = 0; i < 5_000; i++) {
      cluster.dc("us").add("x" + i % 3_000, 1);
      if (i % 100 == 0) {
        cluster.run(20);
      }
    }
    assertThat(usage(cluster.dc("ap"), "waiting").used()).isGreaterThan(50_000);
    cluster.heal("eu", "ap");
    cluster.run(20_000);
    assertThat(cluster.isConverged()).isTrue();
    assertThat(usage(cluster.dc("ap"), "waiting").used()).isZero();
  }
}
