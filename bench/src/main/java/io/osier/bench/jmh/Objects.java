package io.osier.bench.jmh;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.types.BoundedCounter;
import java.util.List;

/**
 * Objects of each type and size for the micro-benchmarks. What size means: the elements of a set,
 * the fields of a map, the bytes of a register's value, and the updates that a counter or a flag
 * has taken. Updates come from three datacenters in turn.
 */
public final class Objects {
  public static final List<ReplicaId> REPLICAS =
      List.of(new ReplicaId("ap", 1), new ReplicaId("eu", 1), new ReplicaId("us", 1));

  private static final int FIELD_TYPES = 2;

  private Objects() {}

  /** Returns an element as of an application: a text of 16 to 20 characters. */
  public static Value element(int number) {
    return Value.of("some-element-" + (1_000 + number));
  }

  /** Returns a frequent update of an object of a type. */
  public static Operation update(CrdtType type, int number, int size) {
    return switch (type) {
      case PN_COUNTER, G_COUNTER, BOUNDED_COUNTER -> new Operation.Increment(1);
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER, STRING ->
          new Operation.Assign(text(number, size));
      case EW_FLAG, DW_FLAG -> new Operation.SetFlag(number % 2 == 0);
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          new Operation.Add(element(number));
      case OR_MAP ->
          new Operation.UpdateFields(
              List.of(
                  number % FIELD_TYPES == 0
                      ? new Operation.FieldUpdate(
                          new FieldId("count-" + (1_000 + number), CrdtType.PN_COUNTER),
                          new Operation.Increment(1))
                      : new Operation.FieldUpdate(
                          new FieldId("name-" + (1_000 + number), CrdtType.LWW_REGISTER),
                          new Operation.Assign(element(number)))));
    };
  }

  private static Value text(int number, int size) {
    String digits = Integer.toString(number % 10);
    return Value.of(digits.repeat(size));
  }

  public static CrdtState of(CrdtType type, int size) {
    CrdtState object = CrdtState.bottom(type);
    if (type == CrdtType.BOUNDED_COUNTER) {
      List<String> sharers = REPLICAS.stream().map(ReplicaId::dc).toList();
      Operation bound = new Operation.Bound(0, BoundedCounter.NO_UPPER, sharers);
      object = object.join(delta(object, bound, REPLICAS.getFirst()));
    }
    boolean isOneValue =
        switch (type) {
          case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER, STRING -> true;
          default -> false;
        };
    for (int i = 0; i < (isOneValue ? REPLICAS.size() : size); i++) {
      Operation operation = update(type, i, size);
      object = object.join(delta(object, operation, REPLICAS.get(i % REPLICAS.size())));
    }
    return object;
  }

  public static CrdtState delta(CrdtState object, Operation operation, ReplicaId origin) {
    long last = object.context().last(origin);
    long through = object.context().through(origin);
    return object.prepare(operation, origin, last + 1, through, 1_000_000 + last, 0);
  }
}
