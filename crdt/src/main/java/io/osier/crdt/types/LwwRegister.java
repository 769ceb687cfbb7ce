package io.osier.crdt.types;

import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.CrdtType;
import io.osier.crdt.DotFun;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.Timestamped;
import io.osier.crdt.UpdateContext;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A register: of concurrent assignments the one with the latest timestamp wins; at equal timestamps
 * the larger dot wins.
 *
 * <p>Why are the losers kept? An assignment replaces what it saw; assignments that did not see each
 * other are kept side by side until the next one replaces them all, and a read picks the winner. If
 * a join dropped the loser, the removal of the winner elsewhere would leave one replica with the
 * loser and another with nothing, depending on the order of joins.
 */
public final class LwwRegister implements DotStore<LwwRegister> {
  /** A register without a value. */
  public static final LwwRegister EMPTY = new LwwRegister(DotFun.empty());

  private final DotFun<Timestamped<Value>> writes;

  private LwwRegister(DotFun<Timestamped<Value>> writes) {
    this.writes = writes;
  }

  @Override
  public CrdtType type() {
    return CrdtType.LWW_REGISTER;
  }

  /** Returns the value; empty if never assigned. */
  public Optional<Value> value() {
    Timestamped<Value> latest = null;
    for (int i = 0; i < writes.size(); i++) {
      // Ascending dots: at equal timestamps the larger dot comes later and wins.
      if (latest == null || writes.value(i).timestamp() >= latest.timestamp()) {
        latest = writes.value(i);
      }
    }
    return latest == null ? Optional.empty() : Optional.of(latest.value());
  }

  @Override
  public LwwRegister prepare(Operation operation, UpdateContext preparation) {
    if (!(operation instanceof Operation.Assign assign)) {
      throw wrongOperation(operation);
    }
    writes.supersede(preparation);
    return new LwwRegister(
        DotFun.of(
            preparation.nextDot(),
            new Timestamped<>(Timestamped.after(writes, preparation), assign.value())));
  }

  @Override
  public LwwRegister reset(UpdateContext preparation) {
    writes.supersede(preparation);
    return EMPTY;
  }

  @Override
  public LwwRegister join(LwwRegister other, JoinContext joining) {
    return new LwwRegister(writes.join(other.writes, joining.left(), joining.right()));
  }

  @Override
  public Reading read(Query query) {
    if (!(query instanceof Query.Whole)) {
      throw wrongQuery(query);
    }
    return new Reading.Single(value());
  }

  @Override
  public boolean isBottom() {
    return writes.isEmpty();
  }

  @Override
  public long latestTimestamp() {
    return Timestamped.latest(writes);
  }

  @Override
  public long heapBytes() {
    return HeapSize.object(HeapSize.REFERENCE)
        + writes.heapBytes(w -> Timestamped.HEAP_BYTES + w.value().heapBytes());
  }

  @Override
  public long sizeBytes() {
    return writes.sizeBytes(w -> 8 + w.value().sizeBytes());
  }

  @Override
  public void write(WireOutput out) {
    writes.write(
        out,
        (o, w) -> {
          o.writeNumber(w.timestamp());
          o.writeValue(w.value());
        });
  }

  /** Reads the form that {@link #write} produces. */
  static LwwRegister read(WireInput in) {
    return new LwwRegister(DotFun.read(in, i -> new Timestamped<>(i.readNumber(), i.readValue())));
  }

  /** See {@link TypeRegistry#skip}. */
  static boolean skip(WireInput in) {
    return DotFun.skip(
        in,
        i -> {
          i.readNumber();
          i.skipValue();
        });
  }

  /** See {@link TypeRegistry#readValue}. */
  static @Nullable Reading readValue(WireInput in) {
    return DotFun.readOnly(
        in,
        i -> {
          i.readNumber();
          return new Reading.Single(Optional.of(i.readValue()));
        });
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof LwwRegister r && writes.equals(r.writes);
  }

  @Override
  public int hashCode() {
    return writes.hashCode();
  }

  @Override
  public String toString() {
    return writes.toString();
  }
}
