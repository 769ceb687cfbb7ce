package io.osier.datacenter.work;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationCodec;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.ReadingCodec;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import io.osier.crdt.types.BoundedCounter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * The work of one object, with histories that make its context and its content as ragged as they
 * can be. Loaded by {@link CountingLoader}.
 */
public final class TypesWork implements BiConsumer<String, Long> {
  /** What any call may cost. */
  private static final long STEPS_BASE = 5_000;

  /** What a byte of input or answer may cost: searching and sorting cost their logarithm, too. */
  private static final long STEPS_A_BYTE = 120;

  /** What was done last: kept, so that nothing is optimised away. */
  private Object last;

  private Random random;
  private CrdtType type;

  /** How many different elements, names and values there are. */
  private int alphabet;

  /** What one replica has made of the object. */
  private static final class Site {
    final ReplicaId id;
    CrdtState state;
    long number;

    Site(ReplicaId id, CrdtState state) {
      this.id = id;
      this.state = state;
    }
  }

  @Override
  public void accept(String typeName, Long seed) {
    random = new Random(seed);
    type = CrdtType.valueOf(typeName);
    alphabet = pick(10, 300, 3_000);
    List<Site> sites = sites(pick(1, 3, 30));
    CrdtState left = all(sites.subList(0, (sites.size() + 1) / 2));
    CrdtState right = all(sites.subList(sites.size() / 2, sites.size()));
    Site site = sites.get(random.nextInt(sites.size()));
    site.state = left.join(right);
    check(left, right);
    checkVectors();
    for (int i = 0; i < 4; i++) {
      update(site, operation(type, pick(1, 10, 1_000), 0));
    }
    if (type != CrdtType.BOUNDED_COUNTER) {
      update(site, new Operation.Clear());
      update(site, operation(type, pick(1, 10), 0));
    }
  }

  /** Contexts and vectors of far more replicas than there will ever be. */
  private void checkVectors() {
    CausalContext left = manyReplicas();
    CausalContext right = manyReplicas();
    VersionVector first = left.toVersionVector();
    VersionVector second = right.toVersionVector();
    long both = bytes(left) + bytes(right);
    within("join of contexts", both, () -> left.join(right));
    within("covers", both, () -> left.join(right).covers(right));
    within("toVersionVector", both, left::toVersionVector);
    within("join of vectors", both, () -> first.join(second));
    within("isAtMost", both, () -> first.join(second).isAtMost(first));
    byte[] encoded = WireOutput.bytesOf(out -> out.writeContext(left));
    within("encoding a context", both, () -> bytes(left));
    within("decoding a context", both, () -> new WireInput(encoded).readContext());
  }

  private CausalContext manyReplicas() {
    CausalContext.Builder context = new CausalContext.Builder();
    for (int i = 1; i <= 3_000; i++) {
      int from = random.nextInt(100);
      context.add(new ReplicaId("d", i), from, from + 1);
      if (random.nextBoolean()) {
        context.add(new ReplicaId("d", i), from + 2, from + 3);
      }
    }
    return context.build();
  }

  private static long bytes(CausalContext context) {
    return WireOutput.bytesOf(out -> out.writeContext(context)).length;
  }

  private int pick(int... some) {
    return some[random.nextInt(some.length)];
  }

