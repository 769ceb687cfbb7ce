package io.osier.datacenter.control;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The state of a present or former holder of a keyspace, as {@code _osier} has it. A datacenter
 * holds the keyspace in terms: one that is added again after a removal begins another term.
 *
 * @param term how often it was added again
 * @param isWhole whether it has, or had, the other holders' data in this term
 * @param isGone whether this term has ended: it holds nothing any more
 * @param leaves whether it is leaving the keyspace: it was told to, and another holder stays
 * @param stayed how often in this term it was told to leave and has stayed
 * @param removal the present removal; empty if it was not told to leave, or has stayed
 */
record HolderState(
    int term,
    boolean isWhole,
    boolean isGone,
    boolean leaves,
    int stayed,
    Optional<Removal> removal) {
  /** The steps of a holder's removal; see {@link HolderRemovals}. */
  enum Step {
    /** It takes no updates, and everybody has all its updates. Noted by itself. */
    QUIET,
    /** It gets no share of new bounded counters. */
    UNSHARED,
    /** All counters that name it are known. */
    AGREED,
    /** It is not removed after all, since nobody else would stay. Noted by itself. */
    STAYS;

    /** Returns the word for the records. */
    String label() {
      return "_" + name().toLowerCase(Locale.ROOT);
    }
  }

  /** A note that a datacenter has taken a step. */
  record Note(Step step, String by) {}

  /**
   * A removal: the holder was told to leave the keyspace.
   *
   * @param id tells the removals of a holder apart
   */
  record Removal(String id, Set<Note> notes) {
    Removal {
      notes = Set.copyOf(notes);
    }

    boolean has(Step step, String by) {
      return notes.contains(new Note(step, by));
    }
  }

  /** Returns the id of the present removal, or of the next one. */
  String removalId() {
    return term + "." + stayed;
  }

  /** Returns whether a datacenter has noted a step of the present removal. */
  boolean has(Step step, String by) {
    return removal.filter(r -> r.has(step, by)).isPresent();
  }

  /** Returns whether it replicates and does not have the other holders' data yet. */
  boolean catchesUp() {
    return !isWhole && !isGone;
  }

  /** Returns whether it serves requests. */
  boolean serves() {
    return isWhole && !isGone && !leaves;
  }

  /** Returns whether it has noted that it takes no updates. */
  boolean isQuiet(String dc) {
    return has(Step.QUIET, dc);
  }
}
