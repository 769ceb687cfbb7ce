package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.testing.Failed;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a session, or an update, has seen elsewhere is waited for. */
final class SessionWaitsTest extends PartitionFixture {
  @Test
  void session_waitsAtAnotherDatacenterForWhatItHasSeen() {
    Cluster cluster = three(Propagation.OP, 2_000);
    Reply.Done done = cluster.dc("eu").add("x", 1);
    VersionVector seen = VersionVector.of(done.dot().replica(), done.dot().number());
    long ticket = cluster.dc("us").ask("x", seen, 1_000);
    assertThat(cluster.dc("us").replies).doesNotContainKey(ticket);
    cluster.run(500);
    assertThat(cluster.dc("us").replies.get(ticket))
        .isInstanceOfSatisfying(
            Reply.Answer.class,
            a -> assertThat(a.reading()).contains(new io.osier.crdt.Reading.Count(1)));
  }

  @Test
  void session_isNotServed_whileWhatItHasSeenIsStillHeldAtItsOrigin() {
    Cluster cluster = three(Propagation.STATE, 2_000);
    cluster.dc("eu").add("a", 1);
    cluster.run(500);
    Reply.Done held = cluster.dc("eu").add("b", 1);
    cluster.run(400); // the round of a has come, that of b has not
    assertThat(cluster.dc("us").value("a")).isEqualTo(1);
    assertThat(cluster.dc("us").value("b")).isZero();
    VersionVector seen = VersionVector.of(held.dot().replica(), held.dot().number());
    long early = cluster.dc("us").ask("b", seen, 0);
    assertThat(cluster.dc("us").replies.get(early)).isInstanceOf(Reply.Failure.class);
    cluster.run(1_500);
    long late = cluster.dc("us").ask("b", seen, 0);
    assertThat(cluster.dc("us").replies.get(late)).isInstanceOf(Reply.Answer.class);
  }

  /** In one batch: it was served before the write that the same session had sent before it. */
  @Test
  void command_thatComesWithWhatAnEarlierOneWaitsFor_isServedAfterIt() {
    Cluster cluster = three(Propagation.OP, 2_000);
    Reply.Done done = cluster.dc("eu").add("x", 1);
    VersionVector seen = VersionVector.of(done.dot().replica(), done.dot().number());
    Cluster.Dc us = cluster.dc("us");
    Operation more = new Operation.Increment(2);
    long write = us.send("x", CrdtType.PN_COUNTER, more, seen, 1_000);
    assertThat(us.replies).doesNotContainKey(write);
    List<Long> reads = new ArrayList<>();
    cluster.heard =
        (dc, effects) -> {
          if (dc == us && reads.isEmpty() && !effects.records().isEmpty()) {
            reads.add(0L);
            reads.set(0, us.ask("x", seen, 1_000)); // before the tick that follows
          }
        };
    cluster.run(500);
    assertThat(us.replies.get(reads.getFirst()))
        .isInstanceOfSatisfying(
            Reply.Answer.class,
            a -> assertThat(a.reading()).contains(new io.osier.crdt.Reading.Count(3)));
  }

  @Test
  void session_thatIsAheadForTooLong_isTold() {
    Cluster cluster = three(Propagation.OP, 2_000);
    VersionVector seen = VersionVector.of(new ReplicaId("eu", 1), 99);
    long ticket = cluster.dc("us").ask("x", seen, 300);
    cluster.run(400);
    assertThat(cluster.dc("us").replies.get(ticket)).is(Failed.with(ErrorCode.SESSION_BEHIND));
  }

  /** What it holds of the queue's budget must come back, whatever it has asked for. */
  @Test
  void session_thatAsksForALongerWaitThanThereIs_isToldAfterThat() {
    Cluster cluster = three(Propagation.OP, 2_000);
    Cluster.Dc us = cluster.dc("us");
    VersionVector seen = VersionVector.of(new ReplicaId("eu", 1), 1L << 60);
    long ticket = us.ask("x", seen, Integer.MAX_VALUE);
    cluster.run(Request.WAIT_MILLIS_MAX - 1_000);
    assertThat(us.replies).doesNotContainKey(ticket);
    cluster.run(2_000);
    assertThat(us.replies.get(ticket)).is(Failed.with(ErrorCode.SESSION_BEHIND));
  }

