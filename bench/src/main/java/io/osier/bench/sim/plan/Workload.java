package io.osier.bench.sim.plan;

import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import io.osier.protocol.Request;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * What the clients of one unit do: a few hot keys and many cold ones, of two sorts. Of accountable
 * objects every update leaves a trace that is never removed, so that readings can be checked; with
 * wild ones everything is done that their type allows. A set that has grown large is left alone,
 * and a new one takes its place.
 */
public final class Workload {
  /** How hot the hot keys are: the k-th of n gets the draws with u^4 in [k/n, (k+1)/n). */
  private static final double SKEW = 4;

  private static final int TOKENS_MAX = 150;

  /** How large values may be. */
  public enum Sizes {
    /** A few bytes. */
    SMALL,
    /** At times larger than a frame. */
    LARGE,
    /** At times, and some of them, larger than a MiB. */
    HUGE
  }

  /** Makes a value so large that its frame is decoded apart. */
  private static final String HUGE_TAIL = "-".repeat(1_200_000);

  /** One of so many large values is huge. */
  private static final int HUGE_ONE_IN = 10;

  /** Makes a value larger than a frame. */
  private static final String LARGE_TAIL = "-".repeat(3_000);

  private static final int DEPTH_MAX = 2;

  private static final Set<CrdtType> SETS =
      EnumSet.of(
          CrdtType.G_SET,
          CrdtType.AW_SET,
          CrdtType.RW_SET,
          CrdtType.LWW_SET_ADD_BIAS,
          CrdtType.LWW_SET_REMOVE_BIAS);

  /** Types of which an account can be kept. */
  private static final List<CrdtType> ACCOUNTABLE =
      List.of(
          CrdtType.PN_COUNTER,
          CrdtType.G_COUNTER,
          CrdtType.LWW_REGISTER,
          CrdtType.MV_REGISTER,
          CrdtType.G_SET,
          CrdtType.AW_SET,
          CrdtType.RW_SET,
          CrdtType.LWW_SET_ADD_BIAS,
          CrdtType.LWW_SET_REMOVE_BIAS,
          CrdtType.OR_MAP);

  /** Types that clash at one key. */
  private static final CrdtType[] CLASHING = {
    CrdtType.PN_COUNTER, CrdtType.AW_SET, CrdtType.OR_MAP
  };

  /**
   * Something to do.
   *
   * @param operation empty for a read
   * @param effect of an update of an accountable object
   */
  public record Task(ObjectId object, Optional<Operation> operation, Query query, Effect effect) {
    public boolean isWrite() {
      return operation.isPresent();
    }

    /**
     * What is asked with it of its object, of some of the writes.
     *
     * @param number counts its caller's tasks
     */
    public Optional<Request.Ask> ask(long number) {
      return isWrite() && number % ASKS_ONE_IN == 0
          ? Optional.of(new Request.Ask(number / ASKS_ONE_IN % 2 == 0, new Query.Whole()))
          : Optional.empty();
    }

    /** Whether it is of a kind that may be acknowledged in front of a partition. */
    public boolean isCombinable() {
      return operation
          .map(
              o ->
                  object.type() == CrdtType.PN_COUNTER
                      ? o instanceof Operation.Increment
                      : object.type() == CrdtType.AW_SET && o instanceof Operation.Add)
          .orElse(false);
    }

    /** Whether it is a write that nothing overtakes: one that waits for rights lets others by. */
    public boolean keepsItsPlace() {
      return isWrite() && !(operation.orElseThrow() instanceof Operation.IncrementWithin);
    }
  }

  private static final int BOUNDED_KEYS = 3;
  private static final int ASKS_ONE_IN = 4;

  /** One update of so many has a condition, if it asks nothing. */
  private static final int CONDITIONS_ONE_IN = 3;

  /** Larger readings are expected of nothing. */
  private static final long EXPECTED_BYTES_MAX = 20_000;

  private enum Sort {
    ACCOUNTABLE,
    WILD,
    BOUNDED,
    CLASHING
  }

  private static final class Slot {
    final Sort sort;
    final CrdtType type;
    Key key;
    int tokens;

    Slot(Sort sort, CrdtType type, Key key) {
      this.sort = sort;
      this.type = type;
      this.key = key;
    }
  }

  private final Unit unit;
  private final Sizes sizes;

  /** Types of fields. */
  private final List<CrdtType> fields;

  private final List<CrdtType> leaves;

