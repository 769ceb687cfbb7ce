package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The effects of frames that no transcript shows. */
final class FrameHandlersTest {
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("o"), CrdtType.AW_SET);

  private final List<String> wantRights = new ArrayList<>();
  private final Solo solo = new Solo(Solo.SESSION, new Objects(), "ap", "us");
  private final Propagation propagation = solo.propagation;

  private final class Objects extends TestSurroundings.Objects {
    @Override
    public void apply(Shipment update, CrdtState joined) {}

    @Override
    public void rightsWanted(String dc, Frame.Rights wanted) {
      wantRights.add(dc + " " + wanted.amount());
    }
  }

  private long relayedBytes() {
    return propagation.memory().stream()
        .filter(usage -> usage.name().equals("relays"))
        .mapToLong(Budget.Usage::used)
        .sum();
  }

  /** Has us ship its first update. */
  private void usShips(VersionVector needs) {
    CrdtState none = CrdtState.bottom(OBJECT.type());
    CrdtState delta = none.prepare(new Operation.Clear(), US, 1, 0, 1, 0);
    Shipment update = new Shipment(OBJECT, US, 0, needs, 1, 1, 0, delta);
    solo.receive(
        US,
        Frames.updates(
            Frame.Kind.OPS, solo.epoch(), 1, 1, Optional.empty(), solo.nowMillis, List.of(update)));
  }

  /** Lets this many retry intervals pass, in each of which the peer is heard. */
  private void passes(int retries) {
    for (int i = 0; i < retries; i++) {
      solo.nowMillis += StreamSettings.DEFAULT.retryMillis();
      has(US, VersionVector.of(US, 1));
      solo.tick();
    }
  }

  private void has(ReplicaId peer, VersionVector through) {
    VersionVector none = VersionVector.EMPTY;
    solo.receive(peer, Frames.status(false, through, none, solo.nowMillis));
  }

  @Test
  void whoWantsRights_isHeard() {
    solo.up(US);
    solo.receive(US, new Frame.Rights(OBJECT, 7, true));
    assertThat(wantRights).containsExactly("us 7");
  }

  /** A peer keeps a state that it has offered until it hears that nobody pulls it. */
  @Test
  void offerThatBelongsToNoQuestion_isDeclined() {
    solo.up(US);
    Frame.States states =
        new Frame.States(
            99,
            Optional.empty(),
            Optional.empty(),
            0,
            Frame.Place.NONE,
            VersionVector.EMPTY,
            List.of());
    EntryRanges.Head version = EntryRanges.Head.of(CausalContext.range(US, 0, 6));
    Frame.Offer offer = new Frame.Offer(Frame.Offer.OF_ANSWER, 512, OBJECT, version);
    solo.receive(US, new Frame.StatesAndOffer(states, offer));
    Frame.Pull declined = solo.sent(Frame.Pull.class).getLast();
    assertThat(declined.done()).isTrue();
    assertThat(declined.number()).isEqualTo(512);
  }

  @Test
  void whatIsRelayed_isForgotten_whenAllSayThatTheyHaveIt() {
    solo.up(US);
    solo.up(AP);
    usShips(VersionVector.EMPTY);
    assertThat(relayedBytes()).isPositive();
    has(US, VersionVector.of(US, 1));
    assertThat(relayedBytes()).as("ap may lack it").isPositive();
    has(AP, VersionVector.of(US, 1));
    assertThat(relayedBytes()).isZero();
  }

  /** An unanswered request is repeated ever more seldom, except if it was lost with the link. */
  @Test
  void whatWasFetchedInVain_isFetchedAgain_whenTheLinkIsBack() {
    solo.up(US);
    usShips(VersionVector.of(AP, 1));
    passes(40);
    solo.sent.clear();
    passes(1);
    assertThat(solo.sent).noneMatch(Frame.Fetch.class::isInstance);
    solo.down(US);
    solo.up(US);
    passes(1);
    assertThat(solo.sent(Frame.Fetch.class).getLast().objects()).containsExactly(OBJECT);
  }
}
