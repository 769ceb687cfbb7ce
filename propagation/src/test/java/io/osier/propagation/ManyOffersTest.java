package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Peers that offer more large states than are pulled at a time, or offer them again. */
final class ManyOffersTest {
  private static final ReplicaId PEER = new ReplicaId("us", 1);

  private Solo solo = solo(StreamSettings.DEFAULT);

  private static Solo solo(StreamSettings settings) {
    return new Solo(
        Solo.SESSION,
        settings,
        RecoveredState.NOTHING,
        new TestSurroundings.Kept(),
        (to, frame) -> {},
        PEER.dc());
  }

  private long refused() {
    return solo.propagation.memory().stream()
        .filter(usage -> usage.name().equals("waiting"))
        .findFirst()
        .orElseThrow()
        .spent();
  }

  private static Frame.Offer offer(long epoch, int number) {
    ObjectId object = new ObjectId(Key.of("set-" + number), CrdtType.AW_SET);
    return new Frame.Offer(
        epoch, number, object, EntryRanges.Head.of(CausalContext.range(PEER, 0, number)));
  }

  private void receive(Frame frame) {
    receive(frame, 1);
  }

  private void receive(Frame frame, int seconds) {
    solo.nowMillis = 1_000_000 + seconds * 1_000L;
    solo.receive(PEER, frame);
  }

  private List<Frame.Pull> pulls() {
    List<Frame.Pull> pulls = solo.sent(Frame.Pull.class);
    solo.sent.removeIf(Frame.Pull.class::isInstance);
    return pulls;
  }

  @Test
  void asManyArePulledAsMayBe_andOthersWhenOneIsDone() {
    solo.up(PEER);
    long epoch = solo.epoch();
    for (int i = 1; i <= 40; i++) {
      receive(offer(epoch, i));
    }
    List<Frame.Pull> begun = pulls();
    assertThat(begun).hasSize(16);
    Frame.Pull first = begun.getFirst();
    EntryRanges.Range none =
        EntryRanges.of(CrdtState.bottom(CrdtType.AW_SET), EntryKey.NONE, 1, 1).getFirst();
    receive(new Frame.Ranges(epoch, 1, first.object(), EntryKey.NONE, List.of(none)));
    assertThat(pulls()).hasSize(1).allMatch(Frame.Pull::done);
    receive(offer(epoch, 40));
    assertThat(pulls()).hasSize(1);
  }

  /**
   * One state is pulled in any case. The sender of the others gets no answer; the operator sees a
   * count.
   */
  @Test
  void thoseForWhichThereIsNoRoom_areCounted() {
    solo = solo(StreamSettings.DEFAULT.within(new StreamSettings.Memory(1, 1, -1)));
    solo.up(PEER);
    for (int i = 1; i <= 3; i++) {
      receive(offer(solo.epoch(), i));
    }
    assertThat(pulls()).hasSize(1);
    assertThat(refused()).isEqualTo(2);
  }

  @Test
  void thoseOfAFormerEpoch_makeRoom() {
    solo.up(PEER);
    long former = solo.epoch();
    for (int i = 1; i <= 16; i++) {
      receive(offer(former, i));
    }
    assertThat(pulls()).hasSize(16);
    solo.up(PEER);
    long next = solo.epoch();
    assertThat(next).isGreaterThan(former);
    receive(offer(next, 1));
    for (int i = 17; i <= 32; i++) {
      receive(offer(next, i));
    }
    assertThat(pulls()).hasSize(16);
  }

  /** The sender has closed these offers: it repeats those that are open. */
  @Test
  void thoseThatNothingIsHeardOf_makeRoom() {
    solo.up(PEER);
    long epoch = solo.epoch();
    for (int i = 1; i <= 16; i++) {
      receive(offer(epoch, i));
    }
    receive(offer(epoch, 5), 30);
    pulls();
    receive(offer(epoch, 17), 32);
    assertThat(pulls()).isEmpty();
    for (int i = 17; i <= 40; i++) {
      receive(offer(epoch, i), 40);
    }
    assertThat(pulls()).as("all but the one that was heard of").hasSize(15);
  }
}
