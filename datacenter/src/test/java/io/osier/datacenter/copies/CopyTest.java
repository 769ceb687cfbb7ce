package io.osier.datacenter.copies;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.forward.ForwardingHost;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Whether what a holder told is new enough by itself, before the holder has all that came before.
 */
final class CopyTest {
  private static final ReplicaId US = new ReplicaId("us", 1);

  private final Subscription of =
      new Subscription(
          "shop", 0, "eu", new ForwardingHost.Held(List.of("eu"), Partitioning.byKey(1), ""), 1);
  private final Copy copy = new Copy(new ObjectName("shop", Key.of("k")), 1, of, new Demand());

  private static CrdtState set(CrdtState before, long number, Operation operation) {
    long predecessor = before.context().toVersionVector().get(US);
    return before.join(before.prepare(operation, US, number, predecessor, number, 0));
  }

  private static CrdtState added(long number) {
    return set(CrdtState.bottom(CrdtType.AW_SET), number, new Operation.Add(Value.of("x")));
  }

  private static CrdtState assigned(long number) {
    Operation assign = new Operation.Assign(Value.of("x"));
    return set(CrdtState.bottom(CrdtType.LWW_REGISTER), number, assign);
  }

  /** Whether it answers who has seen number 9 of us. */
  private boolean covers(CrdtState... told) {
    VersionVector context = VersionVector.EMPTY;
    for (CrdtState each : told) {
      context = context.join(each.context().toVersionVector());
    }
    copy.set(new Copy.Version(List.of(told), context, 0));
    return copy.covering(VersionVector.EMPTY) != null;
  }

  /** The holder gets the deltas of one object in their order, and those of two in any. */
  @Test
  void whatWasSeen_isInOneObjectThatHasIt_andNotSurelyInOneOfTwo() {
    of.reached(VersionVector.of(US, 4), 0);
    copy.begin(VersionVector.EMPTY);
    copy.sees(VersionVector.of(US, 9));
    assertThat(covers(added(9))).isTrue();
    assertThat(covers(added(5))).isFalse();
    assertThat(covers(added(5), assigned(9))).as("the set may be deleted by now").isFalse();
    assertThat(covers(set(added(5), 9, new Operation.Clear())))
        .as("what took its place may not be here")
        .isFalse();
    of.reached(VersionVector.of(US, 9), 0);
    assertThat(covers(added(5), assigned(9))).isTrue();
  }
}