  private final List<Slot> slots = new ArrayList<>();
  private final List<ObjectId> accountable = new ArrayList<>();

  /** What each object was when all of it was shown last, to anybody. */
  private final Map<ObjectId, Reading> shown = new HashMap<>();

  private int keys;
  private long tokens;
  private boolean large;

  /** Whether large values may be there. */
  private boolean wasLarge;

  /**
   * For one partition.
   *
   * @param laterTypes whether there are objects and fields of {@link CrdtType#isLater} types
   */
  public Workload(Unit unit, Random random, Sizes sizes, boolean laterTypes) {
    this.unit = unit;
    this.sizes = sizes;
    this.fields =
        Arrays.stream(CrdtType.values())
            .filter(t -> t.isNestable() && (laterTypes || !t.isLater()))
            .toList();
    this.leaves = fields.stream().filter(t -> t != CrdtType.OR_MAP).toList();
    for (CrdtType type : ACCOUNTABLE) {
      slots.add(new Slot(Sort.ACCOUNTABLE, type, newKey(type, "")));
    }
    if (laterTypes) {
      slots.add(new Slot(Sort.ACCOUNTABLE, CrdtType.STRING, newKey(CrdtType.STRING, "")));
    }
    for (CrdtType type : fields) {
      slots.add(new Slot(Sort.WILD, type, newKey(type, "-wild")));
    }
    for (int i = 0; i < BOUNDED_KEYS; i++) {
      CrdtType type = CrdtType.BOUNDED_COUNTER;
      slots.add(new Slot(Sort.BOUNDED, type, newKey(type, "-wild")));
    }
    slots.add(new Slot(Sort.CLASHING, CrdtType.OR_MAP, newKey(CrdtType.OR_MAP, "-clash")));
    for (Slot slot : slots) {
      noteAccountable(slot);
    }
    Collections.shuffle(slots, random);
  }

  /** A key that belongs to this partition. */
  private Key newKey(CrdtType type, String suffix) {
    Key key;
    do {
      key = Key.of(type.label() + suffix + "-" + ++keys);
    } while (key.partition(unit.policy().partitions()) != unit.partition());
    return key;
  }

  private void noteAccountable(Slot slot) {
    if (slot.sort == Sort.ACCOUNTABLE) {
      accountable.add(new ObjectId(slot.key, slot.type));
    }
  }

  /** All objects of which an account can be kept. */
  public List<ObjectId> accountable() {
    return accountable;
  }

  /** Whether updates of the object may fail since it has another type elsewhere. */
  public static boolean mayClash(ObjectId object) {
    return object.key().toString().contains("-clash");
  }

  /** Whether updates of the object may fail for lack of rights, or since it is not created. */
  public static boolean mayLackRights(ObjectId object) {
    return object.type() == CrdtType.BOUNDED_COUNTER;
  }

  /** From now on values of wild objects are large, or small again. */
  public void setLarge(boolean on) {
    large = on;
    wasLarge |= on;
  }

  /** Whether the task may be refused since it would make its object too large. */
  public boolean mayBeTooLarge(Task task) {
    if (!wasLarge || isAccountable(task.object())) {
      return false;
    }
    return switch (task.operation().orElseThrow()) {
      case Operation.Clear o -> false;
      case Operation.RemoveFields o -> false;
      // Of other sets a removal is remembered with its element.
      case Operation.Remove o -> task.object().type() != CrdtType.AW_SET;
      default -> true;
    };
  }

  // ---------------------------------------------------------------- conditions

  /** Somebody was shown all of an object: what others may expect now. */
  public void shown(ObjectId object, Reading reading) {
    if (reading.heapBytes() <= EXPECTED_BYTES_MAX) {
      shown.put(object, reading);
    }
  }

  /**
   * Under which condition an update is to be done, of some: that there is nothing yet, that its
   * object still is as it was shown to somebody, or that a part of it is.
   *
   * @param number counts its caller's tasks
   */
  public Optional<Request.Condition> condition(Task task, long number) {
    if (!task.isWrite() || task.ask(number).isPresent() || number % CONDITIONS_ONE_IN != 2) {
      return Optional.empty();
    }
    ObjectId object = task.object();
    Reading nothing = TypeRegistry.empty(object.type()).read(new Query.Whole());
    Reading last = shown.getOrDefault(object, nothing);
    return Optional.of(
        switch ((int) (number / CONDITIONS_ONE_IN % 4)) {
          case 0 -> new Request.Condition(List.of(), new Query.Whole(), nothing);
          case 1 -> ofPart(object, last);
          default -> new Request.Condition(List.of(), new Query.Whole(), last);
        });
  }

