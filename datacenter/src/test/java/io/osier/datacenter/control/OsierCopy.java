package io.osier.datacenter.control;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** What a datacenter has of {@code _osier}: a map of states that answers as its partition would. */
final class OsierCopy {
  final Map<ObjectId, CrdtState> objects = new TreeMap<>();
  private final LongSupplier timestamps;
  private ReplicaId replica;
  private long number;

  /**
   * An empty one.
   *
   * @param timestamps each later than all that anybody has seen
   */
  OsierCopy(ReplicaId replica, LongSupplier timestamps) {
    this.replica = replica;
    this.timestamps = timestamps;
  }

  ReplicaId replica() {
    return replica;
  }

  Reply ask(Request request) {
    switch (request) {
      case Request.Read read -> {
        ObjectId object = new ObjectId(read.key(), read.type().orElseThrow());
        return new Reply.Answer(
            read.type(), Optional.of(state(object).read(read.query())), true, VersionVector.EMPTY);
      }
      case Request.Transact step -> {
        long timestamp = timestamps.getAsLong();
        for (Request.Update update : step.updates()) {
          ObjectId object = new ObjectId(update.key(), update.type());
          CrdtState now = state(object);
          long last = now.context().last(replica);
          CrdtState delta =
              now.prepare(update.operation(), replica, number + 1, last, timestamp, 0);
          number = delta.context().last(replica);
          objects.put(object, now.join(delta));
        }
        return new Reply.Transacted(VersionVector.of(replica, number), Optional.empty(), List.of());
      }
      default -> throw new AssertionError(request);
    }
  }

  CrdtState state(ObjectId object) {
    return objects.getOrDefault(object, CrdtState.bottom(object.type()));
  }

  /** Gets all that another one has. What is equal is one object then, and joined no more. */
  void hear(OsierCopy other) {
    other.objects.forEach(
        (object, theirs) -> {
          CrdtState own = state(object);
          if (own != theirs) {
            CrdtState joined = own.join(theirs);
            objects.put(object, joined.equals(theirs) ? theirs : joined);
          }
        });
  }

  boolean hasAllOf(OsierCopy other) {
    return other.objects.entrySet().stream()
        .allMatch(e -> state(e.getKey()).equals(state(e.getKey()).join(e.getValue())));
  }

  /** Has nothing but this any more, and is another incarnation. */
  void lose(Map<ObjectId, CrdtState> kept) {
    objects.clear();
    objects.putAll(kept);
    replica = new ReplicaId(replica.dc(), replica.incarnation() + 1);
    number = 0;
  }
}
