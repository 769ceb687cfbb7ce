package io.osier.crdt.types;

import static java.util.Objects.requireNonNull;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Utf8;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotStore;
import io.osier.crdt.FieldId;
import io.osier.crdt.JoinContext;
import io.osier.crdt.KeyOrder;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.tree.TreeEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A map of named fields, each of any type, including maps. Removing a field resets what the remover
 * saw of it: a concurrent update stays, and so does the field. If one name is given two types at
 * the same time, there are two fields.
 *
 * <p>A field is present while a reader can tell its value from a new object's ({@link
 * DotStore#isBottom}). The sums that a removed counter must remember stay in the state.
 *
 * <p>All fields share the object's causal context, so a map of n fields costs one context.
 */
public final class OrMap extends EntryStore<OrMap, FieldId, DotStore<?>> {
  /** The map without fields. */
  public static final OrMap EMPTY = new OrMap(EntryContent.none());

  private static final int ENTRY_BYTES_MIN = 3;

  private static final CrdtType[] TYPES = CrdtType.values();

  private OrMap(EntryContent<FieldId, DotStore<?>> content) {
    super(content);
  }

  @Override
  OrMap with(EntryContent<FieldId, DotStore<?>> content) {
    return new OrMap(content);
  }

  @Override
  public OrMap codecType() {
    return EMPTY;
  }

  @Override
  public CrdtType type() {
    return CrdtType.OR_MAP;
  }

  @Override
  public OrMap prepare(Operation operation, UpdateContext preparation) {
    return switch (operation) {
      case Operation.UpdateFields update when update.updates().size() == 1 -> {
        Operation.FieldUpdate only = update.updates().getFirst(); // as nearly always
        yield delta(only.field(), change(cell(only.field()), only.operation(), preparation));
      }
      case Operation.UpdateFields update -> {
        EntryEditor<OrMap, FieldId, DotStore<?>> delta = delta();
        Map<FieldId, Step> last = new HashMap<>();
        for (Operation.FieldUpdate field : update.updates()) {
          updateField(delta, last, field, preparation);
        }
        yield delta.done();
      }
      case Operation.RemoveFields remove ->
          reset(present(remove.names()).stream().map(TreeEntry::key).toList(), preparation);
      default -> throw wrongOperation(operation);
    };
  }

  /**
   * An update of a field, one of several within an update of the map.
   *
   * @param before the field that it was prepared against
   * @param from before the dots that it superseded and wrote
   * @param to after those
   */
  private record Step(
      DotStore<?> before, DotStore<?> change, UpdateContext.Mark from, UpdateContext.Mark to) {

    DotStore<?> after(UpdateContext preparation) {
      return TypeRegistry.join(before, change, against(preparation.between(from, to), true));
    }
  }

  /**
   * Updates one field, against what the update's earlier steps made of it. Each is joined in the
   * context of what it saw and wrote itself, so that many updates of one field cost no more than
   * their sizes.
   *
   * @param last each field's last step so far
   */
  private void updateField(
      EntryEditor<OrMap, FieldId, DotStore<?>> delta,
      Map<FieldId, Step> last,
      Operation.FieldUpdate update,
      UpdateContext preparation) {
    FieldId field = update.field();
    Step earlier = last.get(field);
    DotStore<?> current = earlier == null ? cell(field) : earlier.after(preparation);
    UpdateContext.Mark from = preparation.mark();
    DotStore<?> change = change(current, update.operation(), preparation);
    UpdateContext.Mark to = preparation.mark();
    last.put(field, new Step(current, change, from, to));
    delta.put(
        field,
        earlier == null
            ? change
            : TypeRegistry.join(
                requireNonNull(delta.get(field)), // the earlier step's
                change,
                against(preparation.between(from, to), false)));
  }

  /** Prepares an operation on one field, or its reset. */
  public static DotStore<?> change(
      DotStore<?> field, Operation operation, UpdateContext preparation) {
    return operation instanceof Operation.Clear
        ? field.reset(preparation)
        : field.prepare(operation, preparation);
  }

