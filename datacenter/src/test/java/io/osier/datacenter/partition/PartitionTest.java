package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.KeyspacePolicy.StatePayload;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.testing.Failed;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PartitionTest extends PartitionFixture {
  @Test
  void operation_isVisibleEverywhereAfterOneLinkDelay() {
    Cluster cluster = three(Propagation.OP, 2_000);
    cluster.dc("eu").add("x", 3);
    assertThat(cluster.dc("eu").value("x")).isEqualTo(3);
    cluster.run(cluster.delayMillis);
    assertThat(cluster.dc("us").value("x")).isEqualTo(3);
    assertThat(cluster.dc("ap").value("x")).isEqualTo(3);
  }

  @Test
  void state_isHeldAndShippedOnceBeforeItsDeadline() {
    Cluster cluster = three(Propagation.STATE, 2_000);
    for (int i = 0; i < 10; i++) {
      cluster.dc("eu").add("x", i == 0 ? 1 : 0); // the first rounds teach μ
      cluster.run(3_000);
    }
    long before = cluster.dc("eu").report().shipped().states();
    for (int i = 0; i < 500; i++) {
      cluster.dc("eu").add("x", 1);
      cluster.run(1);
    }
    cluster.run(500);
    assertThat(cluster.dc("us").value("x")).as("held").isEqualTo(1);
    cluster.run(1_000);
    assertThat(cluster.dc("us").value("x")).as("2 s after the first").isEqualTo(501);
    assertThat(cluster.dc("eu").report().shipped().states() - before).isEqualTo(1);
    assertThat(cluster.dc("us").report().slaViolations()).isZero();
  }

  /** A hot counter for so long. */
  private static void heat(Cluster cluster, int millis) {
    for (int i = 0; i < millis; i += 2) {
      cluster.dc("eu").add("x", 1);
      cluster.run(2);
    }
  }

  @Test
  void slowSpell_doesNotEndTheHoldingOfHotObjectsForGood() {
    Cluster cluster = three(Propagation.ADAPTIVE, 500);
    heat(cluster, 5_000);
    assertThat(cluster.dc("eu").report().modes().stateObjects()).as("hot").isEqualTo(1);
    cluster.delayMillis = 1_000;
    heat(cluster, 5_000);
    assertThat(cluster.dc("eu").report().modes().stateObjects()).as("no time to hold it").isZero();
    cluster.delayMillis = 10;
    heat(cluster, 10_000);
    assertThat(cluster.dc("eu").report().modes().stateObjects())
        .as("hot, and time again")
        .isEqualTo(1);
    assertThat(cluster.dc("eu").report().shipped().coordinationMicros()).isLessThan(250_000);
    cluster.converges(2_000);
  }

  private static Operation in(String name, CrdtType type, Operation operation) {
    return new Operation.UpdateFields(new FieldId(name, type), operation);
  }

  /** A counter that was removed from a map keeps its base: simulator, seed 1059. */
  @Test
  void fieldOfAnObjectThatIsTooLarge_canBeRemoved_alsoACounter() {
    KeyspacePolicy small =
        policy(Propagation.OP, 500).with(new KeyspacePolicy.Limits(64, 1_000, 1_200));
    Cluster cluster = new Cluster(small, "eu", "us");
    cluster
        .dc("eu")
        .write("m", CrdtType.OR_MAP, in("n", CrdtType.PN_COUNTER, new Operation.Increment(1)));
    cluster.run(1_000);
    cluster.cut("eu", "us");
    Operation large = new Operation.Assign(Value.of("v".repeat(900)));
    cluster.dc("eu").write("m", CrdtType.OR_MAP, in("a", CrdtType.LWW_REGISTER, large));
    cluster.dc("us").write("m", CrdtType.OR_MAP, in("b", CrdtType.LWW_REGISTER, large));
    cluster.heal("eu", "us");
    cluster.converges(5_000);
    assertThat(cluster.dc("us").write("m", CrdtType.OR_MAP, in("c", CrdtType.LWW_REGISTER, large)))
        .is(Failed.with(ErrorCode.VALUE_TOO_LARGE));
    for (String field : List.of("n", "a")) {
      assertThat(
              cluster
                  .dc("us")
                  .write("m", CrdtType.OR_MAP, new Operation.RemoveFields(List.of(field))))
          .isInstanceOf(Reply.Done.class);
    }
    cluster.converges(1_000);
  }

  @Test
  void whatWaitedForALink_isNoViolation_alsoWhenItIsSentAgain() {
    Cluster cluster = new Cluster(policy(Propagation.OP, 500), "eu", "us");
    cluster.dc("us").add("x", 1); // so that the state is larger than what is missing
    cluster.run(1_000);
    cluster.cut("eu", "us");
    cluster.dc("eu").add("x", 1);
    cluster.run(3_000);
    boolean[] lost = {false};
    cluster.loss =
        (link, frame) -> {
          boolean first = !lost[0] && frame instanceof Frame.Updates u && !u.shipments().isEmpty();
          lost[0] |= first;
          return first;
        };
    cluster.heal("eu", "us");
    cluster.run(3_000);
    assertThat(lost[0]).isTrue();
    assertThat(cluster.isConverged()).isTrue();
    assertThat(cluster.dc("us").report().slaViolations()).isZero();
    assertThat(cluster.dc("us").report().arrived().late().outage()).isEqualTo(1);
  }

  @Test
  void machineThatStalls_keepsItsBoundByShippingEarlier() {
    Cluster cluster = new Cluster(policy(Propagation.STATE, 500), "eu", "us");
    // Of 2,300 ms none of the first 250 does anything that is due.
    long cycle = 2_300_000_000L;
    long stall = 250_000_000;
    cluster.tickNanos = due -> due % cycle < stall ? due - due % cycle + stall : due;
    heat(cluster, 40_000);
    long learning = cluster.dc("us").report().slaViolations();
    heat(cluster, 60_000);
    assertThat(cluster.dc("us").report().slaViolations() - learning).as("late").isZero();
    assertThat(learning).as("while it did not know").isLessThan(20);
  }

  @Test
  void absorbedUpdates_areOneCommit_andAsOldAsTheFirstOfThem() {
    Cluster cluster = three(Propagation.STATE, 2_000);
    for (int i = 0; i < 10; i++) {
      cluster.dc("eu").add("x", 1); // the first rounds teach μ
      cluster.run(3_000);
    }
    long committed = cluster.dc("eu").report().content().committed();
    cluster.dc("eu").add("x", 1);
    cluster.run(100);
    cluster.dc("eu").absorb("x", 500, 300, 400); // 300 ms before the other one
    assertThat(cluster.dc("eu").value("x")).isEqualTo(511);
    assertThat(cluster.dc("eu").report().content().committed()).isEqualTo(committed + 2);
    cluster.run(1_000);
    assertThat(cluster.dc("us").value("x")).as("held").isEqualTo(10);
    cluster.run(600);
    assertThat(cluster.dc("us").value("x")).as("2 s after the oldest").isEqualTo(511);
    assertThat(cluster.dc("us").report().slaViolations()).isZero();
    assertThat(cluster.isConverged()).isTrue();
  }

  @Test
  void fullPayload_shipsTheWholeState() {
    Cluster cluster =
        new Cluster(policy(Propagation.STATE, 200).with(StatePayload.FULL), "eu", "us");
    boolean[] full = {false};
    cluster.loss =
        (link, frame) -> {
          if (frame instanceof Frame.Updates u) {
            u.shipments().forEach(s -> full[0] |= s.content().isFull());
          }
          return false;
        };
    cluster.dc("eu").add("x", 1);
    cluster.run(1_000);
    assertThat(full[0]).isTrue();
    assertThat(cluster.isConverged()).isTrue();
  }

  @Test
  void cutLink_isCaughtUpWithWhatWasMissed() {
    Cluster cluster = three(Propagation.OP, 2_000);
    cluster.dc("eu").add("x", 1);
    cluster.run(1_000);
    cluster.cut("eu", "us");
    for (int i = 0; i < 50; i++) {
      cluster.dc("eu").add("x", 1);
      cluster.dc("us").add("y" + i, 1);
    }
    cluster.run(200);
    assertThat(cluster.dc("us").value("x")).isEqualTo(1);
    cluster.heal("eu", "us");
    cluster.run(3_000);
    assertThat(cluster.dc("us").value("x")).isEqualTo(51);
    assertThat(cluster.isConverged()).isTrue();
  }

  @Test
  void cutLink_isBridgedByTheThirdDatacenter() {
    Cluster cluster = three(Propagation.OP, 2_000);
    cluster.cut("eu", "us");
    cluster.run(3_000);
    cluster.dc("eu").add("x", 7);
    cluster.run(3_000);
    assertThat(cluster.dc("us").value("x")).as("through ap").isEqualTo(7);
    assertThat(cluster.dc("us").report().arrived().healed()).isPositive();
  }

  @Test
  void crashedOrigin_whatOneSurvivorHasReachesTheOther() {
    Cluster cluster = three(Propagation.OP, 2_000);
    cluster.cut("eu", "ap");
    cluster.dc("eu").add("x", 5);
    cluster.run(100); // us has it, ap does not
    assertThat(cluster.dc("us").value("x")).isEqualTo(5);
    assertThat(cluster.dc("ap").value("x")).isZero();
    cluster.crash("eu");
    cluster.run(5_000);
    assertThat(cluster.dc("ap").value("x")).isEqualTo(5);
    cluster.reconnect("eu");
    cluster.run(10_000);
    assertThat(cluster.dc("eu").value("x")).isEqualTo(5);
    assertThat(cluster.isConverged()).isTrue();
    cluster.dc("eu").add("x", 1);
    cluster.run(1_000);
    assertThat(cluster.dc("us").value("x")).isEqualTo(6);
  }

  /** Both lives of the receiver count the same epochs, and the frames in them, from the same on. */
  @Test
  void frameThatWaitedForTheDisk_isNotTakenByTheNextIncarnation() {
    Cluster cluster = new Cluster(policy(Propagation.OP, 2_000), "eu", "us");
    cluster.dc("eu").add("x", 1);
    cluster.run(1_000);
    cluster.crash("us");
    cluster.dc("eu").stall();
    cluster.reconnect("us");
    cluster.run(100); // its first frame waits
    cluster.crash("us");
    cluster
        .dc("eu")
        .send("x", CrdtType.PN_COUNTER, new Operation.Increment(1), VersionVector.EMPTY, 0);
    cluster.reconnect("us");
    cluster.run(100);
    cluster.loss =
        (link, frame) -> frame instanceof Frame.Status; // one would make good what is lost
    cluster.dc("eu").goOn();
    cluster.loss = (link, frame) -> false;
    cluster.run(5_000);
    assertThat(cluster.dc("us").value("x")).isEqualTo(2);
  }

  @Test
  void restartedDatacenter_refusesCommandsUntilItHasCaughtUp() {
    Cluster cluster = three(Propagation.OP, 2_000);
    for (int i = 0; i < 1_000; i++) {
      cluster.dc("us").add("k" + i, i);
      cluster.dc("eu").add("e" + i, i);
    }
    cluster.run(2_000);
    cluster.crash("eu");
    cluster.run(10);
    cluster.reconnect("eu");
    assertThat(
            cluster
                .dc("eu")
                .write(
                    "k1",
                    io.osier.crdt.CrdtType.PN_COUNTER,
                    new io.osier.crdt.Operation.Increment(1)))
        .is(Failed.with(ErrorCode.UNAVAILABLE));
    cluster.run(10_000);
    assertThat(cluster.dc("eu").value("k999")).isEqualTo(999);
    assertThat(cluster.dc("eu").value("e999")).as("its own former updates").isEqualTo(999);
    cluster.dc("eu").add("k1", 1);
    cluster.converges(2_000);
  }

  /** Whoever has the removal may still hold updates that it made before that came. */
  @Test
  void removalIsNotForgotten_whileConcurrentUpdatesAreHeldElsewhere() {
    StreamSettings forgetAtOnce = new StreamSettings(1 << 20, 1 << 16, 1_000, 200, 1_000, 0);
    Cluster cluster =
        new Cluster(policy(Propagation.STATE, 20_000), forgetAtOnce, "eu", "us", "ap");
    cluster.dc("eu").add("x", 5);
    cluster.run(30_000);
    assertThat(cluster.dc("ap").value("x")).isEqualTo(5);
    cluster.dc("us").write("x", CrdtType.PN_COUNTER, new Operation.Clear());
    cluster.run(7_000);
    cluster.dc("eu").add("x", 1);
    cluster.converges(60_000);
    assertThat(cluster.dc("ap").value("x")).isEqualTo(1);
  }

  @Test
  void lostFrames_areSeenAndMadeGood() {
    Cluster cluster = three(Propagation.OP, 2_000);
    int[] count = {0};
    cluster.loss =
        (link, frame) ->
            link.equals("eu>us") && frame instanceof Frame.Updates && ++count[0] % 3 == 0;
    for (int i = 0; i < 100; i++) {
      cluster.dc("eu").add("x" + i % 7, 1);
      cluster.run(20);
    }
    cluster.loss = (link, frame) -> false;
    cluster.converges(5_000);
    assertThat(cluster.dc("us").report().arrived().gapsSeen()).isPositive();
  }

  @Test
  void slowPeer_isCaughtUpFromTheTrail_withNothingQueued() {
    Cluster cluster =
        new Cluster(
            policy(Propagation.OP, 2_000),
            new StreamSettings(64 << 10, 4 << 10, 1_000, 200, 1_000, 10_000),
            "eu",
            "us");
    for (int i = 0; i < 20_000; i++) {
      cluster.dc("eu").add("x" + i % 100, 1);
      if (i % 500 == 0) {
        cluster.run(1);
      }
    }
    PartitionReport report = cluster.dc("eu").report();
    assertThat(report.peers().getFirst().to().inFlightBytes()).isLessThan(64 << 11);
    cluster.converges(10_000);
    assertThat(cluster.dc("eu").report().shipped().catchUps()).isPositive();
  }

  @Test
  void manyRemovedObjects_areForgottenSoon_butNotWhileADatacenterHasNotSeenIt() {
    Cluster cluster = three(Propagation.OP, 2_000);
    int objects = 20_000;
    for (int i = 0; i < objects; i++) {
      cluster.dc("eu").add("k" + i, 1);
    }
    cluster.run(3_000);
    cluster.cut("eu", "ap");
    cluster.cut("us", "ap");
    for (int i = 0; i < objects; i++) {
      cluster.dc("eu").write("k" + i, CrdtType.PN_COUNTER, new Operation.Clear());
    }
    cluster.run(60_000);
    assertThat(cluster.dc("eu").report().content().forgottenObjects())
        .as("ap has not seen it")
        .isZero();
    cluster.heal("eu", "ap");
    cluster.heal("us", "ap");
    cluster.run(40_000);
    for (String dc : new String[] {"eu", "us", "ap"}) {
      assertThat(cluster.dc(dc).report().content().objects()).as(dc).isZero();
      assertThat(cluster.dc(dc).report().content().forgottenObjects()).as(dc).isEqualTo(objects);
    }
    cluster.dc("ap").add("k7", 3);
    cluster.run(3_000);
    assertThat(cluster.dc("eu").value("k7")).isEqualTo(3);
    assertThat(cluster.isConverged()).isTrue();
  }
}
