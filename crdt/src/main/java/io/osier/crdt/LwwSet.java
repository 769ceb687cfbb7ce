package io.osier.crdt;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.List;

/**
 * A set; of concurrent changes of an element the one with the latest timestamp wins, and at equal
 * timestamps the bias decides (the LWW-element-set of Shapiro and others, 2011, as Chevrotain uses
 * it). Each change replaces what it saw; changes that did not see each other stay side by side
 * until the next one.
 */
public final class LwwSet extends ElementStore<LwwSet, DotFun<Stamped<Boolean>>> {
  /** The empty set that adds at equal timestamps. */
  public static final LwwSet EMPTY_ADD_BIAS = new LwwSet(Cells.none(), true);

  /** The empty set that removes at equal timestamps. */
  public static final LwwSet EMPTY_REMOVE_BIAS = new LwwSet(Cells.none(), false);

  private static final int ENTRY_BYTES_MIN = 3;

  private final boolean addBias;

  private LwwSet(Cells<Value, DotFun<Stamped<Boolean>>> content, boolean addBias) {
    super(content);
    this.addBias = addBias;
  }

  @Override
  LwwSet with(Cells<Value, DotFun<Stamped<Boolean>>> content) {
    return new LwwSet(content, addBias);
  }

  @Override
  public CrdtType type() {
    return addBias ? CrdtType.LWW_SET_ADD_BIAS : CrdtType.LWW_SET_REMOVE_BIAS;
  }

  @Override
  public LwwSet prepare(Operation operation, Preparation preparation) {
    return switch (operation) {
      case Operation.Add add -> change(add.elements(), true, preparation);
      case Operation.Remove remove -> change(remove.elements(), false, preparation);
      default -> throw Stores.wrongOperation(type(), operation);
    };
  }

  private LwwSet change(List<Value> elements, boolean present, Preparation preparation) {
    CellEditor<LwwSet, Value, DotFun<Stamped<Boolean>>> delta = delta();
    for (Value element : elements) {
      if (delta.has(element)) {
        continue; // given twice it is changed once
      }
      DotFun<Stamped<Boolean>> seen = cell(element);
      seen.supersede(preparation);
      delta.put(
          element,
          DotFun.of(
              preparation.nextDot(), new Stamped<>(Stamped.after(seen, preparation), present)));
    }
    return delta.done();
  }

  @Override
  DotFun<Stamped<Boolean>> resetCell(DotFun<Stamped<Boolean>> changes, Preparation preparation) {
    changes.supersede(preparation);
    return DotFun.empty();
  }

  @Override
  DotFun<Stamped<Boolean>> emptyCell(Value element) {
    return DotFun.empty();
  }

  @Override
  DotFun<Stamped<Boolean>> joinCells(
      DotFun<Stamped<Boolean>> left, DotFun<Stamped<Boolean>> right, Joining joining) {
    return left.join(right, joining.left(), joining.right());
  }

  @Override
  boolean isEmptyCell(DotFun<Stamped<Boolean>> changes) {
    return changes.isEmpty();
  }

  @Override
  boolean isVisible(DotFun<Stamped<Boolean>> changes) {
    long latest = -1;
    boolean present = false;
    for (int i = 0; i < changes.size(); i++) {
      Stamped<Boolean> change = changes.value(i);
      present = after(present, latest, change.timestamp(), change.value());
      latest = Math.max(latest, change.timestamp());
    }
    return present;
  }

  /** Whether an element is there by one more change, beside others of which the latest is known. */
  private boolean after(boolean present, long latest, long timestamp, boolean change) {
    if (timestamp == latest && change != present) {
      return addBias;
    }
    return timestamp > latest ? change : present;
  }

  @Override
  boolean skipCell(WireInput in) {
    long latest = -1;
    boolean present = false;
    for (int n = in.readCount(3); n > 0; n--) {
      DotFun.skipDot(in);
      long timestamp = in.readNumber();
      present = after(present, latest, timestamp, in.readFlag());
      latest = Math.max(latest, timestamp);
    }
    return present;
  }

  @Override
  public long latestTimestamp() {
    long latest = 0;
    for (CellEntry<Value, DotFun<Stamped<Boolean>>> entry : cellsInMemory()) {
      latest = Math.max(latest, Stamped.latest(entry.cell()));
    }
    return latest;
  }

  @Override
  long cellHeapBytes(Value element, DotFun<Stamped<Boolean>> changes) {
    return element.heapBytes() + changes.heapBytes(c -> Stamped.HEAP_BYTES);
  }

  @Override
  long cellBytes(Value element, DotFun<Stamped<Boolean>> changes) {
    return (long) element.sizeBytes() + changes.sizeBytes(c -> 9);
  }

  @Override
  void writeCell(WireOutput out, DotFun<Stamped<Boolean>> changes) {
    changes.write(
        out,
        (o, c) -> {
          o.writeNumber(c.timestamp());
          o.writeBoolean(c.value());
        });
  }

  @Override
  DotFun<Stamped<Boolean>> readCell(WireInput in, Value element, List<ReplicaId> replicas) {
    return DotFun.read(in, i -> new Stamped<>(i.readNumber(), i.readFlag()));
  }

  @Override
  int entryBytesMin() {
    return ENTRY_BYTES_MIN;
  }
}
