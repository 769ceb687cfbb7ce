package io.osier.propagation.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order in which large states are offered, and their entries that are in flight at a time. */
final class StateOffersTest {
  private final TestSurroundings.Kept objects = new TestSurroundings.Kept();
  private final List<Frame> sent = new ArrayList<>();

  /** Room for one offer at a time. */
  private final ReplicationContext around =
      TestSurroundings.of(
          KeyspacePolicy.session("k", Duration.ofSeconds(1)),
          StreamSettings.DEFAULT
              .pulling(64)
              .within(new StreamSettings.Memory(64 << 20, 16 << 20, 1)),
          RecoveredState.NOTHING,
          objects,
          (to, frame) -> {});

  private final StateOffers offers = new StateOffers(sent::add, LinkWindow.NONE, around);

  /** The window of a link that has one byte in all. */
  private static final class Narrow implements LinkWindow {
    long bytes;

    @Override
    public boolean isOpen() {
      return bytes <= 0;
    }

    @Override
    public void take(long some) {
      bytes += some;
    }

    @Override
    public void give(long some) {
      bytes -= some;
    }
  }

  private void takes(String key) {
    takes(offers, key);
  }

  private void takes(StateOffers offers, String key) {
    ObjectId object = new ObjectId(Key.of(key), CrdtType.AW_SET);
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    List<Value> elements = List.of(Value.of("e".repeat(100)), Value.of("f".repeat(100)));
    Operation adds = new Operation.Add(elements);
    CrdtState state = empty.join(empty.prepare(adds, TestSurroundings.SELF, 1, 0, 0, 0));
    objects.objects.put(object, state);
    assertThat(offers.takes(object, state)).isTrue();
  }

  private List<String> offered() {
    offers.tick(1, left -> {}, 0);
    List<String> keys = new ArrayList<>();
    for (Frame frame : sent) {
      keys.add(((Frame.Offer) frame).object().key().toString());
    }
    sent.clear();
    return keys;
  }

  /** The peer may have a part of offered states, for which it makes others wait. */
  @Test
  void whatWasOffered_isOfferedFirst_whenAScanBegins() {
    takes("a");
    takes("b");
    assertThat(offered()).containsExactly("a");
    offers.scanBegins();
    assertThat(offered()).containsExactly("a");
  }

  private final Narrow window = new Narrow();
  private final ReplicationContext wide =
      TestSurroundings.of(
          KeyspacePolicy.session("k", Duration.ofSeconds(1)),
          StreamSettings.DEFAULT.pulling(64),
          RecoveredState.NOTHING,
          objects,
          (to, frame) -> {});
  private final StateOffers narrow = new StateOffers(sent::add, window, wide);

  private static Frame.Pull entriesOf(Frame.Offer offer) {
    return new Frame.Pull(
        offer.epoch(), offer.number(), offer.object(), false, EntryKey.NONE, List.of(0));
  }

  private static Frame.Pull done(Frame.Offer offer) {
    return new Frame.Pull(
        offer.epoch(), offer.number(), offer.object(), true, EntryKey.NONE, List.of());
  }

  private List<Frame.Offer> offersOf(String... keys) {
    for (String key : keys) {
      takes(narrow, key);
    }
    narrow.tick(1, left -> {}, 0);
    List<Frame.Offer> made = sent.stream().map(Frame.Offer.class::cast).toList();
    sent.clear();
    return made;
  }

  private List<String> entries() {
    List<String> keys = new ArrayList<>();
    for (Frame frame : sent) {
      keys.add(((Frame.Entries) frame).entries().object().key().toString());
    }
    sent.clear();
    return keys;
  }

  @Test
  void entries_waitForTheWindow_untilThoseBeforeHaveCome() {
    List<Frame.Offer> made = offersOf("a", "b", "c");
    for (Frame.Offer offer : made) {
      narrow.pull(entriesOf(offer), 0);
    }
    assertThat(entries()).containsExactly("a");
    assertThat(window.bytes).isPositive();
    assertThat(narrow.dueNanos()).isPositive();
    Frame.Offer first = made.getFirst();
    narrow.pull(
        new Frame.Pull(
            first.epoch(), first.number(), first.object(), false, EntryKey.NONE, List.of(1)),
        0);
    assertThat(entries()).as("others have waited for longer").containsExactly("b");
    narrow.pull(done(made.get(1)), 0);
    assertThat(narrow.dueNanos()).as("at once").isNegative();
    narrow.tick(1, left -> {}, 0);
    assertThat(entries()).containsExactly("c");
    narrow.interrupted();
    assertThat(window.bytes).isZero();
    assertThat(narrow.isPending()).isFalse();
  }

  private static final long SECOND = 1_000_000_000L;

  private void asks(Frame.Pull pull, long nanos) {
    window.give(window.bytes); // the others have given their bytes back
    narrow.pull(pull, nanos);
  }

  private Frame.Offer again(long nanos) {
    narrow.tick(1, left -> {}, nanos);
    Frame.Offer made = (Frame.Offer) sent.getLast();
    sent.clear();
    return made;
  }

