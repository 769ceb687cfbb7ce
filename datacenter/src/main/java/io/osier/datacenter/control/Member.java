package io.osier.datacenter.control;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A datacenter of the cluster, as {@code _osier} says.
 *
 * @param address where its peers dial it; empty if not known
 * @param state how far its membership has come
 * @param wasActive whether it was ever active
 * @param id tells memberships of the same name apart
 * @param rank of its clock: no two have the same
 * @param goneMillis when an earlier membership of the name ended, but not less than its last
 *     incarnation: incarnations up to here do not count; 0 if none ended
 * @param notes the steps that others and it have taken for its departure
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
  /**
   * The states of a membership, in order. It never goes back: another membership of the name begins
   * anew.
   */
  enum State {
    /** It is catching up. */
    JOINING,
    ACTIVE,
    /** It gives its rights away, and then leaves. */
    LEAVING,
    /** It has left, and everybody has its data. */
    LEFT,
    /** It was removed as dead: nobody waits for it, or takes anything from it. */
    REMOVED;

    /** Returns the word for people, and for the records. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The steps of a departure; see {@link Departures}. */
  enum Step {
    /** It takes no updates, and everybody has all its updates. Noted by itself. */
    QUIET,
    /** Nobody takes anything from it any more. */
    PARTED,
    /** It gets no share of new counters. */
    UNSHARED,
    /** All counters that name it are known. */
    AGREED,
    /** Noted with the step before by those that were active then. */
    MAY_INHERIT;

    /** Returns the word for the records. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * A note that a datacenter has taken a step.
   *
   * @param by its name
   * @param id its membership
   */
  record Note(Step step, String by, String id) {}

  Member {
    notes = Set.copyOf(notes);
  }

  /** Returns whether a member has noted a step for this one's departure. */
  boolean has(Step step, Member by) {
    return notes.contains(new Note(step, by.name(), by.id()));
  }

  String key() {
    return name + " " + id;
  }

  /** Returns whether the others replicate with it. */
  boolean isPresent() {
    return state.compareTo(State.LEFT) < 0;
  }
}