  /** Returns a join's context in which the left side lacks the update's own, new dots. */
  private static JoinContext against(CausalContext own, boolean leftFull) {
    return new JoinContext(CausalContext.EMPTY, leftFull, own, false);
  }

  @Override
  DotStore<?> resetCell(DotStore<?> field, UpdateContext preparation) {
    return field.reset(preparation);
  }

  @Override
  public Reading read(Query query) {
    return switch (query) {
      case Query.Whole q -> fields(visible(Function.identity()));
      case Query.Range q -> fields(new RangeReader<>(this, q).visible(Function.identity()));
      case Query.Select q -> {
        List<TreeEntry<FieldId, DotStore<?>>> present = present(q.names());
        present.removeIf(entry -> !isVisible(entry.cell()));
        yield fields(present);
      }
      case Query.Size q -> new Reading.Count(visible());
      default -> throw wrongQuery(query);
    };
  }

  @Override
  boolean skip(WireInput in) {
    in.skipText(FieldId.NAME_LENGTH_MAX);
    return TypeRegistry.skip(CrdtType.of(in.readByte()), in);
  }

  @Override
  @Nullable Reading readPacked(Query query, WireInput in) {
    return query instanceof Query.Select q && q.names().size() == 1
        ? readFields(q.names().getFirst(), in)
        : super.readPacked(query, in);
  }

  /** Reads up to the name's position, or to the first field if none is before that. */
  private @Nullable Reading readFields(String name, WireInput in) {
    if (Utf8.length(name) != name.length()) {
      return null; // not ASCII: the order would be by characters
    }
    SortedMap<FieldId, Reading> fields = new TreeMap<>();
    boolean isAny = false;
    boolean isPast = false;
    for (int n = in.readCount(entryBytesMin()); n > 0 && !(isPast && isAny); n--) {
      int order = in.compareText(name, FieldId.NAME_LENGTH_MAX);
      CrdtType type = CrdtType.of(in.readByte());
      if (order == 0) {
        Reading value = TypeRegistry.readValue(type, in);
        if (value == null) {
          return null;
        }
        fields.put(new FieldId(name, type), value);
        isAny = true;
      } else {
        isPast = order > 0;
        isAny |= TypeRegistry.skip(type, in);
      }
    }
    return isAny ? new Reading.Fields(fields) : null;
  }

  /**
   * Returns the bytes of the fields of some names, as far as known without reading one: small ones
   * may count nothing, and those outside the heap count as an average one of the map.
   */
  public long largeBytes(List<String> names) {
    return names.stream().mapToLong(this::largeBytes).sum();
  }

  private long largeBytes(String name) {
    long sum = named(name).mapToLong(this::bytesInMemory).sum();
    // Of fields outside only the average is known: at most one field of a name is counted.
    return sum > 0 || behind() == null ? sum : sizeBytes() / Math.max(1, entryCount());
  }

  private static Reading.Fields fields(List<TreeEntry<FieldId, DotStore<?>>> present) {
    SortedMap<FieldId, Reading> fields = new TreeMap<>();
    for (TreeEntry<FieldId, DotStore<?>> entry : present) {
      fields.put(entry.key(), entry.cell().read(new Query.Whole()));
    }
    return new Reading.Fields(fields);
  }

  @Override
  DotStore<?> emptyCell(FieldId field) {
    return TypeRegistry.empty(field.type());
  }

  @Override
  DotStore<?> joinCells(DotStore<?> left, DotStore<?> right, JoinContext joining) {
    return TypeRegistry.join(left, right, joining);
  }

  @Override
  public boolean isEmptyCell(DotStore<?> field) {
    return field.isEmpty();
  }

  @Override
  DotStore<?> trimmedCell(DotStore<?> field) {
    return field.trimmed();
  }

  @Override
  boolean isLasting(DotStore<?> field) {
    return !field.isTrimmedEmpty();
  }

