package io.osier.datacenter.partition;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * How one object is read: the same for a partition and for a connection's thread that reads the
 * store directly. A read sees one committed version of the object. For any thread.
 */
public final class Reads {
  private Reads() {}

  /**
   * Reads an object of a key.
   *
   * @param states what the key holds
   * @throws OsierException WRONG_TYPE if the key holds another type than the one asked for and its
   *     existence is not all that is asked, or the type has no such query
   */
  public static Reply.Answer of(List<Causal> states, Request.Read read) {
    return of(states, read.key(), read.type(), read.query());
  }

  /** As {@link #of(List, Request.Read)}. */
  static Reply.Answer of(List<Causal> states, Key key, Optional<CrdtType> type, Query query) {
    if (type.isPresent()) {
      return ofType(states, key, type.get(), query);
    }
    for (Causal state : states) {
      if (!state.isBottom()) {
        return answer(query, state);
      }
    }
    return new Reply.Answer(Optional.empty(), Optional.empty(), false, seen(states));
  }

  /**
   * Reads objects, each for itself, as many as fit in one answer, and one at least.
   *
   * @param states what a key holds
   */
  public static Reply.All all(List<Request.Fetch> reads, Function<Key, List<Causal>> states) {
    List<Reply> parts = new ArrayList<>(reads.size());
    long bytes = 0;
    for (Request.Fetch read : reads) {
      Reply part = part(states.apply(read.key()), read);
      bytes += part.heapBytes();
      if (bytes > Reply.All.BYTES_MAX && !parts.isEmpty()) {
        break;
      }
      parts.add(part);
    }
    return new Reply.All(parts);
  }

  private static Reply part(List<Causal> states, Request.Fetch read) {
    try {
      return of(states, read.key(), read.type(), read.query());
    } catch (OsierException e) {
      return new Reply.Failure(e.code(), e.getMessage());
    }
  }

  private static Reply.Answer ofType(List<Causal> states, Key key, CrdtType type, Query query) {
    Causal none = Causal.bottom(type);
    CrdtType other = null;
    for (Causal state : states) {
      if (state.type() == type && !state.isBottom()) {
        return answer(query, state);
      } else if (state.type() == type) {
        none = state;
      } else if (!state.isBottom()) {
        other = state.type();
      }
    }
    if (other != null && !(query instanceof Query.Exists)) {
      throw Sequencer.wrongType(new ObjectId(key, type), other);
    }
    return new Reply.Answer(Optional.of(type), Optional.of(none.read(query)), false, seen(states));
  }

  /** What a state says, as far as it is known. */
  static Reply.Answer answer(Query query, Causal state) {
    return new Reply.Answer(
        Optional.of(state.type()),
        Optional.of(state.read(query)),
        !state.isBottom(),
        state.context().toVersionVector());
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