  private static Request.Condition ofPart(ObjectId object, Reading last) {
    if (SETS.contains(object.type()) && last instanceof Reading.Many m && !m.values().isEmpty()) {
      Query contains = new Query.Contains(m.values().getFirst());
      return new Request.Condition(List.of(), contains, new Reading.Flag(true));
    }
    List<FieldId> path = new ArrayList<>();
    Reading at = last;
    while (at instanceof Reading.Fields f && !f.fields().isEmpty()) {
      path.add(f.fields().firstKey());
      at = f.fields().firstEntry().getValue();
    }
    return new Request.Condition(path, new Query.Whole(), at);
  }

  public static boolean isAccountable(ObjectId object) {
    String key = object.key().toString();
    return !key.contains("-wild") && !key.contains("-clash");
  }

  public Task next(Random random) {
    Slot slot = slots.get((int) (slots.size() * Math.pow(random.nextDouble(), SKEW)));
    boolean write = random.nextInt(5) < 3;
    return switch (slot.sort) {
      case ACCOUNTABLE -> write ? update(slot, random) : read(slot, new Query.Whole());
      case WILD ->
          write
              ? task(slot.key, slot.type, operation(slot.type, 0, random))
              : read(slot, query(slot.type, random));
      case BOUNDED ->
          write
              ? task(slot.key, slot.type, operation(slot.type, 0, random))
              : read(slot, random.nextBoolean() ? new Query.Rights() : new Query.Whole());
      case CLASHING -> {
        CrdtType type = CLASHING[random.nextInt(CLASHING.length)];
        yield write
            ? task(slot.key, type, operation(type, 0, random))
            : new Task(
                new ObjectId(slot.key, type), Optional.empty(), new Query.Whole(), Effect.NONE);
      }
    };
  }

  private static Task read(Slot slot, Query query) {
    return new Task(new ObjectId(slot.key, slot.type), Optional.empty(), query, Effect.NONE);
  }

  private static Task task(Key key, CrdtType type, Operation operation) {
    return new Task(
        new ObjectId(key, type), Optional.of(operation), new Query.Whole(), Effect.NONE);
  }

  // ---------------------------------------------------------------- accountable objects

  private Task update(Slot slot, Random random) {
    if (slot.tokens >= TOKENS_MAX) {
      slot.tokens = 0;
      slot.key = newKey(slot.type, "");
      noteAccountable(slot);
    }
    Effect effect =
        switch (slot.type) {
          case PN_COUNTER, G_COUNTER, STRING -> new Effect(List.of(), random.nextInt(1_000));
          case LWW_REGISTER, MV_REGISTER -> new Effect(List.of(token(slot)), 0);
          case OR_MAP -> new Effect(List.of(token(slot)), random.nextInt(1_000));
          default ->
              random.nextInt(4) == 0
                  ? new Effect(List.of(token(slot), token(slot)), 0)
                  : new Effect(List.of(token(slot)), 0);
        };
    Operation operation =
        switch (slot.type) {
          case PN_COUNTER, G_COUNTER -> new Operation.Increment(effect.amount());
          case STRING -> new Operation.IncrementDecimal(Effect.decimal(effect.amount()));
          case LWW_REGISTER, MV_REGISTER -> new Operation.Assign(effect.tokens().getFirst());
          case OR_MAP ->
              new Operation.UpdateFields(
                  List.of(
                      new Operation.FieldUpdate(Effect.TOKENS, new Operation.Add(effect.tokens())),
                      new Operation.FieldUpdate(
                          Effect.AMOUNT, new Operation.Increment(effect.amount()))));
          default -> new Operation.Add(effect.tokens());
        };
    return new Task(
        new ObjectId(slot.key, slot.type), Optional.of(operation), new Query.Whole(), effect);
  }

  private Value token(Slot slot) {
    slot.tokens++;
    return Value.of(++tokens);
  }

  // ---------------------------------------------------------------- wild objects

  private Query query(CrdtType type, Random random) {
    if (SETS.contains(type)) {
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

  /** All that is assigned is a number, so no increment is refused. */
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
      boolean isHuge = sizes == Sizes.HUGE && random.nextInt(HUGE_ONE_IN) == 0;
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
