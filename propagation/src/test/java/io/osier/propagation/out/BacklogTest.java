package io.osier.propagation.out;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Budget;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.propagation.host.PropagationStats;
import io.osier.propagation.host.Recovered;
import io.osier.propagation.host.Replica;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A scan of objects that must be read from a disk first. */
final class BacklogTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ObjectId OBJECT = new ObjectId(Key.of("k"), CrdtType.PN_COUNTER);
  private static final Causal STATE =
      Causal.bottom(OBJECT.type()).prepare(new Operation.Increment(1), SELF, 1, 0, 1, 0);

  private boolean isRead;

  private final Replica replica =
      new Replica() {
        @Override
        public Causal state(ObjectId object) {
          return STATE;
        }

        @Override
        public void apply(Shipment update, Causal joined) {
          throw new AssertionError("nothing is applied");
        }

        @Override
        public List<Entry> scan(Optional<ObjectId> after, int limit) {
          return after.isEmpty() ? List.of(new Entry(OBJECT, STATE)) : List.of();
        }

        @Override
        public Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
          return isRead ? Optional.of(new Page(scan(after, limit), false)) : Optional.empty();
        }

        @Override
        public List<Logged> logged(long after, int limit) {
          return List.of();
        }
      };

  private final Backlog backlog =
      new Backlog(
          new Surroundings(
              SELF,
              List.of("us"),
              KeyspacePolicy.session("k", Duration.ofSeconds(1)),
              StreamSettings.DEFAULT,
              Recovered.NOTHING,
              replica,
              (dc, frame) -> {},
              new PropagationStats(),
              UpdateObserver.NONE),
          new OutboundLog(0, new Budget("trails", 1 << 20)));

  /** A frame that leaves meanwhile would say that all is done: simulator, seed 163. */
  @Test
  void scanOfWhichNothingWasReadYet_isNoPlaceToGoOnFrom() {
    backlog.goTo(new Frame.Resume(1, 0, Optional.empty()));
    assertThat(backlog.isAtHand()).isFalse();
    assertThat(backlog.cursor()).isEmpty();

    isRead = true;
    assertThat(backlog.isAtHand()).isTrue();
    List<Shipment> shipments = new ArrayList<>();
    assertThat(backlog.read(shipments, 0)).isTrue();
    assertThat(shipments).hasSize(1);
    assertThat(backlog.cursor().flatMap(Frame.Cursor::scanned)).contains(OBJECT);
  }
}
