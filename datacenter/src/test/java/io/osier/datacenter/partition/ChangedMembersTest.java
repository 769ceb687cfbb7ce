package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.types.BoundedCounter;
import io.osier.datacenter.partition.machine.Input;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A partition while datacenters come and go. */
final class ChangedMembersTest {
  private static final VersionVector OF_AP = VersionVector.of(new ReplicaId("ap", 1), 99);
  private static final ObjectId SEATS = new ObjectId(Key.of("seats"), CrdtType.BOUNDED_COUNTER);

  private final Cluster cluster =
      new Cluster(KeyspacePolicy.session("k", Duration.ofMillis(200)), "ap", "eu", "us");

  private long told;

  private void tell(String dc, List<String> peers, List<String> sharers, boolean joins) {
    cluster.input(cluster.dc(dc), new Input.Peers(++told, peers, sharers, joins, 0));
  }

  private ErrorCode failure(String dc, long ticket) {
    Reply reply = requireNonNull(cluster.dc(dc).replies.get(ticket));
    return ((Reply.Failure) reply).code();
  }

  private BoundedCounter seats(String dc) {
    return (BoundedCounter) requireNonNull(cluster.dc(dc).store.get(SEATS)).store();
  }

  private Reply seats(String dc, Operation operation) {
    return cluster.dc(dc).write("seats", CrdtType.BOUNDED_COUNTER, operation);
  }

  private static Operation bounds(long upper) {
    return new Operation.Bound(0, upper, List.of("nobody"));
  }

  private static void inherits(Cluster cluster) {
    cluster.input(cluster.dc("eu"), new Input.Inherit("ap", List.of()));
    walks(cluster);
  }

  private static void walks(Cluster cluster) {
    cluster.input(cluster.dc("eu"), new Input.Inherit("ap", List.of(SEATS)));
  }

  /** Seed 205 of the simulator: nor before it is told anything. */
  @Test
  void whatOneHasWhomTheConfigurationDoesNotName_isNotSaidToBeLost_untilItIsTold() {
    VersionVector ofAnother = VersionVector.of(new ReplicaId("za", 1), 5);
    long ticket = cluster.dc("us").ask("x", ofAnother, 300);
    cluster.run(400);
    assertThat(failure("us", ticket)).isEqualTo(ErrorCode.SESSION_BEHIND);
    tell("us", List.of("ap", "eu"), List.of("ap", "eu", "us"), false);
    ticket = cluster.dc("us").ask("x", ofAnother, 300);
    cluster.run(400);
    assertThat(failure("us", ticket)).isEqualTo(ErrorCode.SESSION_LOST);
  }

  /** Seed 21 of the simulator, with another fault: it has not read yet who there is. */
  @Test
  void whatOneHasWhomAJoinerDoesNotKnow_isNotSaidToBeLost() {
    tell("us", List.of("eu"), List.of("eu", "us"), true);
    cluster.run(2_000);
    long ticket = cluster.dc("us").ask("x", OF_AP, 300);
    cluster.run(400);
    assertThat(failure("us", ticket)).isEqualTo(ErrorCode.SESSION_BEHIND);
    tell("us", List.of("eu"), List.of("eu", "us"), false);
    cluster.run(2_000);
    ticket = cluster.dc("us").ask("x", OF_AP, 300);
    cluster.run(400);
    assertThat(failure("us", ticket)).isEqualTo(ErrorCode.SESSION_LOST);
  }

  /** It may be there already, with rights of one that has gone, which others have taken over. */
  @Test
  void whoHasLostItsMemory_createsNoCounters_beforeItHasHeardAll() {
    tell("us", List.of("ap", "eu"), List.of("eu", "us"), false);
    assertThat(seats("us", bounds(5))).isInstanceOf(Reply.Done.class);
    cluster.crash("us");
    tell("us", List.of("ap", "eu"), List.of("eu", "us"), false);
    cluster.run(5_000); // nobody is connected, and it does not wait for ever before it serves
    Operation create = new Operation.Bound(0, 9, List.of());
    Reply reply = cluster.dc("us").write("other", CrdtType.BOUNDED_COUNTER, create);
    assertThat(((Reply.Failure) reply).code()).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(((Reply.Failure) reply).message()).contains("heard from all others");
    cluster.reconnect("us");
    cluster.run(5_000);
    assertThat(cluster.dc("us").write("other", CrdtType.BOUNDED_COUNTER, create))
        .isInstanceOf(Reply.Done.class);
  }

