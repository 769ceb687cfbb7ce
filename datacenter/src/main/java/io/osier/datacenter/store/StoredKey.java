package io.osier.datacenter.store;

import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.PackedReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The objects of a key, as they were at one moment. Safe for any thread. */
public interface StoredKey {
  /**
   * Returns the states: nearly always one, several after a conflict of types. A packed key is
   * unpacked, once.
   */
  List<CrdtState> states();

  /** Returns whether the key is packed: then its states are small. */
  default boolean isPacked() {
    return false;
  }

  /**
   * Returns whether the key holds one object, of this type; a packed key is not unpacked for that.
   */
  default boolean isOnly(CrdtType type) {
    return states().size() == 1 && states().getFirst().type() == type;
  }

  /**
   * As {@link #isOnly}, for the given {@link CrdtState#form}, which also says whether there are
   * deadlines.
   */
  default boolean isOnlyOf(int form) {
    return states().size() == 1 && states().getFirst().form() == form;
  }

  /**
   * Answers a query from packed bytes; null if {@link #states} must be asked. That is so for all
   * but the first query, so that many queries cost one decoding.
   */
  default @Nullable PackedReader answer(Query query) {
    return null;
  }
}
