package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.pull.PendingAnswer;
import io.osier.propagation.pull.StatePull;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The effects of the parts of a peer's stream on each other. */
final class InboundStreamTest {
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ObjectId X = new ObjectId(Key.of("x"), CrdtType.PN_COUNTER);
  private static final long SECOND = 1_000_000_000;

  private final InboundStream stream =
      new InboundStream(US, new StreamPosition(1, Optional.empty()), () -> 1, SECOND, 0);

  private static Frame.Cursor cursor(long done) {
    return new Frame.Cursor(1, done, done, 0, Optional.empty());
  }

  /**
   * Returns a frame after which the stream is at the place of its number, complete up to ten times
   * it.
   */
  private Frame.Updates frame(Frame.Kind kind, long sequence) {
    return Frames.updates(
        kind,
        stream.position().epoch(),
        sequence,
        10 * sequence,
        Optional.of(cursor(sequence)),
        0,
        List.of());
  }

  private void takes(long sequence) {
    stream.took(frame(Frame.Kind.OPS, sequence), 0);
  }

  private static Shipment update(long number) {
    CrdtState delta =
        CrdtState.bottom(X.type()).prepare(new Operation.Increment(1), US, number, 0, 1, 0);
    return new Shipment(X, US, 0, VersionVector.EMPTY, number, 1, 0, delta);
  }

  private void keeps(long number) {
    stream.keep(update(number), VersionVector.EMPTY, false, 0, 0);
  }

  private void pulls(String key, long epoch, long nowNanos) {
    ObjectId object = new ObjectId(Key.of(key), CrdtType.AW_SET);
    EntryRanges.Head version = EntryRanges.Head.of(CausalContext.range(US, 0, 1));
    Frame.Offer offer = new Frame.Offer(epoch, 256, object, version);
    stream.pulls().begin(new StatePull(US, offer, CrdtState.bottom(object.type()), 0, nowNanos));
  }

  /** Waiting updates are in memory only, and must be sent again after a crash. */
  @Test
  void placeInTheStream_isBehindWhatWaits_onlyWhenThatWasApplied() {
    stream.position().resume(0, 0);
    takes(1);
    keeps(15);
    takes(2);
    keeps(25);
    takes(3);
    assertThat(stream.position().applied()).contains(cursor(1));
    stream.dropFirst(X);
    assertThat(stream.position().applied()).contains(cursor(1));
    stream.dropFirst(X);
    assertThat(stream.position().applied()).contains(cursor(3));
  }

  @Test
  void stream_isComplete_upToWhatWaits_andNoFurtherThanToWhatWasGivenUp() {
    stream.position().resume(0, 0);
    takes(1);
    keeps(15);
    takes(2);
    assertThat(stream.complete()).isEqualTo(10);
    stream.giveUp(X);
    assertThat(stream.complete()).isEqualTo(10);
    keeps(16);
    stream.dropFirst(X);
    assertThat(stream.complete()).isEqualTo(10);
  }

  @Test
  void pulls_end_whenTheSenderWaitsForNone() {
    stream.position().resume(0, 0);
    pulls("a", stream.position().epoch(), 0);
    stream.received(frame(Frame.Kind.CATCH_UP, 1), 0);
    assertThat(stream.pulls().count()).isEqualTo(1);
    stream.received(frame(Frame.Kind.OPS, 2), 0);
    assertThat(stream.pulls().count()).isZero();
    pulls("a", stream.position().epoch(), 0);
    stream.dropped();
    assertThat(stream.pulls().count()).isZero();
  }

  @Test
  void pullsOfFormerEpochs_end_andThoseThatWereNotHeardOfSinceTheStreamWasAskedFor() {
    stream.position().resume(0, 5);
    long epoch = stream.position().epoch();
    pulls("a", epoch - 1, 20);
    pulls("b", epoch, 4);
    pulls("c", epoch, 20);
    assertThat(stream.pullsHeardSince(5)).as("nothing could come before").isEqualTo(3);
    assertThat(stream.pullsHeardSince(10)).isEqualTo(2);
    stream.dropSilentPulls(5);
    assertThat(stream.pulls().count()).isEqualTo(3);
    stream.dropFormerPulls(5);
    assertThat(stream.pulls().count()).isEqualTo(2);
    stream.dropFormerPulls(10);
    assertThat(stream.pulls().count()).isEqualTo(1);
  }