  @Override
  public boolean isVisible(DotStore<?> field) {
    return !field.isBottom();
  }

  @Override
  public long latestTimestamp() {
    long latest = 0;
    for (TreeEntry<FieldId, DotStore<?>> entry : inMemory()) {
      latest = Math.max(latest, entry.cell().latestTimestamp());
    }
    return latest;
  }

  @Override
  public List<FieldId> touched(Operation operation) {
    return switch (operation) {
      case Operation.UpdateFields o ->
          o.updates().stream().map(Operation.FieldUpdate::field).toList();
      case Operation.RemoveFields o -> o.names().stream().flatMap(OrMap::named).toList();
      default -> List.of();
    };
  }

  @Override
  public List<FieldId> keys(Part part) {
    if (part instanceof Part.Field field) {
      return named(field.name()).toList();
    }
    throw OsierException.of(ErrorCode.WRONG_TYPE, "a " + type() + " has fields, not elements");
  }

  private static Stream<FieldId> named(String name) {
    return Arrays.stream(TYPES).map(type -> new FieldId(name, type));
  }

  /** Returns the existing fields of some names; of a name that is given twice, once. */
  private List<TreeEntry<FieldId, DotStore<?>>> present(List<String> names) {
    List<TreeEntry<FieldId, DotStore<?>>> found = new ArrayList<>(names.size());
    for (String name : names.size() > 1 ? new LinkedHashSet<>(names) : names) {
      addPresent(name, found);
    }
    return found;
  }

  /** Adds the existing fields of a name: one search finds them, unless some are outside. */
  private void addPresent(String name, List<TreeEntry<FieldId, DotStore<?>>> found) {
    if (behind() == null) {
      found.addAll(
          inMemory()
              .between(new FieldId(name, TYPES[0]), new FieldId(name, TYPES[TYPES.length - 1])));
      return;
    }
    for (CrdtType type : TYPES) {
      FieldId field = new FieldId(name, type);
      DotStore<?> cell = find(field);
      if (cell != null) {
        found.add(new TreeEntry<>(field, cell));
      }
    }
  }

  /** Always false: a counter keeps the sums that were reset. */
  @Override
  public boolean leavesNothing() {
    return false;
  }

  @Override
  boolean areOfOnePart(FieldId one, FieldId other) {
    return one.name().equals(other.name());
  }

  @Override
  public long keyBytes(FieldId field) {
    return 2L + Utf8.length(field.name());
  }

  @Override
  public long keyHeapBytes(FieldId field) {
    return field.heapBytes();
  }

  @Override
  public byte[] orderedKey(FieldId field) {
    return KeyOrder.of(field);
  }

  @Override
  public FieldId readOrderedKey(byte[] bytes) {
    return KeyOrder.field(bytes);
  }

  @Override
  public FieldId readKey(WireInput in) {
    return FieldId.read(in);
  }

  @Override
  public long cellHeapBytes(FieldId field, DotStore<?> value) {
    return keyHeapBytes(field) + value.heapBytes();
  }

  @Override
  public long cellBytes(FieldId field, DotStore<?> value) {
    return keyBytes(field) + value.sizeBytes();
  }

  @Override
  public void writeKey(WireOutput out, FieldId field) {
    field.write(out);
  }

  @Override
  public void writeCell(WireOutput out, DotStore<?> value) {
    value.write(out);
  }

  @Override
  public DotStore<?> readCell(WireInput in, FieldId field, List<ReplicaId> replicas) {
    return TypeRegistry.read(field.type(), in, replicas);
  }

  @Override
  int entryBytesMin() {
    return ENTRY_BYTES_MIN;
  }

  @Override
  public DotStore<?> packedCell(DotStore<?> field, List<ReplicaId> replicas) {
    return TypeRegistry.packLeaves(field, replicas);
  }

  @Override
  public OrMap read(WireInput in, List<ReplicaId> replicas) {
    in.enter();
    OrMap map = super.read(in, replicas);
    in.leave();
    return map;
  }
}
