package io.osier.crdt.state;

import io.osier.crdt.expiry.ExpiringParts;
import io.osier.crdt.expiry.Expiry;
import org.jspecify.annotations.Nullable;

/**
 * What readers see of a state while parts of it are past their deadlines.
 *
 * @param without the state without those parts
 * @param from the time since which exactly those parts are over
 * @param over how many they are
 */
record UnexpiredView(CrdtState without, long from, int over) {
  /**
   * With up to this many expired parts each reader filters by itself; beyond that the filtered view
   * is kept.
   */
  private static final int FEW_OVER = 16;

  /**
   * Returns what readers see of a state of which parts are over.
   *
   * @param former the view of another time; null if it is not known
   */
  static UnexpiredView of(CrdtState all, long millis, @Nullable UnexpiredView former) {
    // Parts that were over then are over now, too.
    CrdtState before = former != null && former.from <= millis ? former.without : all;
    return of(all, before.parts().at(millis), millis);
  }

  private static UnexpiredView of(CrdtState all, ExpiringParts<?> left, long from) {
    Expiry rest = Expiry.of(all.expiry().whole(), left.deadlines());
    int over = all.expiry().parts().size() - left.deadlines().size();
    CrdtState without = CrdtState.of(left.content(), rest, all.context(), all.isFull());
    return new UnexpiredView(over > FEW_OVER ? without.packLeaves() : without, from, over);
  }

  /** Whether so many parts of a state are over that the filtered view is worth keeping. */
  static boolean isKept(CrdtState state, long millis) {
    return state.expiry().parts().areOver(millis, FEW_OVER + 1);
  }

  /** Whether it is what readers see at this time. */
  boolean isSo(long millis) {
    return from <= millis && millis < without.expiry().parts().firstDue();
  }

  /**
   * Returns what readers see of the state with a delta, at the delta's cost; null if it is not
   * worth keeping.
   */
  @Nullable UnexpiredView after(CrdtState delta, CrdtState both) {
    if (over <= FEW_OVER || delta.isFull() || both.expiry().parts().isEmpty()) {
      return null;
    }
    ExpiringParts<?> left =
        without.parts().after(delta.store(), delta.expiry().parts(), both.parts(), from);
    return of(both, left, from);
  }
}
