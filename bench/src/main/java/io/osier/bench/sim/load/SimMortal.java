package io.osier.bench.sim.load;

import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A part of the data that may expire: a key with a set, a map's field with a set, or an element of
 * a set. It holds a first value, and perhaps a second one, which is added once the first is gone.
 */
final class SimMortal {
  /** What is to happen to it. */
  enum Fate {
    EXPIRES,
    LIVES,
    IS_DELETED
  }

  /** How far it has come. */
  enum Stage {
    BORN,
    ADDED,
    SENTENCED,
    ENDED
  }

  final ObjectId object;

  /** Empty for a key. */
  private final Optional<Part> part;

  final Fate fate;
  final Value first;
  final Value second = Value.of("second");
  Stage stage = Stage.BORN;

  /** Whether a request about it is under way. */
  boolean asked;

  /** When that was sent, by the asked datacenter's clock, in milliseconds. */
  long askedMillis;

  /** The replicas that were asked for updates of it. */
  final Set<ReplicaId> deciders = new HashSet<>();

  /** When it expires at the latest, by the clock of the datacenter that set the deadline. */
  long deadlineMillis;

  /** Whether its deadline was set, or it was deleted. */
  boolean decided;

  @Nullable String decidedBy;

  /** Whether it was prolonged before it expired. */
  boolean reprieved;

  /** The replica that has added the second value; null if none has. */
  @Nullable ReplicaId heir;

  /** The lives of datacenters that have shown the first value, and those that then did not. */
  final Set<String> shown = new HashSet<>();

  final Set<String> hidden = new HashSet<>();

  SimMortal(ObjectId object, Optional<Part> part, Fate fate) {
    this.object = object;
    this.part = part;
    this.fate = fate;
    this.first =
        part.isPresent() && part.get() instanceof Part.Element element
            ? element.value()
            : Value.of("first");
  }

  /** Whether another value can come where the first one was. */
  boolean hasRoom() {
    return part.isEmpty() || part.get() instanceof Part.Field;
  }

  private FieldId field(Part.Field field) {
    return new FieldId(field.name(), CrdtType.AW_SET);
  }

  Operation add(Value value) {
    Operation add = new Operation.Add(value);
    return part.isPresent() && part.get() instanceof Part.Field field
        ? new Operation.UpdateFields(field(field), add)
        : add;
  }

  Operation addFor(Value value, Operation.Expire deadline) {
    return part.isPresent()
        ? new Operation.WithPartDeadlines(add(value), deadline)
        : new Operation.WithDeadline(add(value), deadline);
  }

  Operation expire(Operation.Expire deadline) {
    return part.isPresent() ? new Operation.ExpireParts(List.of(part.get()), deadline) : deadline;
  }

  Operation persist() {
    return part.isPresent()
        ? new Operation.PersistParts(List.of(part.get()))
        : new Operation.Persist();
  }

  Operation delete() {
    if (part.isEmpty()) {
      return new Operation.Delete();
    }
    return switch (part.get()) {
      case Part.Field p -> new Operation.RemoveFields(List.of(p.name()));
      case Part.Element p -> new Operation.Remove(p.value());
    };
  }

  /** The type to name in requests that expire, prolong or delete it. */
  CrdtType type() {
    return part.isPresent() ? object.type() : Operation.ANY_TYPE;
  }

  Query timeToLive() {
    return part.isPresent() ? new Query.PartTimeToLive(part.get()) : new Query.TimeToLive();
  }

  /** Whether a reading of the whole object shows a value in this part. */
  boolean shows(Value value, Reading whole) {
    Reading own =
        part.isPresent()
                && part.get() instanceof Part.Field field
                && whole instanceof Reading.Fields fields
            ? fields.fields().get(field(field))
            : whole;
    return own instanceof Reading.Many many && many.values().contains(value);
  }

  @Override
  public String toString() {
    return object + part.map(p -> " " + p).orElse("");
  }
}