  @Test
  void rightsOfOneThatWasGivenUp_areTakenOver_alsoOfWiderBounds_untilItIsBack() {
    assertThat(seats("ap", bounds(30))).isInstanceOf(Reply.Done.class);
    cluster.run(2_000);
    inherits(cluster);
    cluster.run(1_000);
    assertThat(seats("eu").upRights("ap")).as("it is there").isEqualTo(10);
    tell("eu", List.of("us"), List.of("eu", "us"), false);
    inherits(cluster);
    cluster.run(1_000);
    assertThat(seats("us").upRights("ap")).isZero();
    assertThat(seats("us").upRights("eu")).isEqualTo(20);
    seats("us", bounds(60));
    cluster.run(1_000);
    assertThat(seats("us").upRights("ap")).isZero();
    assertThat(seats("us").upRights("eu")).isEqualTo(40);
    tell("eu", List.of("ap", "us"), List.of("ap", "eu", "us"), false);
    seats("us", bounds(90));
    cluster.run(1_000);
    assertThat(seats("us").upRights("ap")).isEqualTo(10);
  }

  /** A walk that began before may go on; whoever is the next heir takes the same. */
  @Test
  void whoLeaves_takesNobodysRightsOver_untilItStays() {
    assertThat(seats("ap", bounds(30))).isInstanceOf(Reply.Done.class);
    cluster.run(2_000);
    tell("eu", List.of("us"), List.of("eu", "us"), false);
    cluster.input(cluster.dc("eu"), new Input.Retire());
    inherits(cluster);
    cluster.run(1_000);
    assertThat(seats("us").upRights("ap")).isEqualTo(10);
    seats("us", bounds(60));
    cluster.run(1_000);
    assertThat(seats("us").upRights("ap")).isEqualTo(20);
    cluster.input(cluster.dc("eu"), new Input.Stay());
    cluster.run(1_000);
    assertThat(seats("us").upRights("ap")).isZero();
  }

  /** Another one may be the heir of who was given up again: two would take the same. */
  @Test
  void walkThatBeganBeforeWhoWasGivenUpWasBack_takesNothing() {
    assertThat(seats("ap", bounds(30))).isInstanceOf(Reply.Done.class);
    cluster.run(2_000);
    tell("eu", List.of("us"), List.of("eu", "us"), false);
    cluster.input(cluster.dc("eu"), new Input.Inherit("ap", List.of()));
    tell("eu", List.of("ap", "us"), List.of("ap", "eu", "us"), false);
    tell("eu", List.of("us"), List.of("eu", "us"), false);
    walks(cluster);
    cluster.run(1_000);
    assertThat(seats("us").upRights("ap")).isEqualTo(10);
  }

  /** Or one that is added again could use what it does not know to be taken. */
  @Test
  void whatIsTakenOver_isShippedAtOnce() {
    Cluster held =
        new Cluster(
            KeyspacePolicy.session("k", Duration.ofSeconds(5))
                .with(KeyspacePolicy.Propagation.STATE),
            "ap",
            "eu",
            "us");
    held.dc("ap").write("seats", CrdtType.BOUNDED_COUNTER, bounds(30));
    held.run(10_000);
    held.input(held.dc("eu"), new Input.Peers(1, List.of("us"), List.of("eu", "us"), false, 0));
    inherits(held);
    held.run(1_000);
    BoundedCounter at = (BoundedCounter) requireNonNull(held.dc("us").store.get(SEATS)).store();
    assertThat(at.upRights("eu")).isEqualTo(20);
  }

  @Test
  void whoLeaves_takesNoUpdates_alsoNotThoseThatWait() {
    assertThat(seats("us", bounds(3))).isInstanceOf(Reply.Done.class);
    cluster.run(1_000);
    long waits =
        cluster
            .dc("us")
            .send(
                "seats",
                CrdtType.BOUNDED_COUNTER,
                new Operation.IncrementWithin(9, 5_000),
                VersionVector.EMPTY,
                0);
    long parked =
        cluster.dc("us").send("c", CrdtType.PN_COUNTER, new Operation.Increment(1), OF_AP, 2_000);
    cluster.input(cluster.dc("us"), new Input.Retire());
    cluster.run(6_000);
    assertThat(failure("us", waits)).isEqualTo(ErrorCode.UNAVAILABLE);
    assertThat(failure("us", parked)).isNotNull();
    assertThat(
            ((Reply.Failure)
                    cluster.dc("us").write("c", CrdtType.PN_COUNTER, new Operation.Increment(1)))
                .message())
        .contains("is leaving the cluster");
    cluster.input(cluster.dc("us"), new Input.Stay());
    assertThat(cluster.dc("us").add("c", 1)).isNotNull();
  }

  /** Leaving the cluster may be taken back while the keyspace is given up all the same. */
  @Test
  void whatWasShown_isToldUntilTheKeyspaceIsGivenUpNoMore() {
    assertThat(cluster.dc("us").add("c", 1)).isNotNull();
    cluster.input(cluster.dc("us"), new Input.Cease());
    cluster.input(cluster.dc("us"), new Input.Retire());
    cluster.input(cluster.dc("us"), new Input.Stay());
    assertThat(cluster.dc("us").partition.shown()).isPresent();
    cluster.input(cluster.dc("us"), new Input.Resume());
    assertThat(cluster.dc("us").partition.shown()).isEmpty();
    assertThat(cluster.dc("us").add("c", 1)).isNotNull();
    assertThat(cluster.dc("us").partition.shown()).isEmpty();
  }
}
