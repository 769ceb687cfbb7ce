package io.osier.protocol;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A step of a program: see {@link Request.Evaluate}. The reply to each call is a {@link Reply.Done}
 * if it changed something, a {@link Reply.Answer} if not, or a {@link Reply.Failure} if it could
 * not be done; the other calls are done all the same. Each call sees the effects of those before
 * it.
 */
public sealed interface Call {
  /** Returns the key that the call is about, or the first one of two. */
  Key key();

  default List<Key> keys() {
    return List.of(key());
  }

  /** Whether it may change something. */
  default boolean isUpdate() {
    return true;
  }

  /**
   * Reads an object. Answered by {@link Reply.Answer}.
   *
   * @param type the type to read; empty for whatever the key holds
   */
  record Read(Key key, Optional<CrdtType> type, Query query) implements Call {
    @Override
    public boolean isUpdate() {
      return false;
    }
  }

  /**
   * Reads the version of a key, for a {@link Guard} of a later program. Answered by {@link
   * Reply.Answer}: its {@code seen} is the version, and its reading is that of {@link Query.Exists}
   * for no type.
   */
  record Version(Key key) implements Call {
    @Override
    public boolean isUpdate() {
      return false;
    }
  }

  /**
   * Updates an object; or, with an operation of a key, everything that the key holds. Answered by
   * {@link Reply.Done}, or by {@link Reply.Answer} if there was nothing to do with the key.
   *
   * @param ask what the caller wants to read with it; empty for nothing
   */
  record Update(Key key, CrdtType type, Operation operation, Optional<Request.Ask> ask)
      implements Call {}

