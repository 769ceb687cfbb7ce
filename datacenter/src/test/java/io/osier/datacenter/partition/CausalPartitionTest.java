package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Causal keyspaces and bounded counters, in scenes set by hand. */
final class CausalPartitionTest {
  private static Cluster three(Propagation propagation, int slaMillis) {
    KeyspacePolicy policy =
        KeyspacePolicy.causal("k", Duration.ofMillis(slaMillis)).with(propagation);
    return new Cluster(policy, "eu", "us", "ap");
  }

  @Test
  void operation_isNotVisibleBeforeTheHeldUpdateItDependsOn() {
    Cluster cluster = three(Propagation.ADAPTIVE, 2_000);
    for (int i = 0; i < 400; i++) {
      cluster.dc("eu").add("hot", 1); // is held before long
      cluster.run(10);
    }
    cluster.run(3_000);
    long before = cluster.dc("us").value("hot");
    cluster.dc("eu").add("hot", 1);
    cluster.dc("eu").add("cold", 1);
    boolean waited = false;
    for (int i = 0; i < 300; i++) {
      cluster.run(10);
      boolean hot = cluster.dc("us").value("hot") > before;
      boolean cold = cluster.dc("us").value("cold") > 0;
      assertThat(hot).as("both or none").isEqualTo(cold);
      waited |= !hot && i > 10;
    }
    assertThat(waited).as("it was held").isTrue();
    assertThat(cluster.dc("us").value("cold")).isEqualTo(1);
    assertThat(cluster.isConverged()).isTrue();
  }

  @Test
  void dependencyOnAnUnreachableOrigin_comesFromAThirdDatacenter() {
    for (Propagation propagation : Propagation.values()) {
      Cluster cluster = three(propagation, 500);
      cluster.cut("eu", "ap");
      cluster.run(1_000);
      for (int i = 1; i <= 20; i++) {
        cluster.dc("eu").add("x", 1);
        cluster.run(700);
        assertThat(cluster.dc("us").value("x")).isEqualTo(i);
        cluster.dc("us").add("y", 1); // depends on all of x
        for (int t = 0; t < 10; t++) {
          cluster.run(30);
          assertThat(cluster.dc("ap").value("y")).isLessThanOrEqualTo(cluster.dc("ap").value("x"));
        }
      }
      cluster.run(4_000);
      assertThat(cluster.dc("ap").value("y")).as("%s, still cut off", propagation).isEqualTo(20);
      assertThat(cluster.dc("ap").value("x")).isEqualTo(20);
      cluster.heal("eu", "ap");
      cluster.converges(4_000);
    }
  }

  @Test
  void datacentersThatWriteAllTheTime_doNotChaseEachOther() {
    Cluster cluster = three(Propagation.OP, 300);
    cluster.cut("eu", "ap");
    // Every update of us depends on one of eu that ap can only get from us, and the reverse.
    for (int i = 0; i < 1_000; i++) {
      cluster.dc("eu").add("x" + i % 5, 1);
      cluster.dc("us").add("y" + i % 5, 1);
      cluster.run(10);
    }
    long x = 0;
    for (int i = 0; i < 5; i++) {
      x += cluster.dc("ap").value("x" + i);
    }
    assertThat(x).as("visible at ap while all go on").isGreaterThan(600);
  }

  // ---------------------------------------------------------------- bounded counters

  private static Reply bounded(Cluster cluster, String dc, Operation operation) {
    return cluster.dc(dc).write("stock", CrdtType.BOUNDED_COUNTER, operation);
  }

  private static @Nullable ErrorCode codeOf(Reply reply) {
    return reply instanceof Reply.Failure f ? f.code() : null;
  }

