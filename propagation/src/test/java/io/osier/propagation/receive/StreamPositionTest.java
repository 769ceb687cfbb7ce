package io.osier.propagation.receive;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.VersionVector;
import io.osier.propagation.receive.StreamPosition.Verdict;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A stream that is requested again, after 1 s at first, in the second life of the store. */
final class StreamPositionTest {
  private static final long RETRY = 1_000_000_000;
  private static final Frame.Cursor RECOVERED = cursor(100);

  private final StreamPosition position = new StreamPosition(2, Optional.of(RECOVERED));

  private static Frame.Cursor cursor(long done) {
    return new Frame.Cursor(1, done, done, 0, Optional.empty());
  }

  /** Returns a frame after which the stream is at the place of its number. */
  private static Frame.Updates frame(long epoch, long sequence, long through) {
    return Frames.updates(
        Frame.Kind.OPS, epoch, sequence, through, Optional.of(cursor(sequence)), 0, List.of());
  }

  private static Frame.Status status(long epoch, long sequence) {
    VersionVector none = VersionVector.EMPTY;
    return new Frame.Status(false, epoch, sequence, none, 0, none, 0, false, 0);
  }

  private Verdict verdict(long sequence) {
    return position.verdict(frame(position.epoch(), sequence, 0));
  }

  private void comes(long sequence) {
    assertThat(verdict(sequence)).isEqualTo(Verdict.NEXT);
    position.received(frame(position.epoch(), sequence, 10 * sequence));
  }

  @Test
  void epochs_grow_alsoFromLifeToLife() {
    Frame.Resume former = new StreamPosition(1, Optional.empty()).resume(0, 0);
    Frame.Resume first = position.resume(7, 0);
    Frame.Resume second = position.resume(7, 0);
    assertThat(List.of(former.epoch(), first.epoch(), second.epoch()))
        .isSorted()
        .doesNotHaveDuplicates();
    position.heardOf(second.epoch() + 5);
    assertThat(position.resume(7, 0).epoch()).isEqualTo(second.epoch() + 6);
    position.heardOf(second.epoch());
    assertThat(position.resume(7, 0).epoch()).isEqualTo(second.epoch() + 7);
  }

  @Test
  void stream_goesOnFromWhatTheStoreKept_andThenFromWhatCame() {
    assertThat(position.applied()).contains(RECOVERED);
    assertThat(position.resume(7, 0))
        .isEqualTo(new Frame.Resume(position.epoch(), 7, Optional.of(RECOVERED)));
    comes(1);
    comes(2);
    assertThat(position.resume(8, 0).cursor()).contains(cursor(2));
    assertThat(position.resumeAgain(8, 0).cursor()).contains(cursor(2));
  }

  @Test
  void streamThatWasDropped_goesOnBehindWhatWasApplied_andTakesNothingUntilThen() {
    position.resume(0, 0);
    comes(1);
    position.appliedAll();
    comes(2);
    assertThat(position.applied()).contains(cursor(1));
    position.toApplied();
    assertThat(position.isRefusing()).isTrue();
    assertThat(verdict(3)).isEqualTo(Verdict.STALE);
    assertThat(position.resume(0, 0).cursor()).contains(cursor(1));
    assertThat(position.isRefusing()).isFalse();
    position.applied(cursor(50));
    assertThat(position.applied()).contains(cursor(50));
  }

  @Test
  void streamThatRefuses_goesOnBehindWhatCame() {
    position.resume(0, 0);
    comes(1);
    position.refuse();
    assertThat(verdict(2)).isEqualTo(Verdict.STALE);
    assertThat(position.resume(0, 0).cursor()).contains(cursor(1));
    comes(1);
  }

  @Test
  void frame_isTheNext_orADuplicate_orBehindAGap_orStale() {
    position.resume(0, 0);
    assertThat(position.hasBegun()).isFalse();
    assertThat(verdict(2)).isEqualTo(Verdict.GAP);
    comes(1);
    assertThat(position.hasBegun()).isTrue();
    assertThat(position.ack()).isEqualTo(new Frame.Ack(position.epoch(), 1));
    assertThat(verdict(1)).isEqualTo(Verdict.DUPLICATE);
    assertThat(verdict(2)).isEqualTo(Verdict.NEXT);
    assertThat(verdict(3)).isEqualTo(Verdict.GAP);
    assertThat(position.verdict(frame(position.epoch() - 1, 2, 0))).isEqualTo(Verdict.STALE);
    position.resume(0, 0);
    assertThat(position.hasBegun()).isFalse();
    assertThat(verdict(1)).isEqualTo(Verdict.NEXT);
  }

