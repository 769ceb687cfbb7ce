package io.osier.propagation;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * In a causal keyspace a large state was pulled and waits for the end of its cut; that comes when
 * the process has slept for long.
 */
final class LeasedPullTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ObjectId SET = new ObjectId(Key.of("set"), CrdtType.AW_SET);

  private final LeasedEntries leases = new LeasedEntries();
  private final TestSurroundings.Kept replica = new TestSurroundings.Kept();
  private final List<Frame> sent = new ArrayList<>();
  private final Propagation propagation =
      new Propagation(
          SELF,
          List.of(PEER.dc()),
          KeyspacePolicy.causal("k", Duration.ofSeconds(1)),
          StreamSettings.DEFAULT,
          RecoveredState.NOTHING,
          replica,
          (to, frame) -> sent.add(frame),
          UpdateObserver.NONE,
          0);

  private void receive(Frame frame, long seconds) {
    propagation.received(PEER, frame, seconds * 1_000_000_000, seconds * 1_000);
  }

  private long epoch() {
    return sent.stream()
        .filter(Frame.Resume.class::isInstance)
        .map(Frame.Resume.class::cast)
        .toList()
        .getLast()
        .epoch();
  }

  /** Its entries are the same here, and it has seen an update more. Returns the stream's epoch. */
  private long setIsPulled() {
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    Operation adds = new Operation.Add(List.of(Value.of("e")));
    CrdtState here = empty.join(empty.prepare(adds, PEER, 1, 0, 0, 0));
    replica.objects.put(SET, leases.of(here));
    propagation.peerUp(PEER, 0);
    long epoch = epoch();
    receive(
        new Frame.Offer(epoch, 1, SET, EntryRanges.Head.of(CausalContext.range(PEER, 0, 2))), 1);
    List<EntryRanges.Range> ranges = EntryRanges.of(here, EntryKey.NONE, 1_000, 1_000);
    receive(new Frame.Ranges(epoch, 1, SET, EntryKey.NONE, ranges), 1);
    assertThat(sent.getLast())
        .isInstanceOfSatisfying(Frame.Pull.class, p -> assertThat(p.done()).isTrue());
    return epoch;
  }

  private static Frame end(long epoch) {
    return new Frame.Updates(
        Frame.Kind.CATCH_UP,
        epoch,
        1,
        2,
        VersionVector.EMPTY,
        Optional.of(new Frame.Cursor(1, 2, 2, 2, Optional.empty())),
        false,
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

  /** It is held anew before it is read. */
  @Test
  void late_itIsShown_ifItsLeaseHasNotEnded() {
    receive(end(setIsPulled()), 100);
    propagation.tick(100_000_000_000L, 100_000);
    assertThat(shown()).isEqualTo(2);
  }

  @Test
  void late_itIsAskedForAgain_ifItsLeaseHasEnded() {
    long epoch = setIsPulled();
    leases.end();
    receive(end(epoch), 100);
    propagation.tick(100_000_000_000L, 100_000);
    assertThat(shown()).isEqualTo(1);
    assertThat(epoch()).isGreaterThan(epoch);
  }
}
