package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A stream's epochs grow, even if a former life had more of them than expected. */
final class StreamEpochTest {
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final StreamSettings SETTINGS = StreamSettings.DEFAULT;

  private final List<Long> asked = new ArrayList<>();

  /** The second life of a store. */
  private final Propagation propagation =
      new Solo(
              Solo.SESSION,
              SETTINGS,
              TestSurroundings.recovered(2, true, 0),
              new TestSurroundings.Objects(),
              (to, frame) -> {
                if (frame instanceof Frame.Resume resume) {
                  asked.add(resume.epoch());
                }
              },
              "us")
          .propagation;

  /**
   * Has the peer report that its stream waits, and that this is the last epoch that it has heard
   * of.
   */
  private void waitsFor(long epoch, long atMillis) {
    Frame status = Frames.status(true, epoch, 0, atMillis);
    propagation.received(PEER, status, atMillis * 1_000_000, atMillis);
  }

  @Test
  void epochOfAFormerLifeThatIsLarger_isExceededAtOnce() {
    propagation.peerUp(PEER, 0);
    assertThat(asked).hasSize(1);
    long former = asked.getFirst() + 1_000;
    waitsFor(former, SETTINGS.retryMillis());
    assertThat(asked.getLast()).isGreaterThan(former);
  }

  /** Has the peer report frames of the last epoch, none of which arrive. */
  private void hasSent(long atMillis) {
    Frame status = Frames.status(false, asked.getLast(), 3, atMillis);
    propagation.received(PEER, status, atMillis * 1_000_000, atMillis);
  }

  /** Lets time pass without receiving any of the peer's frames, as while the disk is full. */
  private void nothingComes(long fromMillis, long toMillis) {
    for (long ms = fromMillis; ms <= toMillis; ms += 200) {
      propagation.tick(ms * 1_000_000, ms);
      hasSent(ms);
    }
  }

  /** All received frames are dropped while the disk is full, which may be for hours. */
  @Test
  void streamOfWhichNothingComes_beginsAnewMoreAndMoreSeldom() {
    propagation.peerUp(PEER, 0);
    nothingComes(200, 1_000);
    assertThat(Set.copyOf(asked)).as("frames may just have been lost").hasSizeGreaterThan(1);
    asked.subList(0, asked.size() - 1).clear();
    nothingComes(1_200, 121_000);
    assertThat(Set.copyOf(asked)).as("epochs").hasSizeBetween(12, 25);
  }

  @Test
  void streamThatIsAskedForAgainMeanwhile_beginsAnewAllTheSame() {
    propagation.peerUp(PEER, 0);
    nothingComes(200, 60_000);
    for (long from = 60_200; from <= 200_000; from += 20_000) {
      long epoch = asked.getLast();
      nothingComes(from, from + 19_800);
      assertThat(asked.getLast()).as("from %s ms on", from).isGreaterThan(epoch);
    }
  }

  @Test
  void framesThatComeAfterNothingDid_beginAnewWithinTheRetryTime() {
    propagation.peerUp(PEER, 0);
    nothingComes(200, 60_000);
    long former = asked.getLast();
    long begun = 60_000;
    while (asked.getLast() == former && begun < 120_000) {
      begun += 200;
      nothingComes(begun, begun);
    }
    long epoch = asked.getLast();
    assertThat(epoch).isGreaterThan(former);
    for (long ms = begun + 100; ms <= begun + SETTINGS.retryMillis(); ms += 100) {
      propagation.received(PEER, fourth(epoch, ms), ms * 1_000_000, ms);
    }
    assertThat(asked.getLast()).as("the disk has room again").isGreaterThan(epoch);
  }

  /** Returns the fourth frame of an epoch, with nothing new. */
  private static Frame.Updates fourth(long epoch, long atMillis) {
    return Frames.updates(Frame.Kind.OPS, epoch, 4, 0, Optional.empty(), atMillis, List.of());
  }

  @Test
  void epochThatWasNotHeardOf_isAskedForAgain() {
    propagation.peerUp(PEER, 0);
    waitsFor(0, SETTINGS.retryMillis());
    assertThat(asked).hasSize(2);
    assertThat(asked.getLast()).isEqualTo(asked.getFirst());
  }
}