  @Test
  void session_thatSawWhatWasLost_isTold() {
    Cluster cluster = three(Propagation.STATE, 60_000);
    Reply.Done done = cluster.dc("eu").add("x", 1);
    cluster.crash("eu");
    cluster.run(10);
    cluster.reconnect("eu");
    cluster.run(10_000);
    VersionVector seen = VersionVector.of(done.dot().replica(), done.dot().number());
    long ticket = cluster.dc("us").ask("x", seen, 300);
    cluster.run(400);
    assertThat(cluster.dc("us").replies.get(ticket)).is(Failed.with(ErrorCode.SESSION_LOST));
  }

  /** Nobody will ever have it, and who waits for that would be told so by a count of none. */
  @Test
  void whoWaitsUntilOthersHaveWhatIsLost_isTold_alsoWhenThatIsFoundOutMeanwhile() {
    Cluster cluster = three(Propagation.STATE, 60_000);
    Reply.Done done = cluster.dc("eu").add("x", 1);
    VersionVector seen = VersionVector.of(done.dot().replica(), done.dot().number());
    Request asked = new ProgressRequest.Spread("k", 0, ProgressRequest.Spread.ANY, seen, 1, 30_000);
    Cluster.Dc us = cluster.dc("us");
    long waits = us.submit(asked);
    cluster.crash("eu");
    cluster.run(10);
    assertThat(us.replies).doesNotContainKey(waits);
    cluster.reconnect("eu");
    cluster.run(10_000);
    assertThat(us.replies.get(waits)).is(Failed.with(ErrorCode.SESSION_LOST));
    long later = us.submit(asked);
    cluster.run(10);
    assertThat(us.replies.get(later)).is(Failed.with(ErrorCode.SESSION_LOST));
  }

  @Test
  void anUpdateThatSawAnother_isNotVisibleBeforeIt() {
    Cluster cluster = three(Propagation.OP, 2_000);
    // us's update reaches eu but not ap; eu's next update of the object has seen it.
    cluster.loss = (link, frame) -> link.equals("us>ap") && frame instanceof Frame.Updates;
    cluster.dc("us").add("x", 10);
    cluster.run(60);
    cluster.dc("eu").add("x", 1);
    cluster.run(60);
    assertThat(cluster.dc("ap").value("x")).as("held, not 1").isZero();
    cluster.run(400);
    assertThat(cluster.dc("ap").value("x")).as("fetched from eu").isEqualTo(11);
  }

  /** a to c takes 400 ms, by way of b 80: what b makes of a's updates comes before those. */
  @Test
  void updatesThatComeBeforeWhatTheySaw_areWaitedForAsLongAsThePathsDiffer_notFetched() {
    Cluster cluster =
        new Cluster(KeyspacePolicy.session("k", Duration.ofSeconds(1)), "a", "b", "c");
    cluster.delaysMillis.put("a>c", 400L);
    cluster.delaysMillis.put("c>a", 400L);
    for (int i = 0; i < 10; i++) { // it learns
      dependent(cluster, "k" + i);
    }
    long fetched = cluster.dc("c").report().arrived().gapsSeen();
    for (int i = 10; i < 40; i++) {
      dependent(cluster, "k" + i);
    }
    assertThat(cluster.dc("c").report().arrived().gapsSeen()).isEqualTo(fetched);
    assertThat(fetched).isLessThan(5);
    assertThat(cluster.isConverged()).isTrue();
    // What never comes is fetched still.
    cluster.loss = (link, frame) -> link.equals("a>c");
    cluster.dc("a").add("lost", 1);
    cluster.run(45);
    cluster.dc("b").add("lost", 1);
    cluster.run(1_000);
    assertThat(cluster.dc("c").value("lost")).isEqualTo(2);
  }

  private static void dependent(Cluster cluster, String key) {
    cluster.dc("a").add(key, 1);
    cluster.run(45);
    cluster.dc("b").add(key, 1);
    cluster.run(700);
    assertThat(cluster.dc("c").value(key)).isEqualTo(2);
  }
}
