package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.SimDc;
import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.check.ProgramCheck;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Call;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Somebody who has programs done in a unit, each at any datacenter, and looks at what they have
 * done: by programs, and where the keyspace is causal by transactions. {@link ProgramCheck} says
 * what they do, and what must be seen. Some have a guard: they have read a register before, in
 * another request, and others do so at the same time.
 *
 * <p>Asks the datacenters' front doors, without a network in between. With chance of its own, so
 * that whatever else a seed draws is the same without it.
 */
public final class SimPrograms {
  private static final int HANDS = 3;
  private static final int PACE_MILLIS = 700;
  private static final int PAUSE_MILLIS = 400;
  private static final int LIMIT_MILLIS = 20_000;

  /** So many programs share their sets, so that these stay small. */
  private static final int GROUP = 50;

  private static final List<CrdtType> SETS =
      List.of(CrdtType.AW_SET, CrdtType.G_SET, CrdtType.RW_SET);

  /**
   * What is to be as it was.
   *
   * @param before of {@link ProgramCheck#before}
   */
  private record Guarded(VersionVector version, long value, int before) {}

  private final Simulation simulation;
  private final Unit unit;
  private final Random random;
  private final ProgramCheck check;
  private final boolean works;

  /** All objects, by what they are for. */
  private final Map<String, ObjectId> objects = new HashMap<>();

  /** Who was asked for programs. */
  private final Set<ReplicaId> asked = new TreeSet<>();

  private int keys;

  SimPrograms(Simulation simulation, Unit unit) {
    this.simulation = simulation;
    this.unit = unit;
    long seed = simulation.profile().seed();
    this.works = simulation.profile().has(Feature.PROGRAMS);
    this.random = new Random(Objects.hash("programs", seed, unit.number()));
    this.check = simulation.checks(unit).programs();
  }

  void start() {
    for (int i = 0; works && i < HANDS; i++) {
      next(new Object());
    }
  }

  /** Plans the next step of one of its hands, whose commands keep their order. */
  private void next(Object hand) {
    simulation
        .scheduler()
        .in(
            (1 + random.nextInt(2 * PACE_MILLIS * simulation.profile().pace())) * MILLI,
            () -> {
              if (simulation.isLoading()) {
                step(hand, simulation.dc(simulation.anyDc(random)));
                next(hand);
              }
            });
  }

  private void step(Object hand, SimDc dc) {
    if (!isThere(dc)) {
      return;
    }
    int choice = random.nextInt(unit.isCausal() ? 6 : 5);
    switch (choice) {
      case 0 -> write(hand, dc, Optional.empty());
      case 1, 2 -> read(hand, dc);
      case 5 -> lookByTransaction(hand, dc);
      default -> look(hand, dc);
    }
  }

  private boolean isThere(SimDc dc) {
    return dc.isUp() && dc.node(unit).isReady();
  }

  private void ask(Object hand, SimDc dc, Request request, Consumer<Reply> answered) {
    byte[] bytes = ProtocolCodec.encode(1, request);
    simulation.trace().hash(bytes);
    simulation.trace().about(unit, "program", "%s is asked: %s", dc.self(), request);
    dc.node(unit)
        .command(
            hand,
            ProtocolCodec.decodeRequest(bytes).message(),
            (at, reply) ->
                () -> {
                  byte[] answer = ProtocolCodec.encode(1, reply);
                  simulation.trace().hash(answer);
                  simulation.counted(reply);
                  simulation.trace().about(unit, "program", "%s answers %s", at, reply);
                  answered.accept(ProtocolCodec.decodeReply(answer).message());
                });
  }

  private Request.Evaluate program(List<Call> calls, List<Call.Guard> guards) {
    return new Request.Evaluate(unit.policy().name(), calls, guards, VersionVector.EMPTY, 0);
  }

  // ---------------------------------------------------------------- objects

  private ObjectId object(String what, CrdtType type) {
    return objects.computeIfAbsent(
        what,
        w -> {
          Key key;
          do {
            key = Key.of("program-wild-" + ++keys);
          } while (key.partition(unit.policy().partitions()) != unit.partition());
          return new ObjectId(key, type);
        });
  }

  private ObjectId set(int group, CrdtType type) {
    return object(type + " of group " + group, type);
  }

  private ObjectId counter(int group, ReplicaId of) {
    return object("counter of " + of + " of group " + group, CrdtType.PN_COUNTER);
  }

  private ObjectId register(ReplicaId of) {
    return object("register of " + of, CrdtType.LWW_REGISTER);
  }

  /** What shows the programs of a group: the sets, and a counter for each who does some. */
  private List<ObjectId> shown(int group, List<ReplicaId> counted) {
    List<ObjectId> all = new ArrayList<>();
    SETS.forEach(type -> all.add(set(group, type)));
    counted.forEach(of -> all.add(counter(group, of)));
    return all;
  }

  // ---------------------------------------------------------------- what it does

  private static Call.Read read(ObjectId object) {
    return new Call.Read(object.key(), Optional.of(object.type()), new Query.Whole());
  }

  private static Call.Update update(ObjectId object, Operation operation) {
    return new Call.Update(object.key(), object.type(), operation, Optional.empty());
  }

