package io.osier.proxy.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.proxy.Session;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a session has seen, while several of its calls go on without what a datacenter lacks. */
final class SessionContextTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final VersionVector ASKED = VersionVector.of(EU, 3).with(US, 5);
  private static final VersionVector THERE = VersionVector.of(EU, 9).with(US, 2);

  private final SessionContext past = new SessionContext();

  private void saw(VersionVector seen) {
    synchronized (past) {
      past.clocks("shop").get(0).saw(seen);
    }
  }

  @Test
  void giveUp_ofWhatAnotherCallGaveUp_goesOn_evenIfThatHasSeenMoreSince() {
    saw(ASKED);
    assertThat(past.giveUp("shop", 0, ASKED, THERE)).isTrue();
    saw(VersionVector.of(EU, 10)); // its answer overtakes what the datacenter said of itself
    assertThat(past.giveUp("shop", 0, ASKED, THERE)).isTrue();
    assertThat(past.clock("shop")).isEqualTo(VersionVector.of(EU, 10).with(US, 2));
    assertThat(past.losses()).containsExactly(new Session.Loss("shop", 0, US, 2, 5));
  }

  /** Else what was seen of one partition would be asked of another one. */
  @Test
  void keyspaceThatIsHashedOtherwise_doesNotFit() {
    Partitioning byTag = new Partitioning(4, Partitioning.Hash.TAG);
    past.join(Map.of("shop", List.of(ASKED, ASKED, ASKED, ASKED))); // of which that is not known
    synchronized (past) {
      assertThat(past.clocks("shop").fits(Partitioning.byKey(3))).isFalse();
      assertThat(past.clocks("shop").fits(byTag)).isTrue();
      assertThat(past.clocks("shop").fits(Partitioning.byKey(4))).isFalse();
    }
    assertThat(past.misfit("shop", Partitioning.byKey(4)))
        .hasMessageContaining("has 4 partitions, but")
        .hasMessageContaining("keyspace of this name with 4 partitions by tag");
  }

  @Test
  void giveUp_keepsWhatWasSeenSinceItWasAsked() {
    saw(ASKED);
    synchronized (past) {
      past.clocks("shop").get(0).saw(new Dot(US, 6));
    }
    assertThat(past.giveUp("shop", 0, ASKED, THERE)).isFalse();
    assertThat(past.clock("shop")).isEqualTo(VersionVector.of(EU, 3).with(US, 6));
    assertThat(past.losses()).isEmpty();
  }

  @Test
  void giveUp_ofNothing_becauseItHasCaughtUp_goesOn() {
    saw(ASKED);
    assertThat(past.giveUp("shop", 0, ASKED, THERE.with(US, 5))).isTrue();
    assertThat(past.losses()).isEmpty();
  }
}
