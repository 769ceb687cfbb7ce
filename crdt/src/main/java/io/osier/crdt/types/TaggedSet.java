package io.osier.crdt.types;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotSet;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.UpdateContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set whose elements carry the dots of the additions that put them there, after the optimised
 * OR-set of Bieniusa and others, "An optimized conflict-free replicated set" (2012): removal leaves
 * nothing behind except the causal context.
 *
 * <p>In the add-wins set adding wins over a concurrent removal. Why is an element missing there?
 * Because every addition of it that has arrived here was seen by a removal that has arrived here.
 * The grow-only set has no removal: only clearing it, or removing the field that it is, makes it
 * smaller, by the elements that were seen; that is why its elements carry dots at all.
 */
public final class TaggedSet extends SetStore<TaggedSet, DotSet> {
  public static final TaggedSet ADD_WINS = new TaggedSet(EntryContent.none(), CrdtType.AW_SET);

  public static final TaggedSet GROW_ONLY = new TaggedSet(EntryContent.none(), CrdtType.G_SET);

  private static final int ENTRY_BYTES_MIN = 3;

  private final CrdtType type;

  private TaggedSet(EntryContent<Value, DotSet> content, CrdtType type) {
    super(content);
    this.type = type;
  }

  @Override
  TaggedSet with(EntryContent<Value, DotSet> content) {
    return new TaggedSet(content, type);
  }

  @Override
  public TaggedSet codecType() {
    return type == CrdtType.G_SET ? GROW_ONLY : ADD_WINS;
  }

  @Override
  public CrdtType type() {
    return type;
  }

  @Override
  public TaggedSet prepare(Operation operation, UpdateContext preparation) {
    if (operation instanceof Operation.Add add) {
      return add(add.elements(), preparation);
    }
    if (operation instanceof Operation.Remove remove && type == CrdtType.AW_SET) {
      return remove(remove.elements(), preparation);
    }
    throw wrongOperation(operation);
  }

  /**
   * Prepares an addition, which replaces the dots that were seen, so an element has as many dots as
   * concurrent additions.
   */
  private TaggedSet add(List<Value> elements, UpdateContext preparation) {
    if (elements.size() == 1) { // as nearly always
      Value element = elements.getFirst();
      cell(element).supersede(preparation);
      return delta(element, DotSet.of(preparation.nextDot()));
    }
    EntryEditor<TaggedSet, Value, DotSet> delta = delta();
    for (Value element : elements) {
      if (!delta.has(element)) { // given twice it is added once
        cell(element).supersede(preparation);
        delta.put(element, DotSet.of(preparation.nextDot()));
      }
    }
    return delta.done();
  }

  /** An operation's effect, as a delta and as the state after it. */
  public record Written(TaggedSet delta, TaggedSet after) {}

  public boolean writesAtOnce(Operation operation) {
    return operation instanceof Operation.Clear
        || (operation instanceof Operation.Add add && add.elements().size() == 1);
  }

  /** Prepares an operation and joins it to this state: an element is looked up once. */
  public Written write(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.Add add)) {
      return new Written(reset(preparation), with(EntryContent.none()));
    }
    Value element = add.elements().getFirst();
    DotSet dot = DotSet.of(preparation.nextDot());
    EntryEditor<TaggedSet, Value, DotSet> after = edit();
    DotSet seen = after.put(element, dot);
    if (seen != null) {
      seen.supersede(preparation);
    }
    return new Written(delta(element, dot), after.done());
  }

  /**
   * Returns what a query reads in this set, if that follows from what an update has made of it:
   * whether the one element that was added had been there. It had if the set has not become larger,
   * so it need not be looked for once more.
   *
   * @param after the set with the update
   * @return null if the update or the query is another one
   */
  public @Nullable Reading readBefore(Query query, Operation update, TaggedSet after) {
    return update instanceof Operation.Add add
            && add.elements().size() == 1
            && query instanceof Query.Among among
            && among.elements().equals(add.elements())
        ? new Reading.Many(visible() == after.visible() ? add.elements() : List.of())
        : null;
  }

  private TaggedSet remove(List<Value> elements, UpdateContext preparation) {
    EntryEditor<TaggedSet, Value, DotSet> delta = delta();
    for (Value element : elements) {
      if (find(element) != null && !delta.has(element)) {
        cell(element).supersede(preparation);
        delta.put(element, DotSet.EMPTY);
      }
    }
    return delta.done();
  }

  @Override
  DotSet resetCell(DotSet dots, UpdateContext preparation) {
    dots.supersede(preparation);
    return DotSet.EMPTY;
  }

  @Override
  DotSet emptyCell(Value element) {
    return DotSet.EMPTY;
  }

  @Override
  DotSet joinCells(DotSet left, DotSet right, JoinContext joining) {
    return left.join(right, joining.left(), joining.right());
  }

  @Override
  public boolean isEmptyCell(DotSet dots) {
    return dots.isEmpty();
  }

  @Override
  public boolean isVisible(DotSet dots) {
    return !dots.isEmpty();
  }

  @Override
  public long cellHeapBytes(Value element, DotSet dots) {
    return element.heapBytes() + dots.heapBytes();
  }

  @Override
  public long cellBytes(Value element, DotSet dots) {
    return (long) element.sizeBytes() + dots.sizeBytes();
  }

  @Override
  public void writeCell(WireOutput out, DotSet dots) {
    dots.write(out);
  }

  @Override
  public DotSet readCell(WireInput in, Value element, List<ReplicaId> replicas) {
    return DotSet.read(in);
  }

  @Override
  boolean skipCell(WireInput in) {
    return DotSet.skip(in);
  }

  @Override
  int entryBytesMin() {
    return ENTRY_BYTES_MIN;
  }
}
