package io.osier.crdt.types;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotPair;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;
import java.util.List;
import java.util.function.Function;

/**
 * A set; of concurrent changes of an element, removing wins.
 *
 * <p>Why is an element missing here, though it was added? Because a removal has arrived here that
 * the addition had not seen. For that, a removal leaves a dot, even of an element that was not
 * there, until an addition that has seen it replaces it.
 */
public final class RwSet extends SetStore<RwSet, DotPair> {
  public static final RwSet EMPTY = new RwSet(EntryContent.none());

  private static final int ENTRY_BYTES_MIN = 4;

  private RwSet(EntryContent<Value, DotPair> content) {
    super(content);
  }

  @Override
  RwSet with(EntryContent<Value, DotPair> content) {
    return new RwSet(content);
  }

  @Override
  public RwSet codecType() {
    return EMPTY;
  }

  @Override
  public CrdtType type() {
    return CrdtType.RW_SET;
  }

  @Override
  public RwSet prepare(Operation operation, UpdateContext preparation) {
    return switch (operation) {
      case Operation.Add add -> change(add.elements(), DotPair::pro, preparation);
      case Operation.Remove remove -> change(remove.elements(), DotPair::con, preparation);
      default -> throw wrongOperation(operation);
    };
  }

  private RwSet change(List<Value> elements, Function<Dot, DotPair> to, UpdateContext preparation) {
    EntryEditor<RwSet, Value, DotPair> delta = delta();
    for (Value element : elements) {
      if (!delta.has(element)) { // given twice it is changed once
        cell(element).supersede(preparation);
        delta.put(element, to.apply(preparation.nextDot()));
      }
    }
    return delta.done();
  }

  @Override
  DotPair resetCell(DotPair dots, UpdateContext preparation) {
    dots.supersede(preparation);
    return DotPair.EMPTY;
  }

  @Override
  DotPair emptyCell(Value element) {
    return DotPair.EMPTY;
  }

  @Override
  DotPair joinCells(DotPair left, DotPair right, JoinContext joining) {
    return left.join(right, joining.left(), joining.right());
  }

  @Override
  public boolean isEmptyCell(DotPair dots) {
    return dots.isEmpty();
  }

  @Override
  public boolean isVisible(DotPair dots) {
    return dots.holds();
  }

  @Override
  public long cellHeapBytes(Value element, DotPair dots) {
    return element.heapBytes() + dots.heapBytes();
  }

  @Override
  public long cellBytes(Value element, DotPair dots) {
    return (long) element.sizeBytes() + dots.sizeBytes();
  }

  @Override
  public void writeCell(WireOutput out, DotPair dots) {
    dots.write(out);
  }

  @Override
  public DotPair readCell(WireInput in, Value element, List<ReplicaId> replicas) {
    return DotPair.read(in);
  }

  @Override
  boolean skipCell(WireInput in) {
    return DotPair.skip(in);
  }

  @Override
  int entryBytesMin() {
    return ENTRY_BYTES_MIN;
  }
}
