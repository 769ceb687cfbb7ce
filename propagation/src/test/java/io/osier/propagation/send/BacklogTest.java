package io.osier.propagation.send;

import static io.osier.propagation.host.TestSurroundings.SELF;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.ObjectAccess;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A scan of objects that must be read from a disk first. */
final class BacklogTest {
  private static final ObjectId OBJECT = new ObjectId(Key.of("k"), CrdtType.PN_COUNTER);
  private static final CrdtState STATE =
      CrdtState.bottom(OBJECT.type()).prepare(new Operation.Increment(1), SELF, 1, 0, 1, 0);

  private boolean isRead;

  /** The number up to which the store has dropped the log. */
  private long loggedAfter;

  /** The last of the log's entries. */
  private static final long FORMER = 10;

  private final ObjectAccess replica =
      new TestSurroundings.Objects() {
        @Override
        public CrdtState state(ObjectId object) {
          return STATE;
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
        public long loggedAfter() {
          return loggedAfter;
        }
      };

  private final Backlog backlog =
      UnofferedBacklog.of(
          TestSurroundings.of(
              KeyspacePolicy.session("k", Duration.ofSeconds(1)), RecoveredState.NOTHING, replica),
          new OutboundLog(0, new Budget("trails", 1 << 20)));

  /**
   * Returns a backlog of a datacenter whose former life left a log of everything that it had
   * committed.
   */
  private Backlog ofSecondLife() {
    RecoveredState recovered = TestSurroundings.recovered(2, true, FORMER);
    return UnofferedBacklog.of(
        TestSurroundings.of(KeyspacePolicy.session("k", Duration.ofSeconds(1)), recovered, replica),
        new OutboundLog(FORMER, new Budget("trails", 1 << 20)));
  }

  private static Frame.Resume fromTheStart() {
    return new Frame.Resume(1, 0, Optional.of(new Frame.Cursor(1, 0, 0, 0, Optional.empty())));
  }

  /**
   * The peer was away for more updates than the log keeps, and the rest was dropped in this life:
   * it never got the dropped ones (simulator, seed 165 of five datacenters).
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void logThatWasDroppedInThisLife_isNoLogToGoOnWith(boolean beforeThePeerCame) {
    Backlog late = ofSecondLife();
    isRead = true;
    loggedAfter = beforeThePeerCame ? 5 : loggedAfter;
    late.goTo(fromTheStart());
    loggedAfter = 5;
    List<Shipment> shipments = new ArrayList<>();
    assertThat(late.isAtHand()).isTrue();
    late.read(shipments, 0);
    assertThat(shipments).as("what a scan finds").hasSize(1);
  }

  /** A frame that leaves meanwhile would say that everything was sent: simulator, seed 163. */
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
