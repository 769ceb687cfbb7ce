package io.osier.crdt.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CrdtStateSizeTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);

  /**
   * An object that exceeds its limit can be made smaller by a datacenter that never wrote to it,
   * even by a removal of absent elements: simulator, seed 334.
   */
  @Test
  void removal_byOneWhoIsNew_makesTheContentNoLarger_thoughMoreIsNotedAboutUpdates() {
    CrdtState empty = CrdtState.bottom(CrdtType.AW_SET);
    CrdtState one =
        empty.join(empty.prepare(new Operation.Add(List.of(Value.of("element"))), EU, 1, 0, 1, 0));
    CrdtState after =
        one.join(one.prepare(new Operation.Remove(List.of(Value.of("other"))), US, 1, 0, 2, 0));
    assertThat(after.contentBytes()).isEqualTo(one.contentBytes());
    assertThat(after.sizeBytes()).isGreaterThan(one.sizeBytes());
  }
}
