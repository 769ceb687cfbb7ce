package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.memory.OutOfMemory;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.state.PackedReader;
import io.osier.crdt.types.OrMap;
import io.osier.crdt.types.TaggedSet;
import io.osier.datacenter.partition.history.HeldEntries;
import io.osier.datacenter.store.StoredKey;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads objects, both for a partition and for a connection's thread that reads the store directly.
 * A read sees one committed version of an object, and nothing of an expired one. For any thread.
 */
public final class Reads {
  private static final Logger LOG = LoggerFactory.getLogger(Reads.class);

  /** Reading all of an object of fewer bytes takes a few milliseconds at most, ... */
  private static final long LONG_BYTES = 64 << 10;

  /** ... as does looking up this many names of fields, each of which may have any type, ... */
  private static final int NAMES_MAX = 100;

  /** ... reading this many consecutive fields, unless they are large, ... */
  private static final int FIELDS_MAX = 1_000;

  /** ... and reading this many bytes of consecutive elements. */
  private static final long PAGE_BYTES_MAX = 256 << 10;

  private Reads() {}

  /**
   * Returns whether a read may take so long that a thread with other work should not do it, and its
   * objects stay readable as they are for some time. An object that does not must be read before it
   * is changed.
   */
  public static boolean isLong(List<CrdtState> states, Query query) {
    return takesLong(states, query) && areKept(states);
  }

  /** As {@link #isLong(List, Query)}; packed objects are not unpacked to find out. */
  public static boolean isLong(StoredKey stored, Query query) {
    return !stored.isPacked() && isLong(stored.states(), query);
  }

  private static boolean takesLong(List<CrdtState> states, Query query) {
    return switch (query) {
      case Query.Whole q -> areAnyLarge(states);
      case Query.Select q ->
          areLargeMaps(states)
              && (q.names().size() > NAMES_MAX || areLargeFields(states, q.names()));
      case Query.Range q ->
          (q.limit() > FIELDS_MAX && areLargeMaps(states))
              || states.stream().anyMatch(s -> isLarge(s) && isLongPage(s, q.limit()));
      default -> false;
    };
  }

  private static boolean areAnyLarge(List<CrdtState> states) {
    for (CrdtState state : states) { // no stream: every read of all of an object asks
      if (isLarge(state)) {
        return true;
      }
    }
    return false;
  }

  private static boolean areLargeMaps(List<CrdtState> states) {
    return states.stream().anyMatch(s -> s.type() == CrdtType.OR_MAP && isLarge(s));
  }

  /**
   * Does not notice a large field on the disk in a map of small ones: only its own record shows it.
   */
  private static boolean areLargeFields(List<CrdtState> states, List<String> names) {
    return states.stream()
        .anyMatch(s -> s.store() instanceof OrMap map && map.largeBytes(names) >= LONG_BYTES);
  }

  /** A few large elements take as long to read as many small ones. */
  private static boolean isLongPage(CrdtState state, int limit) {
    return limit * Decomposition.averageEntryBytes(state) > PAGE_BYTES_MAX;
  }

  private static boolean areKept(List<CrdtState> states) {
    return states.stream().allMatch(HeldEntries::isSame);
  }

  private static boolean isLarge(CrdtState state) {
    return Decomposition.isDecomposed(state) || state.sizeBytes() >= LONG_BYTES;
  }

  /**
   * Returns whether one of several reads is long, as {@link #isLong(List, Query)}.
   *
   * @param stored the objects of each of their keys
   */
  public static boolean isLong(Map<Key, StoredKey> stored, List<Request.Fetch> reads) {
    for (Request.Fetch read : reads) {
      StoredKey of = requireNonNull(stored.get(read.key()));
      if (!of.isPacked() && takesLong(of.states(), read.query())) {
        return stored.values().stream().allMatch(s -> s.isPacked() || areKept(s.states()));
      }
    }
    return false;
  }

