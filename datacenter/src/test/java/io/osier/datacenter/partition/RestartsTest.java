package io.osier.datacenter.partition;

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
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.WritesAtOnce;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.testing.Partitions;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a partition with a store knows of its former lives, of which some ended too early. */
final class RestartsTest {
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("o"), CrdtType.PN_COUNTER);

  private final MemoryVersions versions = new MemoryVersions();
  private final List<Frame> sent = new ArrayList<>();
  private PartitionStore store = open(1);
  private Partition partition = start(1, 1, false);
  private long nanos = 1;

  private PartitionStore open(long incarnation) {
    return Partitions.store(
        versions, new WritesAtOnce(versions::write), new ReplicaId("eu", incarnation));
  }

  private Partition start(long life, long incarnation, boolean resumed) {
    ReplicaId self = new ReplicaId("eu", incarnation);
    store = open(incarnation);
    RecoveredState recovered = store.recover(life, resumed, List.of());
    PartitionConfig config =
        Partitions.config(
            self, List.of("us", "ap"), KeyspacePolicy.session("k", Duration.ofSeconds(1)));
    return new Partition(config, store, recovered, now());
  }

  private Now now() {
    return new Now(nanos, 1 + nanos / 1_000_000);
  }

  private void input(Input input) {
    Effects effects = partition.step(input, now());
    effects.keep(store, () -> {});
    for (Effects.Output output : effects.whenDurable()) {
      if (output instanceof Effects.Send s) {
        sent.add(s.frame());
      }
    }
  }

  private void tick(long millis) {
    nanos += millis * 1_000_000;
    input(new Input.Tick());
  }

  private <F extends Frame> F sent(Class<F> type) {
    assertThat(sent).hasAtLeastOneElementOfType(type);
    return type.cast(sent.stream().filter(type::isInstance).findFirst().orElseThrow());
  }

  /** The peer's link comes up, and it has nothing that is not here. */
  private void up(ReplicaId peer) {
    up(peer, 0);
  }

  /**
   * The peer's link comes up.
   *
   * @param committed how far its updates go
   */
  private void up(ReplicaId peer, long committed) {
    sent.clear();
    input(new Input.PeerUp(peer));
    VersionVector none = VersionVector.EMPTY;
    input(
        new Input.FromPeer(
            peer, new Frame.Status(true, 0, 0, none, 1, none, committed, false, nanos)));
  }

  /** A partition with one object whole, of what it had. */
  private void startMended() {
    ObjectId object = new ObjectId(Key.of("whole"), CrdtType.EW_FLAG);
    ReplicaId former = new ReplicaId("eu", 1);
    CrdtState none = CrdtState.bottom(object.type());
    CrdtState state = none.join(none.prepare(new Operation.SetFlag(true), former, 1, 0, 1, 0));
    StoredState mended =
        new StoredState(
            former, 0, 1, 1, 0, VersionVector.EMPTY, Map.of(), false, false, Forgetting.UNKNOWN);
    versions.write(
        List.of(
            new Change.PutTypes(Set.of(object.type())),
            new Change.PutInPlace(object, state, true),
            new Change.PutState(mended)));
    partition = start(2, 2, false);
    for (int i = 0; i < 100; i++) {
      tick(1_000);
    }
  }

  /** Of what was damaged nothing is here, which is not to be taken for its absence. */
  @Test
  void partitionThatWasMended_isNotReady_beforeAnyPeerWasHeard() {
    startMended();
    assertThat(partition.isReady()).isFalse();
    up(new ReplicaId("us", 1));
    tick(1_000);
    assertThat(partition.isReady()).as("the other one is not waited for").isTrue();
  }

  /** Others wait no longer for a peer that is cut, and what it had is read as absent then. */
  @Test
  void partitionThatWasMended_isNotReady_beforeOnePeerGaveAll() {
    startMended();
    hasFive(US);
    input(new Input.PeerUp(US));
    tick(1_000);
    input(new Input.PeerDown("us"));
    for (int i = 0; i < 100; i++) {
      tick(1_000);
    }
    assertThat(partition.isReady()).isFalse();
    upWithWhatIsMissing();
    tick(0);
    assertThat(partition.isReady()).isTrue();
    partition = start(3, 2, false);
    tick(10_000);
    assertThat(partition.isReady()).as("was served already").isTrue();
  }

  /** What one origin has given says nothing of the others. */
  @Test
  void partitionThatWasMended_andStoppedWhileItFetched_isNotReadyAlone() {
    startMended();
    ReplicaId former = new ReplicaId("eu", 1);
    VersionVector has = VersionVector.of(US, 5).with(former, 3);
    VersionVector none = VersionVector.EMPTY;
    input(new Input.FromPeer(US, new Frame.Status(true, 0, 0, has, 1, none, 5, false, nanos)));
    upWithWhatIsMissing();
    tick(1_000);
    assertThat(partition.isReady()).isFalse();
    partition = start(3, 2, true);
    for (int i = 0; i < 100; i++) {
      tick(1_000);
    }
    assertThat(partition.isReady()).isFalse();
    assertThat(store.recover(4, true, List.of()).through()).isEqualTo(VersionVector.EMPTY);
  }

  /** Updates 1 to 5 of us, of which nothing is left. */
  private void upWithWhatIsMissing() {
    up(US, 5);
    long request = sent(Frame.Verify.class).request();
    ObjectId whole = new ObjectId(Key.of("whole"), CrdtType.EW_FLAG);
    input(
        new Input.FromPeer(US, new Frame.Verified(request, whole, List.of(), VersionVector.EMPTY)));
    catchUp(US);
  }

  /** Nobody has more than is here: an operator has given up the others. */
  @Test
  void partitionThatWasMended_isReady_onceThereIsNoPeerAnyMore() {
    startMended();
    input(new Input.Peers(2, List.of("us"), List.of(), false, 0));
    tick(1_000);
    assertThat(partition.isReady()).isFalse();
    input(new Input.Peers(3, List.of(), List.of(), false, 0));
    tick(1_000);
    assertThat(partition.isReady()).isTrue();
  }

  /** Other partitions were recovered meanwhile, say, and nobody was dialled before. */
  @Test
  void partition_waitsForPeersFromWhenTheyAreDialled_orOneIsInReach() {
    partition = start(2, 2, false);
    nanos += Partition.JOIN_NANOS;
    input(new Input.Await());
    tick(0);
    assertThat(partition.isReady()).as("they are dialled now").isFalse();
    nanos += Partition.JOIN_NANOS - 1;
    input(new Input.Await());
    nanos += Partition.JOIN_NANOS - 1;
    tick(0);
    assertThat(partition.isReady()).as("one had been in reach").isFalse();
    nanos += 1;
    tick(0);
    assertThat(partition.isReady()).isTrue();
    input(new Input.Await());
    tick(0);
    assertThat(partition.isReady()).as("it serves").isTrue();
  }

  /** The peer knows no more of any object than is here. */
  private void verified(ReplicaId peer) {
    up(peer);
    long request = sent(Frame.Verify.class).request();
    sent.clear();
    input(
        new Input.FromPeer(
            peer, new Frame.Verified(request, OBJECT, List.of(), VersionVector.EMPTY)));
    sent(Frame.Resume.class);
  }

  private void writeOne() {
    tick(Partition.JOIN_NANOS / 1_000_000);
    input(
        new Input.Command(
            1, Requests.write("k", OBJECT.key(), OBJECT.type(), new Operation.Increment(1))));
    assertThat(store.size()).isEqualTo(1);
  }

  @Test
  void comparison_thatALifeDidNotEnd_isDoneByTheNext() {
    writeOne();
    partition = start(2, 2, false);
    verified(US);
    tick(0);
    assertThat(partition.isReady()).isFalse();

    partition = start(3, 2, true);
    assertThat(partition.isReady()).isFalse();
    verified(US);
    verified(AP);
    tick(0);
    assertThat(partition.isReady()).isTrue();

    partition = start(4, 2, true);
    assertThat(partition.isReady()).isTrue();
    up(AP);
    assertThat(sent).doesNotHaveAnyElementsOfTypes(Frame.Verify.class);
    sent(Frame.Resume.class);
  }

  /** A partition reads a few of its large objects at a time, whoever is to be asked about them. */
  @Test
  void comparison_asksForAFewLargeObjects() {
    tick(Partition.JOIN_NANOS / 1_000_000);
    for (int i = 0; i < 100; i++) {
      input(
          new Input.Command(
              i,
              Requests.write(
                  "k",
                  Key.of("large" + i),
                  CrdtType.LWW_REGISTER,
                  new Operation.Assign(Value.of("v".repeat(200_000))))));
    }
    assertThat(store.size()).isEqualTo(100);
    partition = start(2, 2, false);
    up(US);
    assertThat(sent(Frame.Verify.class).objects()).hasSizeBetween(10, 50);
  }

  /** It serves, since nobody is heard for long; but who comes later may know what it lost. */
  @Test
  void comparison_isOwed_thoughThePartitionServed() {
    writeOne();
    partition = start(2, 2, false);
    tick(Partition.JOIN_NANOS / 1_000_000);
    assertThat(partition.isReady()).isTrue();
    partition = start(3, 2, true);
    verified(US);
  }

  @Test
  void newStore_thatHadNotCaughtUp_doesNotServeAfterARestart() {
    input(new Input.PeerUp(US));
    partition = start(2, 1, true);
    assertThat(partition.isReady()).isFalse();
    up(US);
    up(AP);
    tick(0);
    assertThat(partition.isReady()).isTrue();
    partition = start(3, 1, true);
    assertThat(partition.isReady()).as("it goes on").isTrue();
  }

  private void hasFive(ReplicaId peer) {
    VersionVector five = VersionVector.of(peer, 5);
    VersionVector none = VersionVector.EMPTY;
    input(new Input.FromPeer(peer, new Frame.Status(true, 0, 0, five, 1, none, 5, false, nanos)));
  }

  /** It is heard on its own connection, on which it cannot be asked. */
  @Test
  void newStore_waitsForAPeerThatIsHeardBeforeItIsDialled() {
    hasFive(US);
    hasFive(AP);
    tick(2_900);
    assertThat(partition.isReady()).isFalse();
    input(new Input.PeerUp(US));
    tick(10_000);
    assertThat(partition.isReady()).as("what us has comes").isFalse();
    upWithoutWhatItForgot(US);
    tick(0);
    assertThat(partition.isReady()).as("ap cannot be asked").isTrue();
  }

  /** Who does not know yet that this one's former life has ended lets it in late. */
  @Test
  void newStore_waitsForAPeerThatHasJustLetItIn() {
    tick(2_900);
    input(new Input.PeerUp(US));
    tick(2_900);
    assertThat(partition.isReady()).as("us has not told yet what it has").isFalse();
    hasFive(US);
    tick(200);
    assertThat(partition.isReady()).as("what us has comes").isFalse();
    upWithoutWhatItForgot(US);
    tick(0);
    assertThat(partition.isReady()).as("ap was never there").isTrue();
  }

  @Test
  void newStore_doesNotWaitForEver_forAPeerThatTellsNothing() {
    tick(2_900);
    input(new Input.PeerUp(US));
    tick(2_900);
    assertThat(partition.isReady()).isFalse();
    tick(200);
    assertThat(partition.isReady()).isTrue();
  }

  @Test
  void newStore_doesNotWaitForAPeer_whoseLinkIsGoneAgain() {
    tick(2_900);
    input(new Input.PeerUp(US));
    tick(50);
    input(new Input.PeerDown("us"));
    tick(100);
    assertThat(partition.isReady()).isTrue();
  }

  @Test
  void newStore_waitsForAPeerThatIsCutForAMoment() {
    up(AP);
    hasFive(US);
    input(new Input.PeerUp(US));
    tick(10_000);
    input(new Input.PeerDown("us"));
    tick(2_900);
    assertThat(partition.isReady()).isFalse();
    tick(200);
    assertThat(partition.isReady()).as("it cannot be asked").isTrue();
  }

  /** Not even its first group was written. */
  @Test
  void newStore_thatNothingWasWrittenTo_doesNotServeAfterARestart() {
    partition = start(2, 1, true);
    assertThat(partition.isReady()).isFalse();
  }

  /** The peer made an object and removed it, and has forgotten both. */
  private void upWithoutWhatItForgot(ReplicaId peer) {
    up(peer, 5);
    catchUp(peer);
  }

  private void catchUp(ReplicaId peer) {
    long epoch = sent(Frame.Resume.class).epoch();
    input(
        new Input.FromPeer(
            peer,
            new Frame.Updates(
                Frame.Kind.CATCH_UP,
                epoch,
                1,
                5,
                VersionVector.EMPTY,
                Optional.of(new Frame.Cursor(1, 0, 5, 5, Optional.empty())),
                false,
                nanos,
                List.of())));
  }

  /** A watcher may have been told elsewhere of what was forgotten before it came here. */
  @Test
  void whatOthersHaveForgotten_isMissedAfterARestart_too() {
    upWithoutWhatItForgot(US);
    up(AP);
    tick(0);
    VersionVector then = VersionVector.of(US, 5);
    assertThat(partition.forgotten()).contains(then);
    partition = start(2, 1, true);
    assertThat(partition.isReady()).isTrue();
    assertThat(partition.forgotten()).contains(then);
  }

  @Test
  void whatOthersHaveForgotten_isNotKnownAfterARestart_ifItWasNotBefore() {
    upWithoutWhatItForgot(US);
    tick(Partition.JOIN_NANOS / 1_000_000);
    assertThat(partition.isReady()).isTrue();
    assertThat(partition.forgotten()).as("ap may have forgotten more").isEmpty();
    partition = start(2, 1, true);
    assertThat(partition.isReady()).isTrue();
    assertThat(partition.forgotten()).isEmpty();
    up(US, 5);
    up(AP);
    tick(0);
    assertThat(partition.forgotten()).contains(VersionVector.of(US, 5));
    partition = start(3, 1, true);
    assertThat(partition.forgotten()).contains(VersionVector.of(US, 5));
  }

  @Test
  void whereNothingWasForgotten_thatIsKnownAfterARestart() {
    up(US);
    up(AP);
    tick(0);
    assertThat(partition.forgotten()).contains(VersionVector.EMPTY);
    writeOne();
    partition = start(2, 1, true);
    assertThat(partition.forgotten()).contains(VersionVector.EMPTY);
  }
}
