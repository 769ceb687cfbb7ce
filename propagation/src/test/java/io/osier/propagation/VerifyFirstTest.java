package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store that may have lost something is compared with a peer before the peer's stream is taken.
 */
final class VerifyFirstTest {
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("o"), CrdtType.AW_SET);
  private static final ReplicaId ADDED = new ReplicaId("ap", 1);
  private static final int RETRY_MILLIS = StreamSettings.DEFAULT.retryMillis();

  private final List<Frame> sent = new ArrayList<>();
  private CrdtState state = CrdtState.bottom(OBJECT.type());
  private long nowMillis;

  /** The second life of a store, which does not go on where the first one ended. */
  private Propagation propagation = propagation(KeyspacePolicy.session("k", Duration.ofSeconds(1)));

  private Propagation propagation(KeyspacePolicy policy) {
    return new Propagation(
        TestSurroundings.of(
            policy,
            StreamSettings.DEFAULT,
            TestSurroundings.recovered(2, false, 0),
            new OneObject(),
            (to, frame) -> {
              if (frame instanceof Frame.Verify || frame instanceof Frame.Resume) {
                sent.add(frame);
              }
            }),
        0);
  }

  private final class OneObject extends TestSurroundings.Objects {
    @Override
    public CrdtState state(ObjectId object) {
      return state;
    }

    @Override
    public void apply(Shipment update, CrdtState joined) {
      state = joined;
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      return after.isEmpty() ? List.of(new Entry(OBJECT, state)) : List.of();
    }
  }

  private void received(Frame frame) {
    propagation.received(PEER, frame, nowMillis * 1_000_000, nowMillis);
  }

  private void up() {
    propagation.peerUp(PEER, nowMillis * 1_000_000);
  }

  /** Has the peer report this many times that it waits for the request of its stream. */
  private void waits(int times) {
    for (int i = 0; i < times; i++) {
      nowMillis += RETRY_MILLIS;
      received(Frames.status(true, 0, 0, nowMillis));
      propagation.tick(nowMillis * 1_000_000, nowMillis);
    }
  }

  @Test
  void verifies_thenResumes() {
    up();
    assertThat(sent).singleElement().isInstanceOf(Frame.Verify.class);
    Frame.Verify asked = (Frame.Verify) sent.removeFirst();
    received(new Frame.Verified(asked.request(), OBJECT, List.of(), VersionVector.EMPTY));
    assertThat(sent).singleElement().isInstanceOf(Frame.Resume.class);
  }

  /** At once, or, in a causal keyspace, when its dependencies are here. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatThePeerHasMoreOf_isVisible(boolean causal) {
    if (causal) {
      propagation = propagation(KeyspacePolicy.causal("k", Duration.ofSeconds(1)));
    }
    up();
    Operation add = new Operation.Add(List.of(Value.of("x")));
    CrdtState more = state.join(state.prepare(add, PEER, 3, 0, 1, 0));
    Shipment shipment = new Shipment(OBJECT, PEER, 0, VersionVector.EMPTY, 3, 0, 0, more);
    Frame.Verify asked = (Frame.Verify) sent.removeFirst();
    received(new Frame.Verified(asked.request(), OBJECT, List.of(shipment), VersionVector.EMPTY));
    assertThat(state).isEqualTo(more);
  }

  /**
   * The peer may be heard long before frames can be sent to it. Requests that could not be sent
   * were repeated ever more seldom, so that none was sent when the link came up.
   */
  @Test
  void heardBeforeTheLinkIsUp_asksWhenItIs() {
    waits(20);
    assertThat(sent).isEmpty();
    up();
    assertThat(sent).singleElement().isInstanceOf(Frame.Verify.class);
  }

  /** The link was not cut: the peer waits until it has answered. */
  @Test
  void peerThatWaits_isNotAskedAgainEachTimeItSaysSo() {
    up();
    for (int i = 0; i < 5; i++) {
      nowMillis++;
      received(Frames.status(true, 0, 0, nowMillis));
      propagation.tick(nowMillis * 1_000_000, nowMillis);
    }
    assertThat(sent).hasSize(1);
  }

  /**
   * The peer's stream had begun before it was no peer for a time; another peer is still to be
   * verified.
   */
  @Test
  void peerThatIsBack_isNotAskedAgainEachTimeItWaits() {
    propagation.setPeers(List.of("ap", "us"), 0);
    verifies_thenResumes();
    long epoch = ((Frame.Resume) sent.removeFirst()).epoch();
    Optional<Frame.Cursor> cursor = Optional.of(new Frame.Cursor(1, 0, 0, 0, Optional.empty()));
    received(Frames.updates(Frame.Kind.CATCH_UP, epoch, 1, 0, cursor, 0, List.of()));
    propagation.setPeers(List.of("ap"), 0);
    propagation.setPeers(List.of("ap", "us"), 0);
    sent.clear();
    peerThatWaits_isNotAskedAgainEachTimeItSaysSo();
  }

  @Test
  void linkCameBack_asksAnew() {
    up();
    waits(20);
    propagation.peerDown(PEER.dc(), nowMillis * 1_000_000);
    sent.clear();
    waits(20);
    assertThat(sent).isEmpty();
    up();
    assertThat(sent).singleElement().isInstanceOf(Frame.Verify.class);
  }

  @Test
  void linkThatBreaks_beforeItIsAnswered_asksAtOnceWhenItIsBack() {
    up();
    propagation.peerDown(PEER.dc(), 0);
    sent.clear();
    up();
    assertThat(sent).singleElement().isInstanceOf(Frame.Verify.class);
  }

  /** A configuration may name no peers: then the control plane names them. */
  @Test
  void whoIsAddedBeforeAllAreVerified_isVerified_andWhoComesLaterNeedNot() {
    propagation.setPeers(List.of(), 0);
    propagation.setPeers(List.of("us"), 0);
    assertThat(propagation.isVerified()).isFalse();
    verifies_thenResumes();
    assertThat(propagation.isVerified()).isTrue();
    sent.clear();
    propagation.setPeers(List.of("ap", "us"), 0);
    propagation.peerUp(ADDED, 0);
    assertThat(sent).singleElement().isInstanceOf(Frame.Resume.class);
  }
}
