package io.osier.crdt.state;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.EntryStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The operations that make another object show the same as an object does. Operations are needed
 * since a state's dots belong to its own object. Pure, for any thread.
 *
 * @param updates are done on a new object, in order
 * @param beside are done after them, as if none of them had seen the others: the further values of
 *     registers with several values
 * @param deadlines are done at the end, in order
 */
public record Contents(List<Operation> updates, List<Operation> beside, List<Operation> deadlines) {
  public Contents {
    updates = List.copyOf(updates);
    beside = List.copyOf(beside);
    deadlines = List.copyOf(deadlines);
  }

  /**
   * Returns the operations for what an object shows. Costs its size.
   *
   * @param object one that is not empty, without expired parts
   * @throws OsierException VALUE_TOO_LARGE if it has more than {@link EntryStore#WHOLE_BYTES_MAX}
   *     bytes, before it is read; INVALID_ARGUMENT if it is a bounded counter
   */
  public static Contents of(CrdtState object) {
    if (object.type() == CrdtType.BOUNDED_COUNTER) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a bounded counter cannot be renamed or copied: its rights belong to its key");
    }
    if (object.sizeBytes() > EntryStore.WHOLE_BYTES_MAX) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          "a %s of about %s bytes is too large to be renamed or copied: the limit is %s bytes"
              .formatted(object.type(), object.sizeBytes(), EntryStore.WHOLE_BYTES_MAX));
    }
    Reading shown = object.read(new Query.Whole());
    List<Operation> each = assignments(object.type(), shown);
    return new Contents(
        each.subList(0, Math.min(1, each.size())),
        each.subList(Math.min(1, each.size()), each.size()),
        deadlines(object, shown));
  }

  /**
   * Returns the operations; the first makes everything that one operation can make, the others are
   * concurrent to it.
   */
  private static List<Operation> assignments(CrdtType type, Reading shown) {
    return switch (shown) {
      case Reading.Count r -> List.of(new Operation.Increment(r.value()));
      case Reading.Flag r -> List.of(new Operation.SetFlag(r.value()));
      case Reading.Single r -> r.value().<Operation>map(Operation.Assign::new).stream().toList();
      case Reading.Many r ->
          type == CrdtType.MV_REGISTER
              ? r.values().stream().<Operation>map(Operation.Assign::new).toList()
              : r.values().isEmpty() ? List.of() : List.of(new Operation.Add(r.values()));
      case Reading.Fields r -> fields(r);
      case Reading.Rights r -> throw new IllegalArgumentException("rights are not copied");
    };
  }

  private static List<Operation> fields(Reading.Fields map) {
    List<Operation.FieldUpdate> first = new ArrayList<>();
    List<Operation> others = new ArrayList<>();
    for (Map.Entry<FieldId, Reading> field : map.fields().entrySet()) {
      FieldId id = field.getKey();
      List<Operation> each = assignments(id.type(), field.getValue());
      for (int i = 0; i < each.size(); i++) {
        Operation.FieldUpdate update = new Operation.FieldUpdate(id, each.get(i));
        if (i == 0) {
          first.add(update);
        } else {
          others.add(new Operation.UpdateFields(List.of(update)));
        }
      }
    }
    if (first.isEmpty()) {
      return List.of();
    }
    others.addFirst(new Operation.UpdateFields(first));
    return others;
  }

  private static List<Operation> deadlines(CrdtState object, Reading shown) {
    if (!object.expires()) {
      return List.of();
    }
    List<Operation> all = new ArrayList<>();
    if (object.mortalParts() > 0) {
      SortedMap<Long, List<Part>> parts = new TreeMap<>();
      for (Part part : partsOf(shown)) {
        parts.computeIfAbsent(object.deadline(part), d -> new ArrayList<>()).add(part);
      }
      parts.forEach(
          (deadline, of) ->
              until(deadline).ifPresent(d -> all.add(new Operation.ExpireParts(of, d))));
    }
    until(object.deadline()).ifPresent(all::add);
    return all;
  }

  private static Optional<Operation.Expire> until(long deadline) {
    return deadline == CrdtState.NEVER
        ? Optional.empty()
        : Optional.of(new Operation.Expire(deadline, false));
  }

  private static Collection<Part> partsOf(Reading shown) {
    if (shown instanceof Reading.Fields map) {
      return map.fields().keySet().stream()
          .map(FieldId::name)
          .distinct()
          .<Part>map(Part.Field::new)
          .toList();
    }
    List<Value> elements = shown.asList();
    return elements.stream().<Part>map(Part.Element::new).toList();
  }
}