  /**
   * Returns a supplier, for any thread, that makes the answer to a long read from its objects'
   * present states.
   */
  public static Supplier<Reply> later(
      List<CrdtState> states, Request.Read read, LongSupplier millis) {
    return later(states, () -> of(states, read, millis));
  }

  /** As {@link #later(List, Request.Read, LongSupplier)}, for several reads. */
  public static Supplier<Reply> later(
      Map<Key, StoredKey> stored, List<Request.Fetch> reads, LongSupplier millis) {
    List<CrdtState> unpacked =
        stored.values().stream()
            .filter(s -> !s.isPacked())
            .flatMap(s -> s.states().stream())
            .toList();
    return later(unpacked, () -> all(reads, key -> requireNonNull(stored.get(key)), millis));
  }

  /** Returns a supplier, for any thread, that makes an answer from the present states. */
  static Supplier<Reply> later(List<CrdtState> states, Supplier<Reply> reply) {
    return () -> {
      try {
        checkKept(states); // it may have waited long: do not read in vain
        Reply made = reply.get();
        checkKept(states);
        return made;
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      } catch (Throwable e) { // errors, too: the client gets no other answer
        LOG.error("internal error in a long read", e);
        OutOfMemory.report(e);
        return new Reply.Failure(ErrorCode.INTERNAL, "internal error in the datacenter: " + e);
      }
    };
  }

  private static void checkKept(List<CrdtState> states) {
    if (!areKept(states)) {
      throw new OsierException(
          ErrorCode.TIMEOUT,
          "reading a large object took too long (the process or its disk stalled, or much else was"
              + " read); read it again");
    }
  }

  /**
   * Reads an object of a key.
   *
   * @param states the objects of the key
   * @param millis the time, in milliseconds since 1970; asked for only where something expires
   * @throws OsierException WRONG_TYPE if the key holds another type than the one asked for and its
   *     existence is not all that is asked, or the type has no such query
   */
  public static Reply.Answer of(List<CrdtState> states, Request.Read read, LongSupplier millis) {
    return of(states, read.key(), read.type(), read.query(), millis);
  }

  /** As {@link #of(List, Request.Read, LongSupplier)}; answers from packed bytes if it can. */
  public static Reply.Answer of(StoredKey stored, Request.Read read, LongSupplier millis) {
    return of(stored, read.key(), read.type(), read.query(), millis);
  }

  private static Reply.Answer of(
      StoredKey stored, Key key, Optional<CrdtType> type, Query query, LongSupplier millis) {
    PackedReader packed = stored.answer(query);
    if (packed != null && (type.isEmpty() || type.get() == packed.type())) {
      return new Reply.Answer(packed.type(), packed.reading(), packed.seen());
    }
    return of(stored.states(), key, type, query, millis);
  }

  /** As {@link #of(List, Request.Read, LongSupplier)}. */
  static Reply.Answer of(
      List<CrdtState> stored, Key key, Optional<CrdtType> type, Query query, LongSupplier millis) {
    List<CrdtState> states = seenAt(stored, millis);
    CrdtState found = found(states, key, type, query);
    if (found != null) {
      return answer(query, found, millis);
    }
    Optional<Reading> reading = type.map(t -> read(query, none(states, t), millis));
    return new Reply.Answer(type, reading, false, seen(states));
  }

  /**
   * Returns the object that {@link #of(List, Request.Read, LongSupplier)} reads; null if there is
   * none.
   *
   * @throws OsierException as that does
   */
  static @Nullable CrdtState found(
      List<CrdtState> stored, Request.Fetch read, LongSupplier millis) {
    return found(seenAt(stored, millis), read.key(), read.type(), read.query());
  }

  private static @Nullable CrdtState found(
      List<CrdtState> states, Key key, Optional<CrdtType> type, Query query) {
    CrdtState other = null;
    for (CrdtState state : states) {
      if (state.isBottom()) {
        continue;
      }
      if (type.isEmpty() || state.type() == type.get()) {
        return state;
      }
      other = state;
    }
    boolean ofAny =
        query instanceof Query.Exists
            || query instanceof Query.TimeToLive
            || (query instanceof Query.Deadline d && d.part().isEmpty());
    if (other != null && !ofAny) {
      throw Sequencer.wrongType(new ObjectId(key, type.orElseThrow()), other.type());
    }
    return null;
  }

