package io.osier.datacenter.partition.history;

import io.osier.core.Key;
import io.osier.core.memory.Budget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a key held before a step replaced one of its objects, and what keeping that takes in the
 * heap. Not thread-safe.
 */
final class FormerValue {
  /** What a former value takes in the heap besides its content and its key, about, in bytes. */
  private static final long PLACE_BYTES = 340;

  /**
   * Values of more bytes than this are never packed whole while they are in memory, nor let go from
   * there whole: what is packed of them is shared.
   */
  private static final long WHOLE_BYTES_MAX = 64 << 10;

  final Key key;
  final List<CrdtState> states;

  /** The step that replaced it. */
  final long until;

  final long replacedNanos;

  /** What it takes in the heap if it shares nothing with anything, about, in bytes. */
  private final long wholeBytes;

  /** The part of wholeBytes that may not be shared with the present value. */
  private final long looseBytes;

  /** What of that it does not share with the next one, if {@link #isShared}. */
  private long changedBytes;

  /** Whether the next one that is kept was made from it. */
  private boolean isShared;

  /**
   * The identity's hash of what it was made into, if nothing else was kept since; 0 otherwise. It
   * does not keep that. Were another one taken for it, a sum would be too small.
   */
  private int next;

  /** What was taken of the budget for it. */
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

  /** The object of a type, or null. */
  @Nullable CrdtState of(CrdtType type) {
    for (CrdtState state : states) {
      if (state.type() == type) {
        return state;
      }
    }
    return null;
  }

  /** One of its objects was made into another one. */
  void changed(long bytes, CrdtState after) {
    changedBytes = Math.min(wholeBytes, changedBytes + bytes);
    next = System.identityHashCode(after);
  }

  boolean isMadeInto(CrdtState state) {
    return next != 0 && next == System.identityHashCode(state);
  }

  /** The next one is kept, too, and was made from it. */
  void sharesWithNext() {
    isShared = true;
    next = 0;
  }

  /** The next one that was kept is not kept any more. */
  void outlives(FormerValue following) {
    if (isShared) {
      changedBytes = Math.min(wholeBytes, changedBytes + following.changedBytes);
      isShared = following.isShared;
      next = following.next;
    }
  }

  /** Takes of the budget what it takes by now, or gives back what it does not. */
  void recharge(Budget budget) {
    long heapBytes =
        PLACE_BYTES
            + key.heapBytes()
            + (isShared ? changedBytes : Math.min(wholeBytes, changedBytes + looseBytes));
    budget.take(heapBytes - charged);
    charged = heapBytes;
  }

  /** Gives back what it took: it is not kept any more. */
  void discharge(Budget budget) {
    budget.give(charged);
  }
}
