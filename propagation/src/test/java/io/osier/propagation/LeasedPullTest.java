package io.osier.propagation;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * In a causal keyspace, a large state was pulled and waits for the end of its cut, which comes
 * after the process has slept for long.
 */
final class LeasedPullTest {
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ObjectId SET = new ObjectId(Key.of("set"), CrdtType.AW_SET);

  private final LeasedEntries leases = new LeasedEntries();
  private final TestSurroundings.Kept replica = new TestSurroundings.Kept();
  private final Solo solo = new Solo(Solo.CAUSAL, replica, PEER.dc());

  private void receive(Frame frame, long seconds) {
    solo.nowMillis = 1_000_000 + seconds * 1_000;
    solo.receive(PEER, frame);
  }

  /**
   * Pulls a set whose entries are the same here, but which has seen one more update. Returns the
   * stream's epoch.
   */
  private long setIsPulled() {
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    Operation adds = new Operation.Add(List.of(Value.of("e")));
    CrdtState here = empty.join(empty.prepare(adds, PEER, 1, 0, 0, 0));
    replica.objects.put(SET, leases.of(here));
    solo.up(PEER);
    long epoch = solo.epoch();
    receive(
        new Frame.Offer(epoch, 1, SET, EntryRanges.Head.of(CausalContext.range(PEER, 0, 2))), 1);
    List<EntryRanges.Range> ranges = EntryRanges.of(here, EntryKey.NONE, 1_000, 1_000);
    receive(new Frame.Ranges(epoch, 1, SET, EntryKey.NONE, ranges), 1);
    assertThat(solo.sent.getLast())
        .isInstanceOfSatisfying(Frame.Pull.class, p -> assertThat(p.done()).isTrue());
    return epoch;
  }

  private static Frame end(long epoch) {
    return Frames.updates(
        Frame.Kind.CATCH_UP,
        epoch,
        1,
        2,
        Optional.of(new Frame.Cursor(1, 2, 2, 2, Optional.empty())),
        1_000,
        List.of());
  }

  private long shown() {
    return requireNonNull(replica.objects.get(SET)).context().through(PEER);
  }

  @Test
  void inTime_itIsShown() {
    receive(end(setIsPulled()), 2);
    assertThat(shown()).isEqualTo(2);
  }

  /** The version is held again before it is read. */
  @Test
  void late_itIsShown_ifItsLeaseHasNotEnded() {
    receive(end(setIsPulled()), 100);
    solo.tick();
    assertThat(shown()).isEqualTo(2);
  }

  @Test
  void late_itIsAskedForAgain_ifItsLeaseHasEnded() {
    long epoch = setIsPulled();
    leases.end();
    receive(end(epoch), 100);
    solo.tick();
    assertThat(shown()).isEqualTo(1);
    assertThat(solo.epoch()).isGreaterThan(epoch);
  }
}
