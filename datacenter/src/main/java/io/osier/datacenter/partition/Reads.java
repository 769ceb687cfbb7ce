package io.osier.datacenter.partition;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * How one object is read: the same for a partition and for a connection's thread that reads the
 * store directly. A read sees one committed version of the object, and nothing of one that is over.
 * For any thread.
 */
public final class Reads {
  private Reads() {}

  /**
   * Reads an object of a key.
   *
   * @param states what the key holds
   * @param millis the time, in milliseconds since 1970; asked for only where something expires
   * @throws OsierException WRONG_TYPE if the key holds another type than the one asked for and its
   *     existence is not all that is asked, or the type has no such query
   */
  public static Reply.Answer of(List<Causal> states, Request.Read read, LongSupplier millis) {
    return of(states, read.key(), read.type(), read.query(), millis);
  }

  /** As {@link #of(List, Request.Read, LongSupplier)}. */
  static Reply.Answer of(
      List<Causal> stored, Key key, Optional<CrdtType> type, Query query, LongSupplier millis) {
    List<Causal> states = seenAt(stored, millis);
    if (type.isPresent()) {
      return ofType(states, key, type.get(), query, millis);
    }
    for (Causal state : states) {
      if (!state.isBottom()) {
        return answer(query, state, millis);
      }
    }
    return new Reply.Answer(Optional.empty(), Optional.empty(), false, seen(states));
  }

  /**
   * Reads objects, each for itself, as many as fit in one answer, and one at least.
   *
   * @param states what a key holds
   * @param millis see {@link #of(List, Request.Read, LongSupplier)}
   */
  public static Reply.All all(
      List<Request.Fetch> reads, Function<Key, List<Causal>> states, LongSupplier millis) {
    List<Reply> parts = new ArrayList<>(reads.size());
    long bytes = 0;
    for (Request.Fetch read : reads) {
      Reply part = part(states.apply(read.key()), read, millis);
      bytes += part.heapBytes();
      if (bytes > Reply.All.BYTES_MAX && !parts.isEmpty()) {
        break;
      }
      parts.add(part);
    }
    return new Reply.All(parts);
  }

  private static Reply part(List<Causal> states, Request.Fetch read, LongSupplier millis) {
    try {
      return of(states, read.key(), read.type(), read.query(), millis);
    } catch (OsierException e) {
      return new Reply.Failure(e.code(), e.getMessage());
    }
  }

  /** What a reader sees of states, of which hardly any expires. */
  private static List<Causal> seenAt(List<Causal> states, LongSupplier millis) {
    for (Causal state : states) {
      if (state.expires()) {
        long now = millis.getAsLong();
        return states.stream().map(s -> s.at(now)).toList();
      }
    }
    return states;
  }

  private static Reply.Answer ofType(
      List<Causal> states, Key key, CrdtType type, Query query, LongSupplier millis) {
    Causal none = Causal.bottom(type);
    CrdtType other = null;
    for (Causal state : states) {
      if (state.type() == type && !state.isBottom()) {
        return answer(query, state, millis);
      } else if (state.type() == type) {
        none = state;
      } else if (!state.isBottom()) {
        other = state.type();
      }
    }
    boolean ofAny = query instanceof Query.Exists || query instanceof Query.TimeToLive;
    if (other != null && !ofAny) {
      throw Sequencer.wrongType(new ObjectId(key, type), other);
    }
    return new Reply.Answer(
        Optional.of(type), Optional.of(read(query, none, millis)), false, seen(states));
  }

  /** What a state says that is not over, as far as it is known. */
  static Reply.Answer answer(Query query, Causal state, LongSupplier millis) {
    return new Reply.Answer(
        Optional.of(state.type()),
        Optional.of(read(query, state, millis)),
        !state.isBottom(),
        state.context().toVersionVector());
  }

  private static Reading read(Query query, Causal state, LongSupplier millis) {
    return switch (query) {
      case Query.TimeToLive q -> left(state.deadline(), millis);
      case Query.UntilExpiry q -> left(state.overAt(), millis);
      case Query.PartTimeToLive q -> left(state.deadline(q.part()), millis);
      default -> state.read(query);
    };
  }

  private static Reading left(long deadline, LongSupplier millis) {
    return new Reading.Count(
        deadline == Causal.NEVER ? -1 : Math.max(0, deadline - millis.getAsLong()));
  }

  /** That an object is not there may be the work of a removal, which the session has then seen. */
  private static VersionVector seen(List<Causal> states) {
    VersionVector seen = VersionVector.EMPTY;
    for (Causal state : states) {
      seen = seen.join(state.context().toVersionVector());
    }
    return seen;
  }
}
