package io.osier.bench.sim.node;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.core.PlacementRules;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.control.ControlPlane;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * A datacenter's copy of the keyspace {@code _osier}: states that answer the control plane as the
 * keyspace's partition would. Used by the simulation's thread.
 */
final class ControlCopy {
  private final LongSupplier timestamps;
  private final Sabotage sabotage;
  private final Map<ObjectId, CrdtState> objects = new TreeMap<>();

  /** The objects as they were synced last, which survive a crash of a datacenter with a disk. */
  private Map<ObjectId, CrdtState> durable = Map.of();

  private ReplicaId replica;
  private long number;
  private long recorded;

  /**
   * An empty one.
   *
   * @param timestamps each later than all that anybody has seen
   */
  ControlCopy(String dc, LongSupplier timestamps, Sabotage sabotage) {
    this.sabotage = sabotage;
    this.replica = new ReplicaId(dc, 1);
    this.timestamps = timestamps;
  }

  /** Counts the changes of what can be read. */
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
            read.type(), Optional.of(shown(state.read(read.query()))), true, VersionVector.EMPTY);
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

  /** What the control plane reads of an object, which has a field for each keyspace. */
  private Reading shown(Reading whole) {
    if (sabotage.overlooks().isEmpty() || !(whole instanceof Reading.Fields all)) {
      return whole;
    }
    SortedMap<FieldId, Reading> shown = new TreeMap<>(all.fields());
    shown.replaceAll(
        (keyspace, of) -> {
          if (!(of instanceof Reading.Fields map)) {
            return of;
          }
          SortedMap<FieldId, Reading> settings = new TreeMap<>(map.fields());
          settings.keySet().removeIf(setting -> sabotage.overlooks().contains(setting.name()));
          return new Reading.Fields(settings);
        });
    return new Reading.Fields(shown);
  }

  /** The laws of a keyspace, as they were written. */
  PlacementRules rules(String keyspace) {
    Reading map =
        fields(ControlPlane.KEYSPACES).field(keyspace).orElse(new Reading.Fields(new TreeMap<>()));
    String min = text(map, "holders-min");
    String placement = text(map, "placement");
    return new PlacementRules(
        placement.isEmpty()
            ? PlacementRules.Placement.FIXED
            : PlacementRules.Placement.valueOf(placement.toUpperCase(Locale.ROOT)),
        min.isEmpty() || min.equals("auto") ? 0 : Integer.parseInt(min),
        names(text(map, "allow")),
        names(text(map, "deny")));
  }

  private static List<String> names(String list) {
    return Arrays.stream(list.split(",", -1)).filter(name -> !name.isEmpty()).toList();
  }

  /** What a register says; empty if it is not there. */
  private static String text(Reading map, String register) {
    return map instanceof Reading.Fields of
            && of.field(register).orElse(null) instanceof Reading.Single single
            && single.value().orElse(null) instanceof Value.Str text
        ? text.content()
        : "";
  }

  /** Joins all objects of another datacenter's copy into this one. */
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

  /** Whether this copy covers all objects of another one. */
  boolean hasAllOf(ControlCopy other) {
    return other.objects.entrySet().stream()
        .allMatch(
            e -> {
              CrdtState own = state(e.getKey());
              return own == e.getValue() || own.equals(own.join(e.getValue()));
            });
  }

  /** Makes the present objects durable. */
  void sync() {
    durable = new TreeMap<>(objects);
  }

  /** The process has crashed, and has lost what was not durable. */
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
