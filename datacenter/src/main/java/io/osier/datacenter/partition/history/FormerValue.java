package io.osier.datacenter.partition.history;

import io.osier.core.Key;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The objects of a key before a step replaced one of them, and what keeping them takes in the heap.
 * Not thread-safe.
 */
final class FormerValue {
  /** What a former value takes in the heap besides its content and its key, about, in bytes. */
  private static final long PLACE_BYTES = 340;

  /**
   * Values of more bytes than this are neither packed whole while they are in memory nor let go
   * whole: the packed parts of one are shared with its successor.
   */
  private static final long WHOLE_BYTES_MAX = 64 << 10;

  final Key key;
  final List<CrdtState> states;

  /** The step that replaced this value. */
  final long until;

  final long replacedNanos;

  /** What this value takes in the heap if it shares no parts with another one, about, in bytes. */
  private final long wholeBytes;

  /** The part of wholeBytes that may not be shared with the present value. */
  private final long looseBytes;

  /** The part of wholeBytes that the next kept value does not share, if {@link #isShared}. */
  private long changedBytes;

  /** Whether the next value that is kept was made from this one. */
  private boolean isShared;

  /**
   * The identity hash code of the state that replaced this one, if no other value was kept since; 0
   * otherwise. The state itself is not referenced. If another state has the same hash code, the
   * heap is merely underestimated.
   */
  private int next;

  /** The bytes that this value has taken from the budget. */
  private long charged;

  FormerValue(Key key, List<CrdtState> states, long until, long replacedNanos) {
    this.key = key;
    this.states = states;
    this.until = until;
    this.replacedNanos = replacedNanos;
    long whole = 0;
    long loose = 0;
    for (CrdtState state : states) {
      boolean isLarge = state.sizeBytes() > WHOLE_BYTES_MAX || Decomposition.isDecomposed(state);
      whole += state.heapBytes();
      loose += isLarge ? state.looseHeapBytes() : state.heapBytes();
    }
    this.wholeBytes = whole;
    this.looseBytes = loose;
  }

  /** Returns the object of a type, or null. */
  @Nullable CrdtState of(CrdtType type) {
    for (CrdtState state : states) {
      if (state.type() == type) {
        return state;
      }
    }
    return null;
  }

  /** Notes that one of the objects was changed again, into this state. */
  void changed(long bytes, CrdtState after) {
    changedBytes = Math.min(wholeBytes, changedBytes + bytes);
    next = System.identityHashCode(after);
  }

  boolean isMadeInto(CrdtState state) {
    return next != 0 && next == System.identityHashCode(state);
  }

  /** Notes that the next value is kept, too, and was made from this one. */
  void sharesWithNext() {
    isShared = true;
    next = 0;
  }

  /** Notes that the next value, which was kept, is dropped. */
  void outlives(FormerValue following) {
    if (isShared) {
      changedBytes = Math.min(wholeBytes, changedBytes + following.changedBytes);
      isShared = following.isShared;
      next = following.next;
    }
  }

  /** Adjusts the bytes taken from the budget to what this value takes now. */
  void recharge(Budget budget) {
    long heapBytes =
        PLACE_BYTES
            + key.heapBytes()
            + (isShared ? changedBytes : Math.min(wholeBytes, changedBytes + looseBytes));
    budget.take(heapBytes - charged);
    charged = heapBytes;
  }

  /** Returns this value's bytes to the budget: it is dropped. */
  void discharge(Budget budget) {
    budget.give(charged);
  }
}
