package io.osier.bench.sim.plan;

import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import io.osier.protocol.Request;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

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

  private static final int HOT_KEYS = 4;
  private static final int HOT_WRITES_ONE_IN = 8;

  /** How large values may be. */
  public enum Sizes {
    /** A few bytes. */
    SMALL,
    /** At times larger than a frame. */
    LARGE,
    /** At times, and some of them, larger than a MiB. */
    HUGE
  }

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
     * What some of the writes ask of their object.
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

  /** Larger readings are not used as conditions. */
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
  private final WildUpdates wild;
  private final List<Slot> slots = new ArrayList<>();
  private final List<ObjectId> accountable = new ArrayList<>();

  /** What each object was when all of it was shown last, to anybody. */
  private final Map<ObjectId, Reading> shown = new HashMap<>();

  private int keys;
  private long tokens;

  /**
   * For one partition.
   *
   * @param laterTypes whether there are objects and fields of {@link CrdtType#isLater} types
   */
  public Workload(Unit unit, Random random, Sizes sizes, boolean laterTypes) {
    this.unit = unit;
    List<CrdtType> fields =
        Arrays.stream(CrdtType.values())
            .filter(type -> type.isNestable() && (laterTypes || !type.isLater()))
            .toList();
    this.wild = new WildUpdates(fields, sizes);
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
    return unit.key(() -> type.label() + suffix + "-" + ++keys);
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
    wild.setLarge(on);
  }

  /** Whether the task may be refused since it would make its object too large. */
  public boolean mayBeTooLarge(Task task) {
    if (!wild.wasLarge() || isAccountable(task.object())) {
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

  /** Somebody has read all of an object: conditions may expect this reading from now on. */
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
    if (object.type().isSet() && last instanceof Reading.Many m && !m.values().isEmpty()) {
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
    String key = new String(object.key().toBytes(), StandardCharsets.ISO_8859_1);
    return !key.contains("-wild") && !key.contains("-clash");
  }

  public Task next(Random random) {
    Slot slot = slots.get((int) (slots.size() * Math.pow(random.nextDouble(), SKEW)));
    return next(slot, random.nextInt(5) < 3, random);
  }

  /** Something to do with one of the hottest keys: mostly to read it. */
  public Task nextHot(Random random) {
    return next(
        slots.get(random.nextInt(HOT_KEYS)), random.nextInt(HOT_WRITES_ONE_IN) == 0, random);
  }

  private Task next(Slot slot, boolean write, Random random) {
    return switch (slot.sort) {
      case ACCOUNTABLE -> write ? update(slot, random) : read(slot, new Query.Whole());
      case WILD ->
          write
              ? task(slot.key, slot.type, wild.operation(slot.type, random))
              : read(slot, wild.query(slot.type, random));
      case BOUNDED ->
          write
              ? task(slot.key, slot.type, wild.operation(slot.type, random))
              : read(slot, random.nextBoolean() ? new Query.Rights() : new Query.Whole());
      case CLASHING -> {
        CrdtType type = CLASHING[random.nextInt(CLASHING.length)];
        yield write
            ? task(slot.key, type, wild.operation(type, random))
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
}
