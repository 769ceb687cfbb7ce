package io.osier.propagation.repair;

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
import io.osier.propagation.host.ObjectAccess;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.pull.PeerAnswer;
import io.osier.propagation.receive.ReceivedVector;
import io.osier.propagation.receive.UpdateApplier;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frames;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RepairerTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId PEER = new ReplicaId("us", 1);
  private static final int ORIGINS = 7;
  private static final long SECOND = 1_000_000_000;

  private static final ObjectAccess EMPTY =
      new TestSurroundings.Objects() {
        @Override
        public void apply(Shipment update, CrdtState joined) {}
      };

  private final List<Frame.Heal> asked = new ArrayList<>();
  private final ReceivedVector knowledge =
      new ReceivedVector(SELF, List.of("us", "ap"), RecoveredState.NOTHING, () -> 0);
  private final Repairer repairer = repairer(4 << 10);

  private Repairer repairer(int windowBytes) {
    ReplicationContext around =
        new ReplicationContext(
            SELF,
            List.of("us", "ap"),
            KeyspacePolicy.session("k", Duration.ofSeconds(1)),
            new StreamSettings(windowBytes, 2 << 10, 1_000, 200, 1_000, 0),
            RecoveredState.NOTHING,
            EMPTY,
            (to, frame) -> asked.add((Frame.Heal) frame),
            UpdateObserver.NONE);
    UpdateApplier applier = new UpdateApplier(knowledge, EMPTY, update -> {}, UpdateObserver.NONE);
    AtomicLong numbers = new AtomicLong();
    return new Repairer(around, knowledge, applier, numbers::incrementAndGet, origin -> true);
  }

  private void statusComes(long changes) {
    TreeMap<ReplicaId, Long> counts = new TreeMap<>();
    for (int i = 1; i <= ORIGINS; i++) {
      counts.put(new ReplicaId("ap", i), changes);
    }
    knowledge.status(PEER, Frames.status(false, VersionVector.EMPTY, VersionVector.of(counts), 0));
  }

  private void check(long nanos) {
    repairer.check(PEER, nanos, origin -> false, nanos);
  }

  /** Answers the request: there is nothing more, up to the place of the status. */
  private void answer(Frame.Heal request, long changes, long nanos) {
    answer(request, changes, 0, nanos);
  }

  private void answer(Frame.Heal request, long changes, long through, long nanos) {
    assertThat(received(request, changes, through, nanos)).as("waited for").isTrue();
    repairer.takeDone(nanos);
  }

  private boolean received(Frame.Heal request, long changes, long nanos) {
    return received(request, changes, 0, nanos);
  }

  private boolean received(Frame.Heal request, long changes, long through, long nanos) {
    return repairer.received(
        PEER,
        PeerAnswer.of(
            new Frame.States(
                request.request(),
                Optional.of(request.origin()),
                Optional.empty(),
                through,
                new Frame.Place(1, changes),
                VersionVector.EMPTY,
                List.of())),
        nanos);
  }

  /**
   * Simulator, seed 315: the answers of fourteen former incarnations kept a narrow link busy for
   * half a minute, and the stream waited behind them.
   */
  @Test
  void asksForNoMoreAtOnceThanTheStreamsMayHaveUnderWay() {
    statusComes(5);
    check(SECOND);
    assertThat(asked).hasSize(2); // 4 KiB in pages of 2 KiB
    check(2 * SECOND - 1);
    assertThat(asked).hasSize(2);
  }

  /** A page holds at least one object, which may be as large as many frames. */
  @Test
  void asksForNoMoreAtOnce_whereAPageIsHeavy() {
    Repairer wide = repairer(ORIGINS * (2 << 10));
    statusComes(5);
    wide.check(PEER, SECOND, origin -> false, SECOND);
    assertThat(origins()).as("nothing is known of its pages").isEqualTo(4);
    page(wide, 6 << 10);
    wide.check(PEER, SECOND, origin -> false, SECOND);
    assertThat(origins()).as("two are as much as the window").isEqualTo(4);
    for (int i = 0; i < 40; i++) {
      page(wide, 1);
    }
    wide.check(PEER, SECOND, origin -> false, SECOND);
    assertThat(origins()).isEqualTo(ORIGINS);
  }

  private long origins() {
    return asked.stream().map(Frame.Heal::origin).distinct().count();
  }

  /** Answers the last request with a page of this many bytes, which is not the last page. */
  private void page(Repairer of, int bytes) {
    Frame.Heal request = asked.getLast();
    CrdtState empty = CrdtState.bottom(CrdtType.LWW_REGISTER);
    Operation assign = new Operation.Assign(Value.of("v".repeat(bytes)));
    ObjectId object = new ObjectId(Key.of("k"), CrdtType.LWW_REGISTER);
    CrdtState state = empty.prepare(assign, request.origin(), 1, 0, 0, 0);
    Shipment one = new Shipment(object, request.origin(), 0, VersionVector.EMPTY, 1, 0, 0, state);
    Frame.States states =
        new Frame.States(
            request.request(),
            Optional.of(request.origin()),
            Optional.of(new Frame.Page(new Frame.Place(1, 1), Optional.of(object))),
            0,
            new Frame.Place(1, 1),
            VersionVector.EMPTY,
            List.of(one));
    assertThat(of.received(PEER, PeerAnswer.of(states), SECOND)).isTrue();
    List<Frame.States> unused = of.takeDone(SECOND);
  }

  @Test
  void everyOriginHasItsTurn_howeverOftenTheFirstOnesChange() {
    long now = SECOND;
    for (int round = 1; round <= ORIGINS; round++) {
      statusComes(round);
      int before = asked.size();
      check(now);
      for (Frame.Heal request : List.copyOf(asked.subList(before, asked.size()))) {
        answer(request, round, now);
      }
      now += 2 * SECOND;
    }
    assertThat(asked.stream().map(Frame.Heal::origin).distinct()).hasSize(ORIGINS);
  }

  /**
   * Simulator, 5 datacenters, seed 175: a newcomer's first link was a narrow one, over which it
   * requested everything of all origins. The others' own streams had long brought theirs, and the
   * updates that only that peer had waited behind the rest for a minute.
   */
  @Test
  void isGivenUp_onceTheOriginShipsByItself() {
    statusComes(5);
    check(0);
    assertThat(asked).hasSize(2);
    repairer.check(PEER, 0, origin -> true, SECOND / 2);
    repairer.check(PEER, 0, origin -> true, SECOND);
    assertThat(givenUp(SECOND)).as("not at once: its link may be down again").isEmpty();
    assertThat(givenUp(3 * SECOND)).hasSize(2);
    assertThat(received(asked.getFirst(), 5, 3 * SECOND)).as("waited for").isFalse();
  }

  @Test
  void goesOn_ifTheOriginIsOutOfReachAgain() {
    statusComes(5);
    check(0);
    repairer.check(PEER, 0, origin -> true, SECOND / 2);
    repairer.check(PEER, 0, origin -> false, SECOND);
    assertThat(givenUp(3 * SECOND)).isEmpty();
    repairer.check(PEER, 0, origin -> true, 3 * SECOND);
    assertThat(givenUp(3 * SECOND + SECOND / 2)).isEmpty();
    assertThat(received(asked.getFirst(), 5, 3 * SECOND)).as("waited for").isTrue();
  }

  /**
   * Simulator, seed 1: the one before it in the map was told of, and what had come of that one was
   * dropped, while its repair went on and closed its cut without it.
   */
  @Test
  void whoIsGivenUp_isToldOf() {
    for (int i = 1; i <= ORIGINS; i++) {
      ReplicaId one = new ReplicaId("ap", i);
      Repairer many = repairer(ORIGINS * (2 << 10));
      statusComes(5);
      many.check(PEER, 0, origin -> false, 0);
      page(many, 1);
      many.check(PEER, 0, origin -> false, 0);
      many.check(PEER, 0, one::equals, SECOND / 2);
      assertThat(givenUp(many, 3 * SECOND)).containsExactly(one);
    }
  }

  /**
   * Simulator, 5 datacenters, seed 165: three updates of a former incarnation had left nothing to
   * ship, so they were never requested, and in a causal keyspace nothing became visible any more
   * that depended on them.
   */
  @Test
  void whatLeftNothing_isAskedForOnce() {
    ReplicaId origin = new ReplicaId("ap", 1);
    for (int round = 1; round <= 3; round++) { // it may make more updates of that kind
      long now = round * 10L * SECOND;
      knowledge.status(
          PEER, Frames.status(false, VersionVector.of(origin, 3L * round), VersionVector.EMPTY, 0));
      assertThat(repairer.isDone(PEER, origin)).isFalse();
      check(now);
      assertThat(asked).hasSize(round);
      answer(asked.getLast(), 0, 3L * round, now);
      assertThat(repairer.isDone(PEER, origin)).isTrue();
      check(now + 5 * SECOND);
      assertThat(asked).hasSize(round);
    }
  }

  private List<ReplicaId> givenUp(long nanos) {
    return givenUp(repairer, nanos);
  }

  private static List<ReplicaId> givenUp(Repairer repairer, long nanos) {
    List<ReplicaId> origins = new ArrayList<>();
    repairer.giveUp(nanos, (peer, origin) -> origins.add(origin));
    return origins;
  }
}
