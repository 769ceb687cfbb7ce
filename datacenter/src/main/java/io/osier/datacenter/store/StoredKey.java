package io.osier.datacenter.store;

import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.PackedReader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a key holds, as it was at one moment. Safe for any thread. */
public interface StoredKey {
  /**
   * The states: nearly always one, several after a conflict of types. What is packed is unpacked,
   * once.
   */
  List<CrdtState> states();

  /** Whether it is packed: then its states are small. */
  default boolean isPacked() {
    return false;
  }

  /** Whether it is one object, of this type: told of what is packed without unpacking it. */
  default boolean isOnly(CrdtType type) {
    return states().size() == 1 && states().getFirst().type() == type;
  }

  /** As {@link #isOnly}, and whether it has deadlines: a {@link CrdtState#form}. */
  default boolean isOnlyOf(int form) {
    return states().size() == 1 && states().getFirst().form() == form;
  }

  /**
   * Answers a query from what is packed; null where {@link #states} are to be asked, as for all but
   * the first query, so that many cost no more than one decoding.
   */
  default @Nullable PackedReader answer(Query query) {
    return null;
  }
}