  @Test
  void streamThatEnds_pullsNothing_untilItIsBack() {
    assertThat(stream.isBack()).isFalse();
    pulls("a", 1, 0);
    stream.end();
    assertThat(stream.pulls().count()).isZero();
    assertThat(stream.isBack()).isTrue();
    assertThat(stream.isBack()).isFalse();
  }

  @Test
  void whoMadeRoom_isWaitedForLonger_untilSomethingOfItIsVisible() {
    stream.position().resume(0, 0);
    for (int times = 1; times <= 12; times++) {
      stream.madeRoom();
      assertThat(stream.patience()).isEqualTo(Math.min(times, 10));
    }
    assertThat(stream.position().isRefusing()).isTrue();
    stream.admitted(cursor(1));
    assertThat(stream.patience()).isZero();
    stream.madeRoom();
    stream.admitted(cursor(1));
    assertThat(stream.patience()).as("nothing more is visible").isEqualTo(1);
  }

  @Test
  void stream_isAtRest_whenNothingOfItIsWaitedFor() {
    assertThat(stream.isAtRest()).as("not begun").isFalse();
    stream.position().resume(0, 0);
    assertThat(stream.isAtRest()).as("asked for").isFalse();
    takes(1);
    assertThat(stream.isAtRest()).isTrue();
    keeps(15);
    assertThat(stream.isAtRest()).as("something waits").isFalse();
    stream.fetcher().fetch(List.of(X), 0);
    stream.dropFirst(X);
    assertThat(stream.isAtRest()).as("something is fetched").isFalse();
    stream.fetcher().down();
    assertThat(stream.isAtRest()).isTrue();
    stream.position().refuse();
    assertThat(stream.isAtRest()).as("there is no room").isFalse();
  }

  @Test
  void whatWaits_wasInterrupted_whenTheStreamWasAskedForSince() {
    assertThat(stream.wasInterruptedAfter(0)).isFalse();
    stream.position().resume(0, 5);
    assertThat(stream.wasInterruptedAfter(5)).isTrue();
    assertThat(stream.wasInterruptedAfter(6)).isFalse();
  }

  @Test
  void acknowledgement_isDueWhenSomethingCame_andAgainWhereItIsAskedFor() {
    stream.position().resume(0, 0);
    stream.ackAgain(3);
    assertThat(stream.acks().dueNanos()).as("nothing came").isEqualTo(Long.MAX_VALUE);
    stream.took(frame(Frame.Kind.OPS, 1), 7);
    assertThat(stream.acks().takeDue(7)).isTrue();
    stream.ackAgain(9);
    assertThat(stream.acks().dueNanos()).isEqualTo(9);
    assertThat(stream.acks().takeDue(9)).isTrue();
    stream.ackAgain(18, 10);
    assertThat(stream.acks().dueNanos()).as("it was just done").isEqualTo(Long.MAX_VALUE);
    stream.ackAgain(19, 10);
    assertThat(stream.acks().dueNanos()).isEqualTo(19);
  }

  @Test
  void whileSomethingIsFetched_nothingElseIsDue() {
    keeps(1);
    assertThat(stream.nextFetchNanos(SECOND, 2 * SECOND)).isEqualTo(SECOND);
    stream.fetcher().fetch(List.of(X), 5 * SECOND);
    assertThat(stream.nextFetchNanos(SECOND, 2 * SECOND)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void answersThatAreStillPulled_takeRoom_too() {
    ObjectId object = new ObjectId(Key.of("a"), CrdtType.AW_SET);
    Frame.States states =
        new Frame.States(
            1,
            Optional.empty(),
            Optional.empty(),
            0,
            Frame.Place.NONE,
            VersionVector.EMPTY,
            List.of(update(1)));
    EntryRanges.Head version = EntryRanges.Head.of(CausalContext.range(US, 0, 1));
    Frame.Offer offer = new Frame.Offer(Frame.Offer.OF_ANSWER, 256, object, version);
    stream.answers().add(new PendingAnswer(US, new Frame.StatesAndOffer(states, offer)));
    assertThat(stream.pulledBytes()).isPositive().isEqualTo(stream.answers().heapBytes());
    pulls("b", 1, 0);
    assertThat(stream.pulledBytes())
        .isEqualTo(stream.pulls().heapBytes() + stream.answers().heapBytes());
  }
}
