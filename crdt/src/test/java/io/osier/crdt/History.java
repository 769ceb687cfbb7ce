package io.osier.crdt;

import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A random history of one object at three replicas: who updated what, having seen what. */
final class History {
  /**
   * One update.
   *
   * @param past the dots of all updates that its replica had received
   */
  record Event(Dot dot, Operation operation, long timestamp, Set<Dot> past, Causal delta) {}

  /** One replica: its state and the updates it has received. */
  final class Site {
    final ReplicaId id;
    Causal state;
    final Set<Dot> seen = new HashSet<>();
    final List<Event> own = new ArrayList<>();
    private long number;

    Site(String name) {
      id = new ReplicaId(name, 1);
      state = Causal.bottom(type);
    }

    Event update(Operation wanted, long timestamp) {
      boolean create = state.store() instanceof BoundedCounter c && !c.isCreated();
      Operation operation = create ? new Operation.Bound(-9, 9, sharers()) : wanted;
      number += 1 + random.nextInt(3); // the sequencer's other numbers went to other objects
      Causal delta =
          state.prepare(operation, id, number, state.context().through(id), timestamp, 0);
      number = delta.context().last(id);
      Dot dot = new Dot(id, number);
      Event event = new Event(dot, operation, timestamp, Set.copyOf(seen), delta);
      state = state.join(delta);
      seen.add(dot);
      own.add(event);
      events.add(event);
      return event;
    }

    /** Receives an update if all that it builds on is here. */
    boolean receive(Event event) {
      if (!seen.containsAll(event.past)) {
        return false;
      }
      state = state.join(event.delta);
      seen.add(event.dot);
      return true;
    }
  }

  final CrdtType type;
  final Random random;
  final List<Site> sites = new ArrayList<>();
  final List<Event> events = new ArrayList<>();

  History(CrdtType type, long seed) {
    this.type = type;
    this.random = new Random(seed);
    for (String name : List.of("a", "b", "c")) {
      sites.add(new Site(name));
    }
  }

  /** Updates and deliveries in causal order; small alphabets, so that conflicts happen. */
  History run(int steps) {
    for (int i = 0; i < steps; i++) {
      Site site = sites.get(random.nextInt(3));
      if (random.nextInt(5) < 2) {
        site.update(operation(type, 0), 1 + random.nextInt(3));
      } else if (!events.isEmpty()) {
        site.receive(events.get(random.nextInt(events.size())));
      }
    }
    return this;
  }

  /** Delivers everything everywhere, in an order that causality allows. */
  void finish() {
    for (Site site : sites) {
      boolean more = true;
      while (more) {
        more = false;
        for (Event event : events) {
          more |= !site.seen.contains(event.dot) && site.receive(event);
        }
      }
    }
  }

  Operation operation(CrdtType of, int depth) {
    if (random.nextInt(12) == 0 && of != CrdtType.BOUNDED_COUNTER) {
      return new Operation.Clear();
    }
    return switch (of) {
      case PN_COUNTER -> new Operation.Increment(random.nextInt(7) - 3);
      case G_COUNTER -> new Operation.Increment(random.nextInt(4));
      case LWW_REGISTER, MV_REGISTER -> new Operation.Assign(Value.of(random.nextInt(3)));
      case EW_FLAG, DW_FLAG -> new Operation.SetFlag(random.nextBoolean());
      case G_SET -> new Operation.Add(elements());
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          random.nextInt(3) == 0 ? new Operation.Remove(elements()) : new Operation.Add(elements());
      case OR_MAP -> mapOperation(depth);
      case BOUNDED_COUNTER ->
          switch (random.nextInt(4)) {
            case 0 -> new Operation.Bound(-random.nextInt(9), random.nextInt(9), sharers());
            case 1 -> new Operation.Transfer("b", 1 + random.nextInt(3), random.nextBoolean());
            default -> new Operation.Increment(random.nextInt(7) - 3);
          };
    };
  }

  /** What a datacenter knows of the others while some are added. */
  private List<String> sharers() {
    List<String> all = List.of("a", "b", "c", "d");
    return all.subList(random.nextInt(2), 3 + random.nextInt(2));
  }

  private Operation mapOperation(int depth) {
    if (random.nextInt(4) == 0) {
      return new Operation.RemoveFields(List.of(name()));
    }
    boolean mapsToo = depth == 0;
    List<Operation.FieldUpdate> updates = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      List<CrdtType> types =
          Arrays.stream(CrdtType.values())
              .filter(t -> t.isNestable() && (mapsToo || t != CrdtType.OR_MAP))
              .toList();
      CrdtType field = types.get(random.nextInt(types.size()));
      updates.add(
          new Operation.FieldUpdate(new FieldId(name(), field), operation(field, depth + 1)));
    }
    return new Operation.UpdateFields(updates);
  }

  private String name() {
    return random.nextBoolean() ? "f" : "g";
  }

  private List<Value> elements() {
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(2); i++) {
      elements.add(Value.of(random.nextBoolean() ? "x" : "y"));
    }
    return elements;
  }
}