  /** Replicas that update the object, some having seen others, their numbers with gaps. */
  private List<Site> sites(int count) {
    List<Site> sites = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sites.add(new Site(new ReplicaId("d" + i % 7, 1 + i / 7), CrdtState.bottom(type)));
    }
    int updates = pick(20, 300, 2_000);
    for (int i = 0; i < updates; i++) {
      Site site = sites.get(random.nextInt(count));
      if (i % 50 == 49) {
        site.state = site.state.join(sites.get(random.nextInt(count)).state);
      }
      site.state = site.state.join(prepared(site, operation(type, 1 + random.nextInt(3), 0)));
      site.number = site.state.context().last(site.id) + random.nextInt(3);
    }
    return sites;
  }

  private static CrdtState all(List<Site> sites) {
    CrdtState all = sites.getFirst().state;
    for (Site site : sites) {
      all = all.join(site.state);
    }
    return all;
  }

  private CrdtState prepared(Site site, Operation wanted) {
    boolean create = site.state.store() instanceof BoundedCounter c && !c.isCreated();
    Operation operation =
        create ? new Operation.Bound(-900, 900, List.of("d0", "d1", "d2")) : wanted;
    return site.state.prepare(
        operation, site.id, site.number + 1, site.state.context().through(site.id), 7, 0);
  }

  // ---------------------------------------------------------------- what is measured

  private void check(CrdtState left, CrdtState right) {
    long both = bytes(left) + bytes(right);
    within("join of two states", both, () -> left.join(right));
    within("join of a state with itself", both, () -> left.join(left.seen(right.context())));
    CrdtState state = left.join(right);
    checkState(state);
    within("equals", both, () -> state.equals(right.join(left)));
    within("hashCode", bytes(state), state::hashCode);
  }

  private static byte[] encoded(CrdtState state) {
    return WireOutput.bytesOf(out -> StateCodec.write(out, state));
  }

  private void checkState(CrdtState state) {
    byte[] encoded = encoded(state);
    within("encoding", encoded.length, () -> encoded(state));
    within(
        "decoding",
        encoded.length,
        () -> StateCodec.read(state.form(), state.isFull(), new WireInput(encoded)));
    within("trimmed", encoded.length, state::trimmed);
    within("latestTimestamp", encoded.length, state::latestTimestamp);
    within("isSpent", rows(state), state::isSpent);
    within("isBottom", rows(state), state::isBottom);
    within("sizeBytes", rows(state), state::sizeBytes);
    within("toVersionVector", rows(state), () -> state.context().toVersionVector());
    Reading whole = state.read(new Query.Whole());
    byte[] answer = bytes(whole);
    within("reading all", encoded.length, () -> state.read(new Query.Whole()));
    within("encoding a reading", answer.length, () -> bytes(whole));
    within("decoding a reading", answer.length, () -> ReadingCodec.read(new WireInput(answer)));
    if (whole instanceof Reading.Many) {
      within("reading an element", rows(state), () -> state.read(new Query.Contains(element())));
    }
    if (whole instanceof Reading.Many || whole instanceof Reading.Fields) {
      within("reading the size", rows(state), () -> state.read(new Query.Size()));
    }
    if (whole instanceof Reading.Fields) {
      Query one = new Query.Select(List.of(name()));
      within("reading a field", rows(state) + bytes(state.read(one)).length, () -> state.read(one));
    }
  }

  /** An update by a site that has everything, and its way to another one. */
  private void update(Site site, Operation operation) {
    CrdtState before = site.state;
    byte[] request = WireOutput.bytesOf(out -> OperationCodec.write(out, operation));
    within("reading a request", request.length, () -> OperationCodec.read(new WireInput(request)));
    CrdtState delta = prepared(site, operation);
    long size = request.length + bytes(delta) + rows(before);
    size += 10L * fields(operation); // each is looked for, a name to remove even in every type
    String what = operation.getClass().getSimpleName();
    within("preparing " + what, size, () -> prepared(site, operation));
    within("joining " + what, size, () -> before.join(delta));
    within("joining with " + what, size, () -> delta.join(before));
    within("parts of " + what, size, operation::parts);
    CrdtState after = before.join(delta);
    CrdtState next = after.prepare(operation, site.id, delta.context().last(site.id) + 2, 0, 8, 0);
    within("grouping " + what, bytes(delta) + bytes(next), () -> delta.join(next));
    checkState(delta);
    site.state = after;
    site.number = delta.context().last(site.id) + 2;
    checkState(after);
  }

  private static int fields(Operation operation) {
    return operation instanceof Operation.RemoveFields remove
        ? remove.names().size()
        : operation.parts().size();
  }

  private void within(String what, long bytes, Supplier<?> action) {
    long work = Steps.of(() -> last = action.get());
    if (work > STEPS_BASE + STEPS_A_BYTE * bytes) {
      throw new AssertionError(
          what + " of a " + type + " took " + work + " steps for " + bytes + " bytes");
    }
  }

  private static long bytes(CrdtState causal) {
    return encoded(causal).length;
  }

  private static byte[] bytes(Reading reading) {
    return WireOutput.bytesOf(out -> ReadingCodec.write(out, reading));
  }

  /**
   * What a state costs that is only touched: its context, and as much for what a counter or a
   * register keeps for each replica.
   */
  private static long rows(CrdtState state) {
    CausalContext context = state.context();
    return 2L * bytes(context);
  }

  // ---------------------------------------------------------------- operations

  private Operation operation(CrdtType of, int size, int depth) {
    return switch (of) {
      case PN_COUNTER -> new Operation.Increment(random.nextInt(7) - 3);
      case G_COUNTER -> new Operation.Increment(random.nextInt(4));
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER -> new Operation.Assign(element());
      case STRING ->
          random.nextInt(3) == 0
              ? new Operation.Assign(Value.of(random.nextInt(100)))
              : new Operation.IncrementDecimal(BigDecimal.valueOf(random.nextInt(70) - 30, 1));
      case EW_FLAG, DW_FLAG -> new Operation.SetFlag(random.nextBoolean());
      case G_SET -> new Operation.Add(elements(size));
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          random.nextInt(3) == 0
              ? new Operation.Remove(elements(size))
              : new Operation.Add(elements(size));
      case OR_MAP -> mapOperation(size, depth);
      case BOUNDED_COUNTER ->
          switch (random.nextInt(4)) {
            case 0 -> new Operation.Bound(-random.nextInt(9), 9, List.of("d0", "d1", "d2"));
            case 1 -> new Operation.Transfer("d1", 1, random.nextBoolean());
            default -> new Operation.Increment(random.nextInt(7) - 3);
          };
    };
  }

  private Operation mapOperation(int size, int depth) {
    if (random.nextInt(4) == 0) {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < size; i++) {
        names.add(name());
      }
      return new Operation.RemoveFields(names);
    }
    List<CrdtType> types =
        Arrays.stream(CrdtType.values())
            .filter(t -> t.isNestable() && (depth < 2 || t != CrdtType.OR_MAP))
            .toList();
    boolean one = random.nextInt(3) == 0; // all updates are of one field
    FieldId always = new FieldId(name(), types.get(random.nextInt(types.size())));
    int inner = one || size < 4 ? 1 : pick(1, size / 4);
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    for (int i = 0; i < size / inner; i++) {
      FieldId field = one ? always : new FieldId(name(), types.get(random.nextInt(types.size())));
      Operation operation =
          random.nextInt(20) == 0
              ? new Operation.Clear()
              : operation(field.type(), inner, depth + 1);
      updates.add(new Operation.FieldUpdate(field, operation));
    }
    return new Operation.UpdateFields(updates);
  }

  private String name() {
    return "f" + random.nextInt(alphabet);
  }

  private Value element() {
    return Value.of("e" + random.nextInt(alphabet));
  }

  private List<Value> elements(int size) {
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      elements.add(element());
    }
    return elements;
  }
}
