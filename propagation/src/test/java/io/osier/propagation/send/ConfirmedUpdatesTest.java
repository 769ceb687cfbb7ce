package io.osier.propagation.send;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.Timeliness;
import org.junit.jupiter.api.Test;

/** Ten updates a second apart, of 100 bytes each; earlier ones are of a former life. */
final class ConfirmedUpdatesTest {
  private static final long SECOND = 1_000_000_000;
  private static final long NEVER = -1;

  private final CommitTimes times = new CommitTimes(100, 0);
  private final ConfirmedUpdates peer = new ConfirmedUpdates(times, 100);

  ConfirmedUpdatesTest() {
    for (int i = 1; i <= 10; i++) {
      times.committed(100 + i, 100, i * SECOND);
    }
  }

  @Test
  void whatIsConfirmed_countsOnce_alsoIfItIsLostAndConfirmedAgain() {
    assertThat(peer.confirmed(90, NEVER)).as("of the former life").isZero();
    assertThat(peer.confirmed(104, NEVER)).isEqualTo(400);
    assertThat(peer.confirmed(0, NEVER)).as("it has lost all").isZero();
    assertThat(peer.confirmed(103, 9 * SECOND)).isZero();
    assertThat(peer.confirmed(106, NEVER)).isEqualTo(200);
    assertThat(peer.timeliness(NEVER, NEVER)).isEqualTo(new Timeliness(6, 0, 0));
  }

  @Test
  void late_isWhatIsConfirmedNow_andWasCommittedBeforeThat() {
    peer.confirmed(102, NEVER);
    // 103 to 107 are that old, of which the last two are not confirmed.
    peer.confirmed(105, 8 * SECOND);
    assertThat(peer.timeliness(NEVER, NEVER)).isEqualTo(new Timeliness(5, 3, 0));
    peer.confirmed(110, 7 * SECOND);
    assertThat(peer.timeliness(NEVER, NEVER)).isEqualTo(new Timeliness(10, 3 + 1, 0));
  }

  @Test
  void overdue_isAllBeyondTheBound_onceTheFirstOfItWouldHaveBeenConfirmed() {
    peer.confirmed(103, NEVER);
    assertThat(peer.timeliness(8 * SECOND, 4 * SECOND).overdue()).as("on its way").isZero();
    assertThat(peer.timeliness(8 * SECOND, 5 * SECOND).overdue()).as("104 to 107").isEqualTo(4);
    assertThat(peer.timeliness(20 * SECOND, 20 * SECOND).overdue()).isEqualTo(7);
    peer.confirmed(110, NEVER);
    assertThat(peer.timeliness(20 * SECOND, 20 * SECOND).overdue()).isZero();
  }

  @Test
  void peerThatWasAdded_owesNothingOfWhatWasBefore() {
    ConfirmedUpdates added = new ConfirmedUpdates(times, 108);
    assertThat(added.timeliness(20 * SECOND, 20 * SECOND)).isEqualTo(new Timeliness(0, 0, 2));
    assertThat(added.confirmed(109, NEVER)).isEqualTo(100);
  }
}
