package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Now;
import java.util.ArrayList;
import java.util.List;

/**
 * Says what an operation on a whole key ({@link Operation#isOfKey}) does with each of its objects.
 * Pure.
 */
final class KeyUpdate {
  private KeyUpdate() {}

  /**
   * Returns the objects that the operation changes.
   *
   * @param states the objects that the key holds
   * @throws OsierException INVALID_ARGUMENT if one of them allows no such operation
   */
  static List<CrdtState> touched(Key key, List<CrdtState> states, Operation operation, Now now) {
    for (CrdtState state : states) {
      // Persisting an object without a deadline is no error, whatever its type.
      boolean refused = !state.isBottom() && !(operation instanceof Operation.Persist);
      if (state.type() == CrdtType.BOUNDED_COUNTER && refused) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            "key '"
                + key
                + "' holds a bounded counter, which cannot be deleted and does not expire: who used"
                + " which rights must stay known");
      }
    }
    List<CrdtState> touched = new ArrayList<>(states.size());
    for (CrdtState state : states) { // no stream: most updates of a key touch one object
      if (isTouched(state, operation, now)) {
        touched.add(state);
      }
    }
    return touched;
  }

  private static boolean isTouched(CrdtState state, Operation operation, Now now) {
    if (operation instanceof Operation.Delete) {
      // Objects that readers no longer see are deleted, too: nothing of them stays.
      return !state.isSpent() && state.type() != CrdtType.BOUNDED_COUNTER;
    }
    boolean exists = !state.isNothing(now.millis());
    return exists
        && (operation instanceof Operation.Expire
            || (operation instanceof Operation.Persist && state.deadline() != CrdtState.NEVER));
  }

  static Operation part(Operation operation, Now now) {
    return switch (operation) {
      case Operation.Delete o -> new Operation.Clear();
      case Operation.Expire o -> o.from(now.millis());
      default -> operation;
    };
  }
}