  /**
   * Deletes whatever the key holds of other types, and clears and updates the object of this type.
   * Answered by {@link Reply.Done}.
   *
   * @param operation one of an object
   * @param keepsDeadline whether the key's deadline stays; otherwise the key then has only a
   *     deadline that the operation gives
   */
  record Replace(Key key, CrdtType type, Operation operation, boolean keepsDeadline)
      implements Call {
    public Replace {
      if (operation.isOfKey()) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            "what replaces a key's content is an operation of an object, not " + operation);
      }
    }

    /** Whether it assigns a value that replaces everything seen of its object. */
    public boolean assigns() {
      Operation update =
          operation instanceof Operation.WithDeadline both ? both.update() : operation;
      return update instanceof Operation.Assign
          && (type == CrdtType.STRING
              || type == CrdtType.LWW_REGISTER
              || type == CrdtType.MV_REGISTER);
    }
  }

  /**
   * Moves everything that a key holds, with its deadlines, to another key of the partition, whose
   * content is deleted first. Answered by {@link Reply.Done}; or, if nothing was done, by {@link
   * Reply.Answer} of {@link Query.Exists} for {@code key}, if that does not exist, or for {@code
   * to}, if that does.
   *
   * @param onlyIfAbsent whether nothing is done if {@code to} holds anything
   */
  record Rename(Key key, Key to, boolean onlyIfAbsent) implements Call {
    public Rename {
      checkOther(key, to);
    }

    @Override
    public List<Key> keys() {
      return List.of(key, to);
    }
  }

  /** As {@link Rename}, but {@code key} keeps its content. */
  record Copy(Key key, Key to, boolean onlyIfAbsent) implements Call {
    public Copy {
      checkOther(key, to);
    }

    @Override
    public List<Key> keys() {
      return List.of(key, to);
    }
  }

  private static void checkOther(Key key, Key to) {
    if (key.equals(to)) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "'" + key + "' cannot be renamed or copied to itself; name another key");
    }
  }

  /**
   * Removes randomly drawn elements of a set, each with the same probability. Answered by {@link
   * Reply.Done} with an answer of those elements ({@link io.osier.crdt.Reading.Many}); by such an
   * {@link Reply.Answer} if there are none.
   *
   * @param type a set's, except a grow-only one's
   * @param count the most elements, 1 or more
   * @param seed of the random draw: the same seed draws the same elements of the same set
   */
  record Take(Key key, CrdtType type, int count, long seed) implements Call {
    public Take {
      if (count < 1) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            "the number of elements to take must be at least 1, not " + count);
      }
    }
  }

  /**
   * Gives a key a deadline if its present one allows that. Answered by {@link Reply.Done}, or by
   * {@link Reply.Answer} of {@link Query.Exists} if nothing was done.
   */
  record ExpireIf(Key key, Operation.Expire deadline, When when) implements Call {}

  /**
   * A condition for the whole program: it must hold for the objects as they are before the first
   * call, or nothing is done. Answered by the {@link Reply.Answer} to the condition's query.
   *
   * @param type empty for whatever the key holds; if it holds nothing, then only the condition that
   *     {@link Query.Exists} answers no holds
   * @param condition what must hold for the object
   */
  record Test(Key key, Optional<CrdtType> type, Request.Condition condition) implements Call {
    @Override
    public boolean isUpdate() {
      return false;
    }
  }

  /**
   * Decides step by step within the program's turn what is done: each step is answered before the
   * next one is decided, and sees the effects of those before it. Its effects are committed with
   * the rest of the program. It is code of a process and has no encoded form, but the description
   * that it follows may have one. Answered by {@link Reply.Answer} of {@link Query.Exists} for its
   * first key.
   *
   * @param keys all keys of its steps, 1 or more
   * @param isUpdate whether a step may change something
   * @param bytes about how many bytes the steps take in the heap, besides the keys
   * @param steps run once, or not at all
   * @param form encodes the description that the script follows, from which another datacenter can
   *     take the steps instead: then the answer is that of the steps there; empty if no other
   *     datacenter can
   */
  record Script(
      List<Key> keys, boolean isUpdate, long bytes, Steps steps, Optional<Supplier<byte[]>> form)
      implements Call {
    /** The most calls that all of its steps make together. */
    public static final int CALLS_MAX = 100_000;

    public Script {
      keys = List.copyOf(keys);
      if (keys.isEmpty()) {
        throw OsierException.of(ErrorCode.INVALID_ARGUMENT, "a script is about 1 key or more");
      }
    }

    /** Creates a script that no other datacenter can run. */
    public Script(List<Key> keys, boolean isUpdate, long bytes, Steps steps) {
      this(keys, isUpdate, bytes, steps, Optional.empty());
    }

    @Override
    public Key key() {
      return keys.getFirst();
    }

    /**
     * Returns the same script with its steps' requests answered by {@code other}, which wraps the
     * original answering function.
     */
    public Script answeredBy(UnaryOperator<Function<Request, Reply>> other) {
      return new Script(keys, isUpdate, bytes, ask -> steps.run(other.apply(ask)), form);
    }

    @Override
    public String toString() {
      return "Script of " + keys.size() + " keys, " + key() + " the first";
    }
  }

  @FunctionalInterface
  interface Steps {
    /**
     * Takes all steps. What it does must follow from the answers alone; it neither waits nor
     * throws.
     *
     * @param ask executes a {@link Request.Read}, {@link Request.Write} or {@link
     *     Request.Evaluate}; returns its usual reply, or a {@link Reply.Failure}
     */
    void run(Function<Request, Reply> ask);
  }

  /**
   * The version that a key must have for the program to be done at all. It is compared with what is
   * visible at the datacenter: updates that another one makes at the same time are not seen.
   *
   * @param version from a {@link Version} call; empty for a key that holds nothing
   */
  record Guard(Key key, VersionVector version) {
    public Guard {
      Present.present(version, "a version");
    }
  }

  /** Which present deadlines allow a new one. */
  enum When {
    /** No deadline. */
    NONE(0),
    /** Any deadline. */
    SOME(1),
    /** A later deadline than the new one, or none. */
    EARLIER(2),
    /** A later deadline than the new one, but not none. */
    EARLIER_OF_SOME(3),
    /** An earlier deadline than the new one. */
    LATER(4);

    private final int number;

    When(int number) {
      this.number = number;
    }

    /**
     * Whether a key gets a new deadline.
     *
     * @param present the present deadline, in milliseconds since 1970; {@link CrdtState#NEVER} if
     *     none
     * @param wanted the new one
     */
    public boolean allows(long present, long wanted) {
      boolean some = present != CrdtState.NEVER;
      return switch (this) {
        case NONE -> !some;
        case SOME -> some;
        case EARLIER -> wanted < present; // NEVER is larger than every deadline
        case EARLIER_OF_SOME -> some && wanted < present;
        case LATER -> some && wanted > present;
      };
    }

    /** Returns the number that the encoded form carries. */
    int number() {
      return number;
    }
  }
}
