package io.osier.bench.sim.node;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** What a datacenter has of {@code _osier}: states that answer as its partition would. */
final class ControlCopy {
  private final LongSupplier timestamps;
  private final Map<ObjectId, CrdtState> objects = new TreeMap<>();

  /** What no crash takes. */
  private Map<ObjectId, CrdtState> durable = Map.of();

  private ReplicaId replica;
  private long number;
  private long recorded;

  /**
   * An empty one.
   *
   * @param timestamps each later than all that anybody has seen
   */
  ControlCopy(String dc, LongSupplier timestamps) {
    this.replica = new ReplicaId(dc, 1);
    this.timestamps = timestamps;
  }

  /** Changes when something else can be read. */
  long recorded() {
    return recorded;
  }

  boolean isEmpty() {
    return objects.isEmpty();
  }

  private CrdtState state(ObjectId object) {
    return objects.getOrDefault(object, CrdtState.bottom(object.type()));
  }

  Reading.Fields fields(ObjectId object) {
    return (Reading.Fields) state(object).read(new Query.Whole());
  }

  /** The partition's answer to what the control plane asks. */
  Reply ask(Request request) {
    switch (request) {
      case Request.Read read -> {
        CrdtState state = state(new ObjectId(read.key(), read.type().orElseThrow()));
        return new Reply.Answer(
            read.type(), Optional.of(state.read(read.query())), true, VersionVector.EMPTY);
      }
      case Request.Transact step -> {
        for (Request.Update update : step.updates()) {
          ObjectId object = new ObjectId(update.key(), update.type());
          CrdtState now = state(object);
          CrdtState delta =
              now.prepare(
                  update.operation(),
                  replica,
                  number + 1,
                  now.context().last(replica),
                  timestamps.getAsLong(),
                  0);
          number = Math.max(number, delta.context().last(replica));
          objects.put(object, now.join(delta));
        }
        recorded++;
        return new Reply.Transacted(VersionVector.of(replica, number), Optional.empty(), List.of());
      }
      default -> throw new IllegalArgumentException("the control plane asks no such thing");
    }
  }

  /** Gets all that another one has. */
  void hear(ControlCopy other) {
    other.objects.forEach(
        (object, theirs) -> {
          CrdtState own = state(object);
          if (own == theirs) {
            return; // as nearly always
          }
          CrdtState joined = own.join(theirs);
          if (!joined.equals(own)) {
            objects.put(object, joined);
            recorded++;
          } else if (joined.equals(theirs)) {
            objects.put(object, theirs); // one state for both is compared at once
          }
        });
  }

  /** Whether all that another one has is here. */
  boolean hasAllOf(ControlCopy other) {
    return other.objects.entrySet().stream()
        .allMatch(
            e -> {
              CrdtState own = state(e.getKey());
              return own == e.getValue() || own.equals(own.join(e.getValue()));
            });
  }

  /** From now on no crash takes what is here. */
  void sync() {
    durable = new TreeMap<>(objects);
  }

  /** Its process is gone, and with it what was not durable. */
  void crash(boolean keepsAll, boolean hasDisk) {
    if (keepsAll) {
      return;
    }
    objects.clear();
    if (hasDisk) {
      objects.putAll(durable);
    }
    replica = new ReplicaId(replica.dc(), replica.incarnation() + 1);
    number = 0;
    recorded++;
  }
}