  /** Reads a register and its version, and has a program done if it is as it was. */
  private void read(Object hand, SimDc dc) {
    ReplicaId at = dc.self();
    ObjectId register = register(at);
    int before = check.before(at);
    ask(
        hand,
        dc,
        program(List.of(new Call.Version(register.key()), read(register)), List.of()),
        reply -> {
          if (reply instanceof Reply.Evaluated found) {
            VersionVector version = ((Reply.Answer) found.parts().getFirst()).seen();
            long value = value(((Reply.Answer) found.parts().getLast()).reading().orElseThrow());
            Guarded guarded = new Guarded(version, value, before);
            simulation
                .scheduler()
                .in(
                    random.nextInt(PAUSE_MILLIS) * MILLI,
                    () -> {
                      if (isThere(dc) && dc.self().equals(at) && simulation.isLoading()) {
                        write(hand, dc, Optional.of(guarded));
                      }
                    });
          }
        });
  }

  private static long value(Reading register) {
    return ((Reading.Single) register).value().map(v -> ((Value.Int) v).content()).orElse(0L);
  }

  private void write(Object hand, SimDc dc, Optional<Guarded> guarded) {
    ReplicaId at = dc.self();
    asked.add(at);
    long assigns = guarded.map(g -> g.value() + 1).orElse(0L);
    int number = check.begins(at, assigns);
    int group = number / GROUP;
    List<Call> calls = new ArrayList<>();
    SETS.forEach(t -> calls.add(update(set(group, t), new Operation.Add(Value.of(number)))));
    calls.add(update(counter(group, at), new Operation.Increment(1)));
    guarded.ifPresent(
        g -> calls.add(update(register(at), new Operation.Assign(Value.of(assigns)))));
    Collections.shuffle(calls, random);
    List<Call.Guard> guards =
        guarded.map(g -> new Call.Guard(register(at).key(), g.version())).stream().toList();
    ask(
        hand,
        dc,
        program(calls, guards),
        reply -> {
          if (!(reply instanceof Reply.Evaluated ended)) {
            check.failed(number);
          } else if (ended.held()) {
            checkParts(number, ended);
            check.done(number);
          } else {
            check.refused(number, guarded.map(Guarded::before).orElse(0));
          }
        });
  }

  private void checkParts(int number, Reply.Evaluated ended) {
    for (Reply part : ended.parts()) {
      if (!(part instanceof Reply.Done)) {
        throw new Violation(unit + "/program", "of program %d a call is answered %s", number, part);
      }
    }
  }

  // ---------------------------------------------------------------- what it sees

  /** Mostly of the newest programs. */
  private int anyGroup() {
    int newest = Math.max(0, check.begun() - 1) / GROUP;
    return random.nextInt(4) == 0 ? random.nextInt(newest + 1) : newest;
  }

  private void look(Object hand, SimDc dc) {
    List<ReplicaId> counted = List.copyOf(asked);
    List<ObjectId> shown = shown(anyGroup(), counted);
    List<Call> reads = new ArrayList<>();
    shown.forEach(object -> reads.add(read(object)));
    ReplicaId at = dc.self();
    ask(
        hand,
        dc,
        program(reads, List.of()),
        reply -> {
          if (reply instanceof Reply.Evaluated found) {
            saw(at, found.parts().stream().map(p -> (Reply.Answer) p).toList(), counted);
          }
        });
  }

  private void lookByTransaction(Object hand, SimDc dc) {
    List<ReplicaId> counted = List.copyOf(asked);
    List<Request.Fetch> reads = new ArrayList<>();
    for (ObjectId object : shown(anyGroup(), counted)) {
      reads.add(new Request.Fetch(object.key(), Optional.of(object.type()), new Query.Whole()));
    }
    ReplicaId at = dc.self();
    Request.Begin newest = new Request.Begin(VersionVector.EMPTY, false, 0, LIMIT_MILLIS);
    ask(
        hand,
        dc,
        new Request.Transact(
            unit.policy().name(),
            new TransactionId(random.nextLong(), random.nextLong()),
            1,
            Optional.of(newest),
            List.of(),
            reads,
            Request.End.COMMIT),
        reply -> {
          if (reply instanceof Reply.Transacted found) {
            saw(at, found.answers(), counted);
          }
        });
  }

  /** In a session keyspace a datacenter's own programs alone become visible together there. */
  private void saw(ReplicaId at, List<Reply.Answer> answers, List<ReplicaId> counted) {
    List<Reading> readings = answers.stream().map(a -> a.reading().orElseThrow()).toList();
    Predicate<ReplicaId> isWhole = by -> unit.isCausal() || by.equals(at);
    check.saw(at, ProgramCheck.View.of(readings, counted), isWhole);
  }

  // ---------------------------------------------------------------- the end

  /** All that will ever happen has. */
  public void ended() {
    Set<ReplicaId> lost = simulation.losses().lost();
    List<ReplicaId> counted = List.copyOf(asked);
    for (SimDc dc : simulation.dcs()) {
      for (int from = 0; from < check.begun(); from += GROUP) {
        List<Reading> readings = new ArrayList<>();
        shown(from / GROUP, counted).forEach(object -> readings.add(stored(dc, object)));
        ProgramCheck.View view = ProgramCheck.View.of(readings, counted);
        check.saw(dc.self(), view, by -> unit.isCausal() || !lost.contains(by));
        check.ended(dc.self(), from, from + GROUP, view, lost);
      }
      for (ReplicaId of : counted) {
        if (!lost.contains(of)) {
          check.ended(dc.self(), of, value(stored(dc, register(of))));
        }
      }
    }
  }

  private Reading stored(SimDc dc, ObjectId object) {
    CrdtState state = dc.node(unit).store().get(object);
    return (state == null ? CrdtState.bottom(object.type()) : state).read(new Query.Whole());
  }
}
