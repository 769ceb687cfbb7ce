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
 * @param goneMillis when an earlier membership of the name ended, and no less than its last
 *     incarnation: those up to here do not count; 0 if none ended
 * @param notes what others, and itself, have done for its going
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
    Set<Note> notes,
    String by,
    long atMillis) {
  /** How far a membership has come. It never goes back: another one of the name begins anew. */
  enum State {
    /** It is catching up. */
    JOINING,
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

  /** What is done when one goes; see {@link Departures}. */
  enum Step {
    /** It takes no updates, and everybody has what it did. Noted by itself. */
    QUIET,
    /** Nothing is taken from it any more. */
    PARTED,
    /** It gets no part of new counters. */
    UNSHARED,
    /** All counters that name it are known. */
    AGREED,
    /** Noted with the step before by those that were active then. */
    MAY_INHERIT;

    /** The word for the records. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * That a datacenter has taken a step.
   *
   * @param by its name
   * @param id its membership
   */
  record Note(Step step, String by, String id) {}

  Member {
    notes = Set.copyOf(notes);
  }

  /** Whether a member has noted that it has taken a step for this one's going. */
  boolean has(Step step, Member by) {
    return notes.contains(new Note(step, by.name(), by.id()));
  }

  String key() {
    return name + " " + id;
  }

  /** Whether the others replicate with it. */
  boolean isPresent() {
    return state.compareTo(State.LEFT) < 0;
  }
}