  private static CrdtState none(List<CrdtState> states, CrdtType type) {
    for (CrdtState state : states) {
      if (state.type() == type) {
        return state;
      }
    }
    return CrdtState.bottom(type);
  }

  /**
   * Reads objects one by one, as many as fit in one answer, and at least one.
   *
   * @param stored returns the objects of a key
   */
  public static Reply.All all(
      List<Request.Fetch> reads, Function<Key, StoredKey> stored, LongSupplier millis) {
    List<Reply> parts = new ArrayList<>(reads.size());
    long bytes = 0;
    for (Request.Fetch read : reads) {
      Reply part = part(stored.apply(read.key()), read, millis);
      bytes += MessageHeap.bytes(part);
      if (bytes > Reply.All.BYTES_MAX && !parts.isEmpty()) {
        break;
      }
      parts.add(part);
    }
    return new Reply.All(parts);
  }

  private static Reply part(StoredKey stored, Request.Fetch read, LongSupplier millis) {
    try {
      return of(stored, read.key(), read.type(), read.query(), millis);
    } catch (OsierException e) {
      return new Reply.Failure(e.code(), e.reason());
    }
  }

  /** Returns the part of these states that a reader sees now; hardly any states expire. */
  private static List<CrdtState> seenAt(List<CrdtState> states, LongSupplier millis) {
    for (CrdtState state : states) {
      if (state.expires()) {
        long now = millis.getAsLong();
        return states.stream().map(s -> s.at(now)).toList();
      }
    }
    return states;
  }

  /** Answers a query from a state whose known expired parts are hidden. */
  static Reply.Answer answer(Query query, CrdtState state, LongSupplier millis) {
    return answer(state, read(query, state, millis));
  }

  private static Reply.Answer answer(CrdtState state, Reading reading) {
    return new Reply.Answer(
        Optional.of(state.type()),
        Optional.of(reading),
        !state.isBottom(),
        state.context().toVersionVector());
  }

  /**
   * Answers a query in an update: on the object before it or after it. What was there before an
   * addition to a set is often known without another search.
   */
  static Reply.Answer asked(
      Request.Ask ask, Operation update, CrdtState before, CrdtState after, LongSupplier millis) {
    if (ask.before()
        && !before.expires()
        && before.store() instanceof TaggedSet set
        && after.store() instanceof TaggedSet more) {
      Reading known = set.readBefore(ask.query(), update, more);
      if (known != null) {
        return answer(before, known);
      }
    }
    CrdtState of = (ask.before() ? before : after).at(millis.getAsLong());
    return answer(ask.query(), of, millis);
  }

  private static Reading read(Query query, CrdtState state, LongSupplier millis) {
    return switch (query) {
      case Query.TimeToLive q -> left(state.deadline(), millis);
      case Query.UntilExpiry q -> left(state.overAt(), millis);
      case Query.PartTimeToLive q -> left(state.deadline(q.part()), millis);
      case Query.Deadline q -> at(q.part().map(state::deadline).orElseGet(state::deadline));
      default -> state.read(query);
    };
  }

  private static Reading at(long deadline) {
    return new Reading.Count(deadline == CrdtState.NEVER ? -1 : deadline);
  }

  private static Reading left(long deadline, LongSupplier millis) {
    return new Reading.Count(
        deadline == CrdtState.NEVER ? -1 : Math.max(0, deadline - millis.getAsLong()));
  }

  /**
   * Returns the updates seen in these states: that an object is missing may be due to a removal,
   * which the session has then seen.
   */
  private static VersionVector seen(List<CrdtState> states) {
    VersionVector seen = VersionVector.EMPTY;
    for (CrdtState state : states) {
      seen = seen.join(state.context().toVersionVector());
    }
    return seen;
  }
}
