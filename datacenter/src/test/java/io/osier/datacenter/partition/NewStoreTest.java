package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoredState;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A store that is new, or was mended, waits for its peers. */
final class NewStoreTest extends RestartsFixture {
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
}