  /** A new epoch begins where the last one ended, and its first frames may claim less. */
  @Test
  void whatIsClaimed_growsOnly_unlessItWasLost() {
    position.resume(0, 0);
    comes(1);
    comes(2);
    assertThat(position.claimed()).isEqualTo(20);
    position.resume(0, 0);
    comes(1);
    assertThat(position.claimed()).isEqualTo(20);
    position.claimNoMoreThan(30);
    assertThat(position.claimed()).isEqualTo(20);
    position.claimNoMoreThan(15);
    assertThat(position.claimed()).isEqualTo(15);
  }

  @Test
  void epochThatHasNotBegun_isAskedForAgain_laterEachTime_upToEightTimes() {
    long now = 5;
    position.resume(0, now);
    for (long times : new long[] {1, 2, 4, 8, 8}) {
      assertThat(position.resumeDueNanos(RETRY)).isEqualTo(now + times * RETRY);
      now += times * RETRY;
      assertThat(position.resumeAgain(0, now).epoch()).isEqualTo(position.epoch());
      assertThat(position.resumeSentNanos()).isEqualTo(now);
    }
    position.resume(0, now);
    assertThat(position.resumeDueNanos(RETRY)).isEqualTo(now + RETRY);
  }

  @Test
  void senderThatWaits_isAskedAtOnce_unlessItWasJustAsked() {
    assertThat(position.mayAskAgain(0, RETRY)).isTrue();
    position.resume(0, 5);
    assertThat(position.isStarted()).isTrue();
    assertThat(position.isResuming()).isTrue();
    assertThat(position.mayAskAgain(4 + RETRY, RETRY)).isFalse();
    assertThat(position.mayAskAgain(5 + RETRY, RETRY)).isTrue();
    comes(1);
    assertThat(position.isResuming()).isFalse();
    assertThat(position.mayAskAgain(6, RETRY)).isTrue();
  }

  /** The first epoch follows none, the second follows one without a frame, and so on. */
  @Test
  void epochsOfWhichNothingComes_followEachOtherLaterEachTime_upToEightTimes() {
    position.resume(0, 5);
    assertThat(position.mayBeginAnew(5, RETRY)).isTrue();
    for (long times : new long[] {1, 2, 4, 8, 8}) {
      position.resume(0, 5);
      position.resumeAgain(0, 6);
      assertThat(position.mayBeginAnew(4 + times * RETRY, RETRY)).isFalse();
      assertThat(position.mayBeginAnew(5 + times * RETRY, RETRY)).isTrue();
    }
    position.cameWithGap();
    assertThat(position.mayBeginAnew(0, RETRY)).isTrue();
    position.resume(0, 0);
    assertThat(position.mayBeginAnew(RETRY - 1, RETRY)).isFalse();
    comes(1);
    assertThat(position.mayBeginAnew(0, RETRY)).isTrue();
    position.resume(0, 0);
    assertThat(position.mayBeginAnew(0, RETRY)).as("something of the last one came").isTrue();
  }

  @Test
  void lastFrames_wereLost_whenTwoStatusesTellOfThem() {
    position.resume(0, 0);
    comes(1);
    long epoch = position.epoch();
    assertThat(position.missedTail(status(epoch, 1))).isFalse();
    assertThat(position.missedTail(status(epoch, 2))).as("it overtook the frame").isFalse();
    comes(2);
    assertThat(position.missedTail(status(epoch, 3))).isFalse();
    assertThat(position.missedTail(status(epoch, 3))).isTrue();
    assertThat(position.missedTail(status(epoch - 1, 9))).as("of a former epoch").isFalse();
    assertThat(position.missedTail(status(epoch, 3))).as("the first of this one").isFalse();
    position.resume(0, 0);
    assertThat(position.missedTail(status(epoch + 1, 1))).as("the new one's first").isFalse();
  }
}
