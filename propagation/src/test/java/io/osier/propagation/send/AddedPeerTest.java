package io.osier.propagation.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Frame.Cursor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * From which place on a datacenter is sent updates that becomes a peer while other peers are added.
 */
final class AddedPeerTest {
  private static final long COMMITTED = 7;

  private int scans;

  private final ReplicationContext around =
      TestSurroundings.of(
          KeyspacePolicy.session("k", Duration.ofSeconds(1)),
          TestSurroundings.recovered(2, true, COMMITTED),
          new TestSurroundings.Objects() {
            @Override
            public List<Entry> scan(Optional<ObjectId> after, int limit) {
              scans++;
              return List.of();
            }
          });

  private void goOn(OutboundLog log) {
    Backlog backlog =
        new Backlog(
            around,
            log,
            new StateOffers(frame -> {}, LinkWindow.NONE, around),
            log.mark(COMMITTED));
    Cursor ofTheLifeBefore = new Cursor(1, 3, 3, COMMITTED, Optional.empty());
    backlog.goTo(new Frame.Resume(1, COMMITTED, Optional.of(ofTheLifeBefore)));
    while (backlog.isAtHand() && backlog.read(new ArrayList<>(), 0)) {
      // to the end
    }
  }

  @Test
  void afterAStart_itIsNoReasonToScan_thatOthersTellOfAPeer() {
    goOn(new OutboundLog(COMMITTED, new Budget("trails", 1 << 20)));
    assertThat(scans).isZero();
  }

  @Test
  void whoWasNoneWhileSomethingWasCommitted_isGivenAllByAScan() {
    goOn(new OutboundLog(COMMITTED + 1, new Budget("trails", 1 << 20)));
    assertThat(scans).isPositive();
  }
}
