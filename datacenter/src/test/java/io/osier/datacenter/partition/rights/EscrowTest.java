package io.osier.datacenter.partition.rights;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.BoundedCounter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whom to ask for rights, and how often. */
final class EscrowTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ReplicaId OTHER = new ReplicaId("us", 1);
  private static final ObjectId STOCK = new ObjectId(Key.of("stock"), CrdtType.BOUNDED_COUNTER);

  private final Escrow escrow = new Escrow(SELF, List.of("us"), () -> true);

  /** Of ten that may be added the other datacenter may add all. */
  private static CrdtState stock() {
    CrdtState none = CrdtState.bottom(CrdtType.BOUNDED_COUNTER);
    Operation bound = new Operation.Bound(BoundedCounter.NO_LOWER, 10, List.of("us"));
    return none.join(none.prepare(bound, OTHER, 1, 0, 1, 0));
  }

  private int asked(long fromNanos, long millis) {
    int asked = 0;
    for (long ms = 0; ms < millis; ms += 10) {
      long now = fromNanos + ms * 1_000_000;
      asked +=
          escrow.wantedFor(STOCK, stock(), new Operation.Increment(1), now).isPresent() ? 1 : 0;
    }
    return asked;
  }

  @Test
  void othersThatGiveNothing_areAskedMoreAndMoreSeldom() {
    assertThat(asked(0, 10_000)).isBetween(7, 9);
  }

  @Test
  void whereSomethingHasChanged_asksAsSoonAsAtFirst() {
    assertThat(asked(0, 10_000)).isBetween(7, 9);
    escrow.changed(STOCK);
    assertThat(asked(20_000_000_000L, 650)).isEqualTo(3);
  }
}
