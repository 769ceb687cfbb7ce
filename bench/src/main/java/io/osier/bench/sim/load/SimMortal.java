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
 * Something that may expire: a key with a set, a map's field with a set, or an element of a set. It
 * holds a first value, and perhaps another one that comes when the first is gone.
 */
final class SimMortal {
  /** What happens to it. */
  enum Fate {
    EXPIRES,
    LIVES,
    IS_DELETED
  }

  /** How far that is. */
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

  /** What is asked of it at present. */
  boolean asked;

  /** When it was, by the clock of who was asked. */
  long askedMillis;

  /** Who has done what decides on it. */
  final Set<ReplicaId> deciders = new HashSet<>();

  /** When it is over at the latest, by the clock of who decided. */
  long deadlineMillis;

  /** Whether that was done, and by whom. */
  boolean decided;

  @Nullable String decidedBy;

  /** Whether it was prolonged before it was over. */
  boolean reprieved;

  /** Who has added to what was gone; null if nobody did. */
  @Nullable ReplicaId heir;

  /** Those that have shown the first value, and those that did not any more. */
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

  /** The type that stands with what expires, prolongs or deletes it. */
  CrdtType type() {
    return part.isPresent() ? object.type() : Operation.ANY_TYPE;
  }

  Query timeToLive() {
    return part.isPresent() ? new Query.PartTimeToLive(part.get()) : new Query.TimeToLive();
  }

  /** Whether what the whole object is read as shows a value here. */
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