  /** However long the answer is in flight: it arrives before the offers that were sent after it. */
  @Test
  void sameRequest_isAnsweredAgain_byWhoHeardWhatWasSaidAfterTheAnswer() {
    Frame.Offer first = offersOf("a").getFirst();
    Frame.Offer second = again(SECOND);
    assertThat(second.isSame(first)).isTrue();
    asks(entriesOf(first), 2 * SECOND);
    assertThat(entries()).containsExactly("a");
    asks(entriesOf(second), 60 * SECOND);
    assertThat(entries()).as("the answer may be under way").isEmpty();
    Frame.Offer third = again(61 * SECOND);
    asks(entriesOf(third), 61 * SECOND);
    assertThat(entries()).as("it was lost").containsExactly("a");
    asks(entriesOf(third), 62 * SECOND);
    assertThat(entries()).isEmpty();
  }

  /** The offer's number has few bits for the repetitions. */
  @Test
  void offerIsMadeAgain_aThousandTimes() {
    Frame.Offer made = offersOf("a").getFirst();
    for (int i = 1; i <= 1_000; i++) {
      asks(entriesOf(made), 20L * i * SECOND);
      assertThat(entries()).as("time %d", i).containsExactly("a");
      Frame.Offer next = again((20L * i + 10) * SECOND);
      assertThat(next.isSame(made)).isTrue();
      assertThat(next.number()).isNotEqualTo(made.number());
      made = next;
    }
  }

  /** A link that was bad may work again, though earlier answers took long. */
  @Test
  void whatIsLost_isSaidAgainSoon_thoughAnswersTookLong() {
    Frame.Offer offer = offersOf("a").getFirst();
    asks(
        new Frame.Pull(
            offer.epoch(), offer.number(), offer.object(), false, EntryKey.NONE, List.of()),
        0);
    asks(entriesOf(offer), 100 * SECOND);
    sent.clear();
    narrow.tick(1, left -> {}, 107 * SECOND);
    assertThat(sent).isEmpty();
    asks(entriesOf(again(108 * SECOND)), 108 * SECOND);
    assertThat(entries()).containsExactly("a");
  }

  /** Over a slow link the offer arrives behind the frames that were sent before. */
  @Test
  void offerThatCannotHaveCome_isNotGivenUp() {
    narrow.sent(7);
    Frame.Offer offer = offersOf("a").getFirst();
    narrow.sent(8);
    narrow.came(6);
    for (int i = 1; i <= 50; i++) {
      assertThat(again(10L * i * SECOND).isSame(offer)).isTrue();
    }
    narrow.came(7);
    List<ObjectId> left = new ArrayList<>();
    for (int i = 51; i <= 100; i++) {
      narrow.tick(1, left::add, 10L * i * SECOND);
    }
    assertThat(left).containsExactly(offer.object());
  }

  /** It is not repeated every second: each repetition takes bytes of the link, and is answered. */
  @Test
  void offerThatCannotHaveCome_isMadeAgainLaterEachTime() {
    narrow.sent(7);
    Frame.Offer offer = offersOf("a").getFirst();
    for (int second = 1; second <= 100; second++) {
      narrow.tick(1, left -> {}, second * SECOND);
    }
    assertThat(sent).hasSize(3 + (100 - 7) / 8);
    assertThat(((Frame.Offer) sent.getLast()).isSame(offer)).isTrue();
  }

  /** The answer waits here, not for the peer; but the peer must not take its pull for forgotten. */
  @Test
  void whatIsAskedFor_isOfferedAgainSeldom_andNotGivenUp() {
    List<Frame.Offer> made = offersOf("a", "b");
    made.forEach(offer -> narrow.pull(entriesOf(offer), 0));
    assertThat(entries()).containsExactly("a");
    narrow.tick(1, left -> {}, SECOND - 1);
    assertThat(sent).isEmpty();
    narrow.tick(1, left -> {}, SECOND);
    assertThat(sent).hasSize(1);
    assertThat(((Frame.Offer) sent.getFirst()).isSame(made.getFirst())).isTrue();
    sent.clear();
    for (int i = 1; i <= 20; i++) {
      window.bytes = 1_000; // bytes of other streams
      narrow.tick(
          1, left -> assertThat(left).isEqualTo(made.getFirst().object()), (1 + 8L * i) * SECOND);
      assertThat(sent).anyMatch(frame -> ((Frame.Offer) frame).isSame(made.get(1)));
      sent.clear();
    }
    assertThat(narrow.isPending(made.get(1).object())).isTrue();
  }

  /** Otherwise a lost answer would take the window's room of its own repetition. */
  @Test
  void answerThatIsGivenAgain_takesItsPartOfTheWindowOnce() {
    narrow.pull(entriesOf(offersOf("a").getFirst()), 0);
    long once = window.bytes;
    narrow.pull(entriesOf(again(SECOND)), SECOND);
    assertThat(entries()).containsExactly("a");
    assertThat(window.bytes).isEqualTo(once);
  }
}
