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
 * A step of a program: see {@link Request.Evaluate}. Each is answered by a {@link Reply.Done} if it
 * changed something, by a {@link Reply.Answer} if not, or by a {@link Reply.Failure} if it could
 * not be done: the others are done all the same. Each sees what the calls before it have made.
 */
public sealed interface Call {
  /** The key that it is about, or the first one of two. */
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
   * Reply.Answer}, which has it as what was seen, with a reading of {@link Query.Exists} of no
   * type.
   */
  record Version(Key key) implements Call {
    @Override
    public boolean isUpdate() {
      return false;
    }
  }

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
   * @param operation one of an object
   * @param keepsDeadline whether the key's deadline stays; otherwise it has none then, but one that
   *     the operation gives
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

    /** Whether it assigns what takes the place of all that was seen of its object. */
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
   * Moves what a key holds, with its deadlines, to another key of the partition, whose content is
   * deleted first. Answered by {@link Reply.Done}; or, if nothing was done, by {@link Reply.Answer}
   * of {@link Query.Exists}: of {@code key}, which is not there, or of {@code to}, which is.
   *
   * @param onlyIfAbsent whether it is not done if {@code to} holds anything
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

  /** As {@link Rename}, but {@code key} keeps what it holds. */
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
          "'" + key + "' cannot be renamed to itself, nor copied; name another key");
    }
  }

  /**
   * Removes elements of a set that are drawn, each of them as likely as each other. Answered by
   * {@link Reply.Done} with an answer of those elements ({@link io.osier.crdt.Reading.Many}); by
   * such an {@link Reply.Answer} if there are none.
   *
   * @param type a set's, but a grow-only one's
   * @param count at most so many, 1 or more
   * @param seed what they are drawn by: the same one draws the same of the same set
   */
  record Take(Key key, CrdtType type, int count, long seed) implements Call {
    public Take {
      if (count < 1) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT, "1 element or more is to be taken, not " + count);
      }
    }
  }

  /**
   * Gives a key a deadline if its present one allows that. Answered by {@link Reply.Done}, or by
   * {@link Reply.Answer} of {@link Query.Exists} if nothing was done.
   */
  record ExpireIf(Key key, Operation.Expire deadline, When when) implements Call {}

  /**
   * What must hold for the program to be done at all: before it, of what is there before its first
   * call. Answered by the {@link Reply.Answer} to what is asked.
   *
   * @param type empty for whatever the key holds; where it holds nothing, nothing holds then, but
   *     that {@link Query.Exists} says no
   * @param condition what must hold of the object
   */
  record Test(Key key, Optional<CrdtType> type, Request.Condition condition) implements Call {
    @Override
    public boolean isUpdate() {
      return false;
    }
  }

  /**
   * Decides within the program's turn what is done, step by step: each step is answered before the
   * next one is decided on, and sees what those before it have made; what they make is committed
   * with the rest of the program. Code of a process: it has no encoded form, but what it follows
   * may. Answered by {@link Reply.Answer} of {@link Query.Exists} of its first key.
   *
   * @param keys all that its steps are about, 1 or more
   * @param isUpdate whether a step may change something
   * @param bytes what the steps take in the heap, about, besides the keys
   * @param steps run once, or not at all
   * @param form makes the bytes of what it follows, by which another datacenter can take the steps
   *     instead: then it is answered by what they say there; empty where none can
   */
  record Script(
      List<Key> keys, boolean isUpdate, long bytes, Steps steps, Optional<Supplier<byte[]>> form)
      implements Call {
    /** Most calls that all of its steps make. */
    public static final int CALLS_MAX = 100_000;

    public Script {
      keys = List.copyOf(keys);
      if (keys.isEmpty()) {
        throw OsierException.of(ErrorCode.INVALID_ARGUMENT, "a script is about 1 key or more");
      }
    }

    /** One that no other datacenter can do. */
    public Script(List<Key> keys, boolean isUpdate, long bytes, Steps steps) {
      this(keys, isUpdate, bytes, steps, Optional.empty());
    }

    @Override
    public Key key() {
      return keys.getFirst();
    }

    /** The same, whose steps are answered by another one: by whom they should be, or a failure. */
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
     * Takes all steps. What it does follows from the answers alone; it neither waits nor throws.
     *
     * @param ask does one: a {@link Request.Read}, {@link Request.Write} or {@link
     *     Request.Evaluate}; answers as those are answered, or by a {@link Reply.Failure}
     */
    void run(Function<Request, Reply> ask);
  }

  /**
   * The version that a key must have for the program to be done at all. It compares what is visible
   * at the datacenter: what another one does at the same time is not seen.
   *
   * @param version as {@link Version} told it; empty of a key that holds nothing
   */
  record Guard(Key key, VersionVector version) {
    public Guard {
      Present.present(version, "a version");
    }
  }

  /** Which present deadline allows a new one. */
  enum When {
    /** None: the key has no deadline. */
    NONE(0),
    /** Some: the key has one. */
    SOME(1),
    /** A later one than the new one, or none. */
    EARLIER(2),
    /** A later one than the new one, but not none. */
    EARLIER_OF_SOME(3),
    /** An earlier one than the new one. */
    LATER(4);

    private final int number;

    When(int number) {
      this.number = number;
    }

    /**
     * Whether a key gets a new deadline.
     *
     * @param present the one that it has, in milliseconds since 1970; {@link CrdtState#NEVER} if
     *     none
     * @param wanted the new one
     */
    public boolean allows(long present, long wanted) {
      boolean some = present != CrdtState.NEVER;
      return switch (this) {
        case NONE -> !some;
        case SOME -> some;
        case EARLIER -> wanted < present; // never is larger
        case EARLIER_OF_SOME -> some && wanted < present;
        case LATER -> some && wanted > present;
      };
    }

    /** The number that the encoded form carries. */
    int number() {
      return number;
    }
  }
}
