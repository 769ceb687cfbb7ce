package io.osier.protocol;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import java.util.Optional;

/**
 * A step of a program: see {@link Request.Evaluate}. Each is answered by a {@link Reply.Answer}, a
 * {@link Reply.Done} or a {@link Reply.Failure}.
 */
public sealed interface Call {
  /** The key that it is about, or the first one of two. */
  Key key();

  /**
   * Reads an object. Answered by {@link Reply.Answer}.
   *
   * @param type the type to read; empty for whatever the key holds
   */
  record Read(Key key, Optional<CrdtType> type, Query query) implements Call {}

  /**
   * Updates an object, or with an operation of a key all that it holds. Answered by {@link
   * Reply.Done}, or by {@link Reply.Answer} if there was nothing to do with the key.
   *
   * @param ask what the caller wants to know with it; empty for nothing
   */
  record Update(Key key, CrdtType type, Operation operation, Optional<Request.Ask> ask)
      implements Call {}

  /**
   * Whatever the key holds of other types is deleted, and the object of this type is cleared and
   * updated. Answered by {@link Reply.Done}.
   *
   * @param keepsDeadline whether the key's deadline stays; otherwise it has none then
   */
  record Replace(Key key, CrdtType type, Operation operation, boolean keepsDeadline)
      implements Call {}

  /**
   * Moves what a key holds, with its deadline, to another key of the partition, whose content is
   * deleted first. Answered by {@link Reply.Done}, or by {@link Reply.Answer} (of {@link
   * Query.Exists}, of {@code to}) if it is not done because {@code to} is there; NOT_FOUND... if
   * {@code key} is not.
   *
   * @param onlyIfAbsent whether it is not done if {@code to} holds anything
   */
  record Rename(Key key, Key to, boolean onlyIfAbsent) implements Call {}

  /** As {@link Rename}, but {@code key} keeps what it holds. */
  record Copy(Key key, Key to, boolean onlyIfAbsent) implements Call {}

  /**
   * Removes elements of a set that are drawn. Answered by {@link Reply.Done} with an answer of
   * those elements ({@link io.osier.crdt.Reading.Many}).
   *
   * @param count at most so many, 1 or more
   * @param seed what they are drawn by
   */
  record Take(Key key, CrdtType type, int count, long seed) implements Call {}

  /**
   * Gives a key a deadline if its present one allows that. Answered by {@link Reply.Done}, or by
   * {@link Reply.Answer} of {@link Query.Exists} if nothing was done.
   */
  record ExpireIf(Key key, Operation.Expire deadline, When when) implements Call {}

  /**
   * What must hold for the program to be done at all.
   *
   * @param condition what must hold of the object of this type
   */
  record Test(Key key, CrdtType type, Request.Condition condition) implements Call {}

  /** The state that a key must be in for the program to be done at all. */
  record Guard(Key key, VersionVector version) {}

  /** Which present deadline allows a new one. */
  enum When {
    /** None. */
    NONE,
    /** Some. */
    SOME,
    /** A later one, or none. */
    EARLIER,
    /** An earlier one. */
    LATER
  }
}