  @Test
  void rights_areFetchedWhenTheyAreLacking_andNeverExceeded() {
    Cluster cluster = three(Propagation.OP, 200);
    bounded(cluster, "eu", new Operation.Bound(0, 1_000, List.of()));
    bounded(cluster, "eu", new Operation.Increment(90));
    cluster.run(1_000);
    Reply now = bounded(cluster, "us", new Operation.Increment(-60));
    assertThat(codeOf(now)).isEqualTo(ErrorCode.NOT_ENOUGH_RIGHTS);
    assertThat(((Reply.Failure) now).message()).contains("us holds the rights to subtract 0 of 90");
    // It has asked, so trying again is enough.
    cluster.run(1_000);
    assertThat(bounded(cluster, "us", new Operation.Increment(-60))).isInstanceOf(Reply.Done.class);
    long ticket = cluster.later("ap", "stock", new Operation.IncrementWithin(-20, 3_000));
    assertThat(cluster.dc("ap").replies).doesNotContainKey(ticket);
    cluster.run(1_000);
    assertThat(cluster.dc("ap").replies.get(ticket)).isInstanceOf(Reply.Done.class);
    long never = cluster.later("ap", "stock", new Operation.IncrementWithin(-20, 3_000));
    cluster.run(2_900);
    assertThat(cluster.dc("ap").replies).doesNotContainKey(never);
    cluster.run(500);
    assertThat(codeOf(requireNonNull(cluster.dc("ap").replies.get(never))))
        .isEqualTo(ErrorCode.NOT_ENOUGH_RIGHTS);
  }

  @Test
  void rights_areNotWaitedForLongerThanAnythingIs() {
    Cluster cluster = three(Propagation.OP, 200);
    bounded(cluster, "eu", new Operation.Bound(0, 1_000, List.of()));
    cluster.run(1_000);
    Operation forEver = new Operation.IncrementWithin(-20, Integer.MAX_VALUE);
    long ticket = cluster.later("ap", "stock", forEver);
    cluster.run(Request.WAIT_MILLIS_MAX - 1_000);
    assertThat(cluster.dc("ap").replies).doesNotContainKey(ticket);
    cluster.run(2_000);
    assertThat(codeOf(requireNonNull(cluster.dc("ap").replies.get(ticket))))
        .isEqualTo(ErrorCode.NOT_ENOUGH_RIGHTS);
  }

  @Test
  void rights_moveBeforeTheyRunOut() {
    Cluster cluster = three(Propagation.ADAPTIVE, 100);
    bounded(cluster, "eu", new Operation.Bound(-900, 0, List.of()));
    cluster.run(1_000);
    int failed = 0;
    for (int i = 0; i < 750; i++) {
      failed += codeOf(bounded(cluster, "us", new Operation.Increment(-1))) == null ? 0 : 1;
      cluster.run(5);
    }
    assertThat(failed).as("us alone uses most, without waiting").isZero();
  }

  @Test
  void datacenterThatIsCutOff_usesItsOwnRightsOnly() {
    Cluster cluster = three(Propagation.OP, 100);
    bounded(cluster, "eu", new Operation.Bound(-30, 0, List.of()));
    cluster.run(1_000);
    cluster.cut("ap", "eu");
    cluster.cut("ap", "us");
    int done = 0;
    for (int i = 0; i < 30; i++) {
      done += codeOf(bounded(cluster, "ap", new Operation.Increment(-1))) == null ? 1 : 0;
      cluster.run(300);
    }
    assertThat(done).isEqualTo(10);
  }

  @Test
  void datacenterWithoutMemory_doesNotUseItsRightsTwice() {
    Cluster cluster = three(Propagation.OP, 100);
    bounded(cluster, "eu", new Operation.Bound(-30, 0, List.of()));
    cluster.run(1_000);
    assertThat(bounded(cluster, "ap", new Operation.Increment(-8))).isInstanceOf(Reply.Done.class);
    cluster.run(1_000);
    cluster.crash("ap");
    cluster.heal("ap", "us"); // eu might know of more that it had used
    cluster.run(6_000);
    Reply alone = bounded(cluster, "ap", new Operation.Increment(-1));
    assertThat(codeOf(alone)).isEqualTo(ErrorCode.NOT_ENOUGH_RIGHTS);
    assertThat(((Reply.Failure) alone).message()).contains("lost its memory");
    cluster.heal("ap", "eu");
    cluster.run(5_000);
    assertThat(bounded(cluster, "ap", new Operation.Increment(-1))).isInstanceOf(Reply.Done.class);
  }
}
