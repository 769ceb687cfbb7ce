package io.osier.datacenter.control;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A datacenter of the cluster, as {@code _osier} says.
 *
 * @param address where its peers dial it; empty if nobody has said
 * @param state what it is doing, or has done
 * @param wasActive whether it has ever had what all others had
 * @param id tells this membership from others of the same name
 * @param rank of its clock: no two have the same
 * @param goneMillis when an earlier membership of the name ended; 0 if none did
 * @param knownBy those that know that it leaves
 * @param by who changed it last
 * @param atMillis when, as that one's clock says
 */
record Member(
    String name,
    Optional<String> address,
    State state,
    boolean wasActive,
    String id,
    int rank,
    long goneMillis,
    Set<String> knownBy,
    String by,
    long atMillis) {
  /** How far a membership has come. It never goes back: another one of the name begins anew. */
  enum State {
    /** It is catching up. */
    JOINING,
    /** It has what all others have. */
    ACTIVE,
    /** It gives away what it has, and then goes. */
    LEAVING,
    /** It has gone, and everybody has what it had. */
    LEFT,
    /** It was given up: nobody waits for it, or takes anything from it. */
    REMOVED;

    /** The word for people, and for the records. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  Member {
    knownBy = Set.copyOf(knownBy);
  }

  /** Whether the others replicate with it. */
  boolean isPresent() {
    return state.compareTo(State.LEFT) < 0;
  }
}
