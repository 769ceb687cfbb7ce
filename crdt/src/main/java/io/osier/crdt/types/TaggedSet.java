package io.osier.crdt.types;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.DotSet;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;
import java.util.List;

/**
 * A set whose elements carry the dots of the additions that put them there, after the optimised
 * OR-set of Bieniusa and others, "An optimized conflict-free replicated set" (2012): removal leaves
 * nothing behind but the causal context.
 *
 * @param <S> the implementing class
 */
public abstract class TaggedSet<S extends TaggedSet<S>> extends SetStore<S, DotSet> {
  private static final int ENTRY_BYTES_MIN = 3;

  TaggedSet(EntryContent<Value, DotSet> content) {
    super(content);
  }

  /**
   * Adding replaces the dots that were seen, so an element has as many dots as concurrent
   * additions.
   */
  final S add(List<Value> elements, UpdateContext preparation) {
    if (elements.size() == 1) { // as it mostly is
      Value element = elements.getFirst();
      cell(element).supersede(preparation);
      return delta(element, DotSet.of(preparation.nextDot()));
    }
    EntryEditor<S, Value, DotSet> delta = delta();
    for (Value element : elements) {
      if (!delta.has(element)) { // given twice it is added once
        cell(element).supersede(preparation);
        delta.put(element, DotSet.of(preparation.nextDot()));
      }
    }
    return delta.done();
  }

  /** What an operation writes, as a delta, and what it makes of a state. */
  public record Written(TaggedSet<?> delta, TaggedSet<?> after) {}

  /** Whether {@link #write} does an operation. */
  public final boolean writesAtOnce(Operation operation) {
    return operation instanceof Operation.Clear
        || (operation instanceof Operation.Add add && add.elements().size() == 1);
  }

  /** Prepares an operation and joins it to this state: an element is looked for once. */
  public final Written write(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.Add add)) {
      return new Written(reset(preparation), with(EntryContent.none()));
    }
    Value element = add.elements().getFirst();
    DotSet dot = DotSet.of(preparation.nextDot());
    EntryEditor<S, Value, DotSet> after = edit();
    DotSet seen = after.put(element, dot);
    if (seen != null) {
      seen.supersede(preparation);
    }
    return new Written(delta(element, dot), after.done());
  }

  final S remove(List<Value> elements, UpdateContext preparation) {
    EntryEditor<S, Value, DotSet> delta = delta();
    for (Value element : elements) {
      if (has(element) && !delta.has(element)) {
        cell(element).supersede(preparation);
        delta.put(element, DotSet.EMPTY);
      }
    }
    return delta.done();
  }

  @Override
  final DotSet resetCell(DotSet dots, UpdateContext preparation) {
    dots.supersede(preparation);
    return DotSet.EMPTY;
  }

  @Override
  final DotSet emptyCell(Value element) {
    return DotSet.EMPTY;
  }

  @Override
  final DotSet joinCells(DotSet left, DotSet right, JoinContext joining) {
    return left.join(right, joining.left(), joining.right());
  }

  @Override
  public final boolean isEmptyCell(DotSet dots) {
    return dots.isEmpty();
  }

  @Override
  public final boolean isVisible(DotSet dots) {
    return !dots.isEmpty();
  }

  @Override
  final long cellHeapBytes(Value element, DotSet dots) {
    return element.heapBytes() + dots.heapBytes();
  }

  @Override
  public final long cellBytes(Value element, DotSet dots) {
    return (long) element.sizeBytes() + dots.sizeBytes();
  }

  @Override
  public final void writeCell(WireOutput out, DotSet dots) {
    dots.write(out);
  }

  @Override
  final DotSet readCell(WireInput in, Value element, List<ReplicaId> replicas) {
    return DotSet.read(in);
  }

  @Override
  final boolean skipCell(WireInput in) {
    return DotSet.skip(in);
  }

  @Override
  final int entryBytesMin() {
    return ENTRY_BYTES_MIN;
  }
}
