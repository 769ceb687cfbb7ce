package io.osier.datacenter.partition;

import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.ObjectId;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.util.List;
import java.util.Optional;

/**
 * How one object is read: the same for a partition and for a connection's thread that reads the
 * store directly. A read sees one committed version of the object.
 */
public final class Reading {
  private Reading() {}

  /**
   * Reads an object from a store. For any thread.
   *
   * @throws io.osier.core.OsierException WRONG_TYPE if the key holds another type than the one
   *     asked for, or the type has no such query
   */
  public static Reply.Answer of(ObjectStore store, Request.Read read) {
    if (read.type().isPresent()) {
      return ofType(store, read, read.type().get());
    }
    for (Causal state : store.get(read.key())) {
      if (!state.isBottom()) {
        return answer(read, state);
      }
    }
    return new Reply.Answer(Optional.empty(), Optional.empty(), false, seen(store, read));
  }

  private static Reply.Answer ofType(ObjectStore store, Request.Read read, CrdtType type) {
    ObjectId object = new ObjectId(read.key(), type);
    Causal state = store.get(object);
    if (state != null && !state.isBottom()) {
      return answer(read, state);
    }
    for (Causal other : store.get(read.key())) {
      if (other.type() != type && !other.isBottom()) {
        throw Partition.wrongType(object, other.type());
      }
    }
    Causal none = state == null ? Causal.bottom(type) : state;
    return new Reply.Answer(
        Optional.of(type), Optional.of(none.read(read.query())), false, seen(store, read));
  }

  private static Reply.Answer answer(Request.Read read, Causal state) {
    return new Reply.Answer(
        Optional.of(state.type()),
        Optional.of(state.read(read.query())),
        true,
        state.context().toVersionVector());
  }

  /** That an object is not there may be the work of a removal, which the session has then seen. */
  private static VersionVector seen(ObjectStore store, Request.Read read) {
    VersionVector seen = VersionVector.EMPTY;
    List<Causal> states = store.get(read.key());
    for (Causal state : states) {
      seen = seen.join(state.context().toVersionVector());
    }
    return seen;
  }
}
