package io.osier.propagation.pull;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.wire.Frame;
import org.junit.jupiter.api.Test;

/** The states of us that are pulled at a time, and those that were pulled. */
final class StatePullsTest {
  private static final ReplicaId US = new ReplicaId("us", 1);

  private final StatePulls pulls = new StatePulls();

  /** An offer's number counts by 256: its lowest bits say how often it was sent. */
  private static Frame.Offer offer(String key, long epoch, long number, long last) {
    ObjectId object = new ObjectId(Key.of(key), CrdtType.AW_SET);
    CausalContext context = CausalContext.range(US, 0, last);
    return new Frame.Offer(epoch, number, object, EntryRanges.Head.of(context));
  }

  private static StatePull pull(Frame.Offer offer, long bytes, long nowNanos) {
    return new StatePull(US, offer, CrdtState.bottom(CrdtType.AW_SET), bytes, nowNanos);
  }

  private void begins(String key, long epoch, long nowNanos) {
    pulls.begin(pull(offer(key, epoch, 256, 1), 1_000, nowNanos));
  }

  private boolean isPulled(String key) {
    return pulls.get(offer(key, 0, 0, 1).object()) != null;
  }

  @Test
  void whatIsPulled_isCounted_untilItIsHere() {
    begins("x", 1, 0);
    long one = pulls.heapBytes();
    assertThat(one).isGreaterThanOrEqualTo(1_000);
    StatePull y = pull(offer("y", 1, 512, 1), 2_000, 0);
    pulls.begin(y);
    assertThat(pulls.heapBytes()).isGreaterThanOrEqualTo(one + 2_000);
    assertThat(pulls.count()).isEqualTo(2);
    pulls.end(y);
    assertThat(isPulled("y")).isFalse();
    assertThat(pulls.heapBytes()).isEqualTo(one);
    pulls.drop();
    assertThat(pulls.count()).isZero();
    assertThat(pulls.hasDone(offer("x", 1, 256, 1))).as("it was not pulled").isFalse();
  }

  @Test
  void offerThatIsMadeOnceMore_isKnown_andNoOther() {
    pulls.end(pull(offer("x", 1, 256, 1), 0, 0));
    assertThat(pulls.hasDone(offer("x", 1, 256, 1))).isTrue();
    assertThat(pulls.hasDone(offer("x", 1, 257, 1))).as("made twice").isTrue();
    assertThat(pulls.hasDone(offer("x", 1, 512, 1))).as("the next offer").isFalse();
    assertThat(pulls.hasDone(offer("x", 2, 256, 1))).as("another epoch").isFalse();
    assertThat(pulls.hasDone(offer("x", 1, 256, 2))).as("a later version").isFalse();
    assertThat(pulls.hasDone(offer("y", 1, 256, 1))).as("another object").isFalse();
  }

  @Test
  void ofMany_theLastAreKnown() {
    for (int i = 0; i <= 64; i++) {
      pulls.end(pull(offer("k" + i, 1, 256, 1), 0, 0));
    }
    assertThat(pulls.hasDone(offer("k0", 1, 256, 1))).isFalse();
    assertThat(pulls.hasDone(offer("k1", 1, 256, 1))).isTrue();
    assertThat(pulls.hasDone(offer("k64", 1, 256, 1))).isTrue();
  }

  @Test
  void whatIsOfAnotherEpoch_isDropped() {
    begins("x", 1, 0);
    begins("y", 2, 0);
    pulls.dropAllBut(2);
    assertThat(isPulled("x")).isFalse();
    assertThat(isPulled("y")).isTrue();
  }

  @Test
  void whatWasNotHeardOf_isDropped() {
    begins("x", 1, 4);
    begins("y", 1, 5);
    assertThat(pulls.countHeardSince(5)).isEqualTo(1);
    pulls.dropSilent(5);
    assertThat(isPulled("x")).isFalse();
    assertThat(isPulled("y")).isTrue();
  }
}
