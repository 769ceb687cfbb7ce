package io.osier.bench.sim.plan;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Draws updates and queries of wild objects: everything that their type allows. */
final class WildUpdates {
  /** Makes a value so large that its frame is decoded apart. */
  private static final String HUGE_TAIL = "-".repeat(1_200_000);

  /** One of so many large values is huge. */
  private static final int HUGE_ONE_IN = 10;

  /** Makes a value larger than a frame. */
  private static final String LARGE_TAIL = "-".repeat(3_000);

  private static final int DEPTH_MAX = 2;

  /** The types that fields may have. */
  private final List<CrdtType> fields;

  private final List<CrdtType> leaves;
  private final Workload.Sizes sizes;
  private boolean large;

  /** Whether large values may be there. */
  private boolean wasLarge;

  WildUpdates(List<CrdtType> fields, Workload.Sizes sizes) {
    this.fields = fields;
    this.leaves = fields.stream().filter(t -> t != CrdtType.OR_MAP).toList();
    this.sizes = sizes;
  }

  /** From now on values are large, or small again. */
  void setLarge(boolean on) {
    large = on;
    wasLarge |= on;
  }

  boolean wasLarge() {
    return wasLarge;
  }

  Operation operation(CrdtType type, Random random) {
    return operation(type, 0, random);
  }

  Query query(CrdtType type, Random random) {
    if (type.isSet()) {
      return switch (random.nextInt(4)) {
        case 0 -> new Query.Contains(element(random));
        case 1 -> new Query.Size();
        case 2 ->
            new Query.Range(
                Optional.of(new Query.Bound(new Part.Element(element(random)), false)),
                Optional.empty(),
                random.nextBoolean(),
                1 + random.nextInt(3));
        default -> new Query.Whole();
      };
    }
    if (type == CrdtType.OR_MAP && random.nextBoolean()) {
      return new Query.Select(List.of("f0", "f2"));
    }
    return new Query.Whole();
  }

  private Operation operation(CrdtType type, int depth, Random random) {
    if (random.nextInt(40) == 0 && type != CrdtType.BOUNDED_COUNTER) {
      return new Operation.Clear();
    }
    return switch (type) {
      case PN_COUNTER -> new Operation.Increment(random.nextInt(9) - 3);
      case G_COUNTER -> new Operation.Increment(random.nextInt(5));
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER ->
          new Operation.Assign(value(random));
      case STRING -> string(random);
      case EW_FLAG, DW_FLAG -> new Operation.SetFlag(random.nextBoolean());
      case G_SET -> new Operation.Add(element(random));
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          random.nextInt(3) == 0
              ? new Operation.Remove(List.of(removed(random), removed(random)))
              : new Operation.Add(List.of(element(random), element(random)));
      case BOUNDED_COUNTER ->
          switch (random.nextInt(8)) {
            case 0 -> new Operation.Bound(-random.nextInt(30), random.nextInt(30), List.of());
            case 1 ->
                new Operation.Transfer(
                    "dc" + random.nextInt(3), 1 + random.nextInt(5), random.nextBoolean());
            case 2, 3 -> new Operation.IncrementWithin(random.nextInt(21) - 10, 2_000);
            default -> new Operation.Increment(random.nextInt(21) - 10);
          };
      case OR_MAP -> {
        if (random.nextInt(5) == 0) {
          yield new Operation.RemoveFields(List.of("f" + random.nextInt(3)));
        }
        yield new Operation.UpdateFields(
            random.nextInt(4) == 0
                ? List.of(field(depth, random), field(depth, random))
                : List.of(field(depth, random)));
      }
    };
  }

  /** Draws an update of a string; each assigned text is a number, so no increment is refused. */
  private static Operation string(Random random) {
    return random.nextInt(5) == 0
        ? new Operation.Assign(Value.of(Integer.toString(random.nextInt(1_000))))
        : new Operation.IncrementDecimal(BigDecimal.valueOf(random.nextInt(99) - 40, 1));
  }

  private Operation.FieldUpdate field(int depth, Random random) {
    List<CrdtType> types = depth >= DEPTH_MAX ? leaves : fields;
    CrdtType type = types.get(random.nextInt(types.size()));
    return new Operation.FieldUpdate(
        new FieldId("f" + random.nextInt(3), type), operation(type, depth + 1, random));
  }

  private Value element(Random random) {
    return Value.of("e" + random.nextInt(20) + (large && random.nextBoolean() ? LARGE_TAIL : ""));
  }

  /** An element to remove: also one of those that were large. */
  private Value removed(Random random) {
    boolean tail = wasLarge && random.nextBoolean();
    return Value.of("e" + random.nextInt(20) + (tail ? LARGE_TAIL : ""));
  }

  private Value value(Random random) {
    if (large) {
      boolean isHuge = sizes == Workload.Sizes.HUGE && random.nextInt(HUGE_ONE_IN) == 0;
      return Value.of("v" + random.nextInt(1_000) + (isHuge ? HUGE_TAIL : LARGE_TAIL));
    }
    return switch (random.nextInt(4)) {
      case 0 -> Value.of(random.nextInt(1_000));
      case 1 -> Value.of(random.nextDouble());
      case 2 -> Value.of(new byte[] {(byte) random.nextInt(), (byte) random.nextInt()});
      default -> Value.of("v" + random.nextInt(1_000));
    };
  }
}
