package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Frame;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a partition with a store knows of its former lives, of which some ended too early. */
final class RestartsTest extends RestartsFixture {
  private static final ObjectId OBJECT = new ObjectId(Key.of("o"), CrdtType.PN_COUNTER);

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
