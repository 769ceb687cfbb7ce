package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Budget;
import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a frame does that no transcript shows. */
final class FrameHandlersTest {
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("o"), CrdtType.AW_SET);

  private final List<Frame> sent = new ArrayList<>();
  private final List<String> wantRights = new ArrayList<>();
  private long nowMillis = 1_000_000;

  private final Propagation propagation =
      new Propagation(
          new ReplicaId("eu", 1),
          List.of("ap", "us"),
          KeyspacePolicy.session("k", Duration.ofSeconds(1)),
          StreamSettings.DEFAULT,
          RecoveredState.NOTHING,
          new Objects(),
          (to, frame) -> sent.add(frame),
          UpdateObserver.NONE,
          nowMillis * 1_000_000);

  private final class Objects extends TestSurroundings.Objects {
    @Override
    public void apply(Shipment update, CrdtState joined) {}

    @Override
    public void rightsWanted(String dc, Frame.Rights wanted) {
      wantRights.add(dc + " " + wanted.amount());
    }
  }

  private void up(ReplicaId peer) {
    propagation.peerUp(peer, nowMillis * 1_000_000);
  }

  private void receive(ReplicaId from, Frame frame) {
    propagation.received(from, frame, nowMillis * 1_000_000, nowMillis);
  }

  private <F extends Frame> F last(Class<F> kind) {
    return sent.stream().filter(kind::isInstance).map(kind::cast).reduce((a, b) -> b).orElseThrow();
  }

  private long relayedBytes() {
    return propagation.memory().stream()
        .filter(usage -> usage.name().equals("relays"))
        .mapToLong(Budget.Usage::used)
        .sum();
  }

  /** Its first update. */
  private void usShips(VersionVector needs) {
    CrdtState none = CrdtState.bottom(OBJECT.type());
    CrdtState delta = none.prepare(new Operation.Clear(), US, 1, 0, 1, 0);
    Shipment update = new Shipment(OBJECT, US, 0, needs, 1, 1, 0, delta);
    receive(
        US,
        new Frame.Updates(
            Frame.Kind.OPS,
            last(Frame.Resume.class).epoch(),
            1,
            1,
            VersionVector.EMPTY,
            Optional.empty(),
            false,
            nowMillis,
            List.of(update)));
  }

  /** Each retry's time the peer is heard. */
  private void passes(int retries) {
    for (int i = 0; i < retries; i++) {
      nowMillis += StreamSettings.DEFAULT.retryMillis();
      has(US, VersionVector.of(US, 1));
      propagation.tick(nowMillis * 1_000_000, nowMillis);
    }
  }

  private void has(ReplicaId peer, VersionVector through) {
    VersionVector none = VersionVector.EMPTY;
    receive(peer, new Frame.Status(false, 0, 0, through, 1, none, 0, false, nowMillis));
  }

  @Test
  void whoWantsRights_isHeard() {
    up(US);
    receive(US, new Frame.Rights(OBJECT, 7, true));
    assertThat(wantRights).containsExactly("us 7");
  }

  /** Whoever offers holds what it offered until it hears that it need not. */
  @Test
  void offerThatBelongsToNoQuestion_isDeclined() {
    up(US);
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
    receive(US, new Frame.StatesAndOffer(states, offer));
    Frame.Pull declined = last(Frame.Pull.class);
    assertThat(declined.done()).isTrue();
    assertThat(declined.number()).isEqualTo(512);
  }

  @Test
  void whatIsRelayed_isForgotten_whenAllSayThatTheyHaveIt() {
    up(US);
    up(AP);
    usShips(VersionVector.EMPTY);
    assertThat(relayedBytes()).isPositive();
    has(US, VersionVector.of(US, 1));
    assertThat(relayedBytes()).as("ap may lack it").isPositive();
    has(AP, VersionVector.of(US, 1));
    assertThat(relayedBytes()).isZero();
  }

  /** What is not answered is asked ever more seldom, but where it was lost with the link. */
  @Test
  void whatWasFetchedInVain_isFetchedAgain_whenTheLinkIsBack() {
    up(US);
    usShips(VersionVector.of(AP, 1));
    passes(40);
    sent.clear();
    passes(1);
    assertThat(sent).noneMatch(Frame.Fetch.class::isInstance);
    propagation.peerDown("us", nowMillis * 1_000_000);
    up(US);
    passes(1);
    assertThat(last(Frame.Fetch.class).objects()).containsExactly(OBJECT);
  }
}
