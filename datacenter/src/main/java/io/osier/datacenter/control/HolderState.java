package io.osier.datacenter.control;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A datacenter that was ever a holder of a keyspace, as {@code _osier} says. It holds the keyspace
 * in terms: who is added again after it was removed begins another one.
 *
 * @param term how often it was added again
 * @param isWhole whether it has, or had, what the others held in this term
 * @param isGone whether this term has ended: it holds nothing any more
 * @param leaves whether it gives the keyspace up: it was told to, and another one stays
 * @param stayed how often in this term it was told to and has stayed
 * @param removal that it was told to; empty if it was not, or has stayed
 */
record HolderState(
    int term,
    boolean isWhole,
    boolean isGone,
    boolean leaves,
    int stayed,
    Optional<Removal> removal) {
  /** What is done when a holder is removed; see {@link HolderRemovals}. */
  enum Step {
    /** It takes no updates, and everybody has what it did. Noted by itself. */
    QUIET,
    /** It gets no part of new bounded counters. */
    UNSHARED,
    /** All counters that name it are known. */
    AGREED,
    /** It is not removed after all, since nobody else would stay. Noted by itself. */
    STAYS;

    /** The word for the records. */
    String label() {
      return "_" + name().toLowerCase(Locale.ROOT);
    }
  }

  /** That a datacenter has taken a step. */
  record Note(Step step, String by) {}

  /**
   * That it was told to give the keyspace up.
   *
   * @param id tells it from other times
   */
  record Removal(String id, Set<Note> notes) {
    Removal {
      notes = Set.copyOf(notes);
    }

    boolean has(Step step, String by) {
      return notes.contains(new Note(step, by));
    }
  }

  /** Tells the removal that is under way, or may come next, from others of it. */
  String removalId() {
    return term + "." + stayed;
  }

  /** Whether a datacenter has noted a step for its removal, which is under way. */
  boolean has(Step step, String by) {
    return removal.filter(r -> r.has(step, by)).isPresent();
  }

  /** Whether it replicates, and has not what the others hold yet. */
  boolean catchesUp() {
    return !isWhole && !isGone;
  }

  /** Whether requests may be asked of it. */
  boolean serves() {
    return isWhole && !isGone && !leaves;
  }

  /** Whether it takes no updates, and has said so. */
  boolean isQuiet(String dc) {
    return has(Step.QUIET, dc);
  }
}
