package io.osier.bench.sim.check;

import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a snapshot shows of the places that transactions write. At a place a transaction adds its
 * number to a set, where all numbers stay; and writes what decides by time: it assigns its number
 * to a register and to a field of a map, and adds or removes the element of an LWW set, as its
 * number is even or odd. It also adds 1 to a counter, and its number to each of the bins, which are
 * sets that some transactions clear first.
 *
 * @param numbers by place, the transactions seen
 * @param count the counter
 * @param registers by place, the register's value; 0 for none
 * @param fields by place, the field's value; 0 for none
 * @param added by place, whether the element is in the LWW set
 * @param bins by bin, the transactions that are in it
 */
public record TransactionView(
    List<BitSet> numbers,
    long count,
    List<Long> registers,
    List<Long> fields,
    List<Boolean> added,
    List<BitSet> bins) {
  public static final int PLACES = 5;
  private static final int BINS = 2;

  /** One transaction of so many clears the bins. */
  private static final int CLEARS_ONE_IN = 10;

  /** The prefix of the keys of all of its objects. */
  public static final String PREFIX = "txn-";

  private static final ObjectId COUNT = new ObjectId(Key.of(PREFIX + "count"), CrdtType.PN_COUNTER);
  private static final ObjectId MAP = new ObjectId(Key.of(PREFIX + "map"), CrdtType.OR_MAP);
  private static final Value ELEMENT = Value.of("x");

  /** The objects that a snapshot shows, in the order of the readings that {@link #of} takes. */
  public static List<ObjectId> objects() {
    List<ObjectId> objects = new ArrayList<>();
    for (int i = 0; i < PLACES; i++) {
      objects.add(numbers(i));
      objects.add(register(i));
      objects.add(lwwSet(i));
    }
    objects.add(MAP);
    objects.add(COUNT);
    for (int i = 0; i < BINS; i++) {
      objects.add(bin(i));
    }
    return objects;
  }

  private static ObjectId numbers(int place) {
    return new ObjectId(Key.of(PREFIX + place), CrdtType.G_SET);
  }

  private static ObjectId register(int place) {
    return new ObjectId(Key.of(PREFIX + "register-" + place), CrdtType.LWW_REGISTER);
  }

  private static ObjectId lwwSet(int place) {
    CrdtType type = place % 2 == 0 ? CrdtType.LWW_SET_ADD_BIAS : CrdtType.LWW_SET_REMOVE_BIAS;
    return new ObjectId(Key.of(PREFIX + "lwwset-" + place), type);
  }

  private static ObjectId bin(int bin) {
    return new ObjectId(Key.of(PREFIX + "bin-" + bin), CrdtType.AW_SET);
  }

  private static FieldId field(int place) {
    return new FieldId("f" + place, CrdtType.LWW_REGISTER);
  }

  /** Whether a transaction adds the element of the LWW sets; otherwise it removes it. */
  static boolean adds(long number) {
    return number % 2 == 0;
  }

  /** Whether a transaction clears the bins before it adds its number. */
  static boolean clears(long number) {
    return number % CLEARS_ONE_IN == 0;
  }

  /** Draws one to three places for a transaction to write. */
  public static Set<Integer> places(Random random) {
    Set<Integer> places = new TreeSet<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      places.add(random.nextInt(PLACES));
    }
    return places;
  }

  /** The updates of a transaction, in any order, and some places written twice. */
  public static List<Request.Update> updates(
      long number, Collection<Integer> places, Random random) {
    List<Request.Update> updates = new ArrayList<>();
    updates.add(update(COUNT, new Operation.Increment(1)));
    for (int i : places) {
      updates.add(
          random.nextInt(updates.size() + 1),
          update(numbers(i), new Operation.Add(Value.of(number))));
      boolean twice = random.nextInt(3) == 0;
      int at = updates.size();
      if (twice) {
        decidedByTime(updates, i, -number, !adds(number), random, 0);
        at = updates.size();
      }
      decidedByTime(updates, i, number, adds(number), random, twice ? at : 0);
    }
    for (int i = 0; i < BINS; i++) {
      if (clears(number)) {
        updates.add(update(bin(i), new Operation.Clear()));
      }
      updates.add(update(bin(i), new Operation.Add(Value.of(number))));
    }
    return updates;
  }

  /** Inserts the updates that decide by time at or behind a position of the list. */
  private static void decidedByTime(
      List<Request.Update> updates, int place, long value, boolean add, Random random, int from) {
    Operation assign = new Operation.Assign(Value.of(value));
    List<Request.Update> some =
        List.of(
            update(register(place), assign),
            update(MAP, new Operation.UpdateFields(field(place), assign)),
            update(
                lwwSet(place), add ? new Operation.Add(ELEMENT) : new Operation.Remove(ELEMENT)));
    for (Request.Update update : some) {
      updates.add(from + random.nextInt(updates.size() - from + 1), update);
    }
  }

  private static Request.Update update(ObjectId object, Operation operation) {
    return new Request.Update(object.key(), object.type(), operation);
  }

  /** Reads a snapshot. */
  public static TransactionView of(List<Reading> readings) {
    List<BitSet> numbers = new ArrayList<>();
    List<Long> registers = new ArrayList<>();
    List<Long> fields = new ArrayList<>();
    List<Boolean> added = new ArrayList<>();
    Reading.Fields map = (Reading.Fields) readings.get(PLACES * 3);
    for (int i = 0; i < PLACES; i++) {
      numbers.add(numbers(readings.get(i * 3)));
      registers.add(number((Reading.Single) readings.get(i * 3 + 1)));
      added.add(!((Reading.Many) readings.get(i * 3 + 2)).values().isEmpty());
      fields.add(
          Optional.ofNullable((Reading.Single) map.fields().get(field(i)))
              .map(TransactionView::number)
              .orElse(0L));
    }
    long count = ((Reading.Count) readings.get(PLACES * 3 + 1)).value();
    List<BitSet> bins = new ArrayList<>();
    for (int i = 0; i < BINS; i++) {
      bins.add(numbers(readings.get(PLACES * 3 + 2 + i)));
    }
    return new TransactionView(numbers, count, registers, fields, added, bins);
  }

  private static BitSet numbers(Reading set) {
    BitSet numbers = new BitSet();
    for (Value value : ((Reading.Many) set).values()) {
      numbers.set(Math.toIntExact(number(value)));
    }
    return numbers;
  }

  private static long number(Reading.Single single) {
    return single.value().map(TransactionView::number).orElse(0L);
  }

  private static long number(Value value) {
    return ((Value.Int) value).content();
  }

  /** All transactions seen: a new set. */
  public BitSet all() {
    BitSet all = new BitSet();
    numbers.forEach(all::or);
    return all;
  }

  /** Returns this view as it is after a transaction has written. */
  TransactionView with(int number, Set<Integer> places) {
    List<BitSet> numbersToo = new ArrayList<>();
    List<Long> registersToo = new ArrayList<>(registers);
    List<Long> fieldsToo = new ArrayList<>(fields);
    List<Boolean> addedToo = new ArrayList<>(added);
    for (int i = 0; i < PLACES; i++) {
      numbersToo.add((BitSet) numbers.get(i).clone());
      if (places.contains(i)) {
        numbersToo.get(i).set(number);
        registersToo.set(i, (long) number);
        fieldsToo.set(i, (long) number);
        addedToo.set(i, adds(number));
      }
    }
    List<BitSet> binsToo = new ArrayList<>();
    for (BitSet bin : bins) {
      BitSet after = clears(number) ? new BitSet() : (BitSet) bin.clone();
      after.set(number);
      binsToo.add(after);
    }
    boolean already = all().get(number);
    return new TransactionView(
        numbersToo, already ? count : count + 1, registersToo, fieldsToo, addedToo, binsToo);
  }
}
