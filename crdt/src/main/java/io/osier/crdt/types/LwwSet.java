package io.osier.crdt.types;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotFun;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Timestamped;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.tree.TreeEntry;
import java.util.List;

/**
 * A set; of concurrent changes of an element the one with the latest timestamp wins, and at equal
 * timestamps the bias decides (the LWW-element-set of Shapiro and others, 2011, as Chevrotain uses
 * it). Each change replaces what it saw; changes that did not see each other are kept side by side
 * until the next one.
 */
public final class LwwSet extends SetStore<LwwSet, DotFun<Timestamped<Boolean>>> {
  /** The empty set with a bias to adding at equal timestamps. */
  public static final LwwSet EMPTY_ADD_BIAS = new LwwSet(EntryContent.none(), true);

  /** The empty set with a bias to removing at equal timestamps. */
  public static final LwwSet EMPTY_REMOVE_BIAS = new LwwSet(EntryContent.none(), false);

  private static final int ENTRY_BYTES_MIN = 3;

  private final boolean addBias;

  private LwwSet(EntryContent<Value, DotFun<Timestamped<Boolean>>> content, boolean addBias) {
    super(content);
    this.addBias = addBias;
  }

  @Override
  LwwSet with(EntryContent<Value, DotFun<Timestamped<Boolean>>> content) {
    return new LwwSet(content, addBias);
  }

  @Override
  public LwwSet codecType() {
    return addBias ? EMPTY_ADD_BIAS : EMPTY_REMOVE_BIAS;
  }

  @Override
  public CrdtType type() {
    return addBias ? CrdtType.LWW_SET_ADD_BIAS : CrdtType.LWW_SET_REMOVE_BIAS;
  }

  @Override
  public LwwSet prepare(Operation operation, UpdateContext preparation) {
    return switch (operation) {
      case Operation.Add add -> change(add.elements(), true, preparation);
      case Operation.Remove remove -> change(remove.elements(), false, preparation);
      default -> throw wrongOperation(operation);
    };
  }

  private LwwSet change(List<Value> elements, boolean present, UpdateContext preparation) {
    EntryEditor<LwwSet, Value, DotFun<Timestamped<Boolean>>> delta = delta();
    for (Value element : elements) {
      if (delta.has(element)) {
        continue; // given twice it is changed once
      }
      DotFun<Timestamped<Boolean>> seen = cell(element);
      seen.supersede(preparation);
      delta.put(
          element,
          DotFun.of(
              preparation.nextDot(),
              new Timestamped<>(Timestamped.after(seen, preparation), present)));
    }
    return delta.done();
  }

  @Override
  DotFun<Timestamped<Boolean>> resetCell(
      DotFun<Timestamped<Boolean>> changes, UpdateContext preparation) {
    changes.supersede(preparation);
    return DotFun.empty();
  }

  @Override
  DotFun<Timestamped<Boolean>> emptyCell(Value element) {
    return DotFun.empty();
  }

  @Override
  DotFun<Timestamped<Boolean>> joinCells(
      DotFun<Timestamped<Boolean>> left, DotFun<Timestamped<Boolean>> right, JoinContext joining) {
    return left.join(right, joining.left(), joining.right());
  }

  @Override
  public boolean isEmptyCell(DotFun<Timestamped<Boolean>> changes) {
    return changes.isEmpty();
  }

  @Override
  public boolean isVisible(DotFun<Timestamped<Boolean>> changes) {
    long latest = -1;
    boolean present = false;
    for (int i = 0; i < changes.size(); i++) {
      Timestamped<Boolean> change = changes.value(i);
      present = after(present, latest, change.timestamp(), change.value());
      latest = Math.max(latest, change.timestamp());
    }
    return present;
  }

  /**
   * Whether an element is present after one more change, given the outcome and the latest timestamp
   * of the former ones.
   */
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
    for (TreeEntry<Value, DotFun<Timestamped<Boolean>>> entry : inMemory()) {
      latest = Math.max(latest, Timestamped.latest(entry.cell()));
    }
    return latest;
  }

  @Override
  public long cellHeapBytes(Value element, DotFun<Timestamped<Boolean>> changes) {
    return element.heapBytes() + changes.heapBytes(c -> Timestamped.HEAP_BYTES);
  }

  @Override
  public long cellBytes(Value element, DotFun<Timestamped<Boolean>> changes) {
    return (long) element.sizeBytes() + changes.sizeBytes(c -> 9);
  }

  @Override
  public void writeCell(WireOutput out, DotFun<Timestamped<Boolean>> changes) {
    changes.write(
        out,
        (o, c) -> {
          o.writeNumber(c.timestamp());
          o.writeBoolean(c.value());
        });
  }

  @Override
  public DotFun<Timestamped<Boolean>> readCell(
      WireInput in, Value element, List<ReplicaId> replicas) {
    return DotFun.read(in, i -> new Timestamped<>(i.readNumber(), i.readFlag()));
  }

  @Override
  int entryBytesMin() {
    return ENTRY_BYTES_MIN;
  }
}
