package io.osier.bench.sim.program;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.check.ProgramCheck;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Call;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
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
 * what all of them do, and what must be seen; some also take elements, or fill a key, rename and
 * copy it, and of some a script does a part ({@link DrawnProgram}). Some have a guard: they have
 * read a register before, in another request, and others do so at the same time.
 *
 * <p>Asks the datacenters' front doors, without a network in between. With chance of its own, so
 * that whatever else a seed draws is the same without it.
 */
public final class SimPrograms {
  private static final int HANDS = 3;
  private static final int PACE_MILLIS = 700;
  private static final int PAUSE_MILLIS = 400;
  private static final int LIMIT_MILLIS = 20_000;

  /**
   * What a guard expects to be unchanged.
   *
   * @param before of {@link ProgramCheck#before}
   */
  private record Guarded(VersionVector version, long value, int before) {}

  private final Simulation simulation;
  private final Unit unit;
  private final Random random;
  private final ProgramCheck check;
  private final boolean works;
  private final ProgramObjects objects;

  /** The datacenters that were asked for programs. */
  private final Set<ReplicaId> asked = new TreeSet<>();

  /** Does nothing before {@link #start}. */
  public SimPrograms(Simulation simulation, Unit unit) {
    this.simulation = simulation;
    this.unit = unit;
    this.objects = new ProgramObjects(unit);
    long seed = simulation.profile().seed();
    this.works = simulation.profile().has(Feature.PROGRAMS);
    this.random = new Random(Objects.hash("programs", seed, unit.number()));
    this.check = simulation.checks(unit).programs();
  }

  /** Begins, if this run has programs. */
  public void start() {
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
    return dc.isServing(unit);
  }

  private void ask(Object hand, SimDc dc, Request request, Consumer<Reply> answered) {
    simulation.trace().about(unit, "program", "%s is asked: %s", dc.self(), request);
    dc.node(unit)
        .command(
            hand,
            encoded(request),
            (at, reply) ->
                () -> {
                  byte[] answer = ProtocolCodec.encode(1, reply);
                  simulation.trace().hash(answer);
                  simulation.counted(reply);
                  simulation.trace().about(unit, "program", "%s answers %s", dc.self(), reply);
                  answered.accept(ProtocolCodec.decodeReply(answer).message());
                });
  }

  /** Encodes and decodes a request, unless it has a script, which cannot be sent. */
  private Request encoded(Request request) {
    if (request instanceof Request.Evaluate program
        && program.calls().stream().anyMatch(Call.Script.class::isInstance)) {
      simulation.trace().hash(program.toString().getBytes(StandardCharsets.UTF_8));
      return request;
    }
    byte[] bytes = ProtocolCodec.encode(1, request);
    simulation.trace().hash(bytes);
    return ProtocolCodec.decodeRequest(bytes).message();
  }

  private Request.Evaluate program(List<Call> calls, List<Call.Guard> guards) {
    return new Request.Evaluate(unit.policy().name(), calls, guards, VersionVector.EMPTY, 0);
  }

  // ---------------------------------------------------------------- what it does

  private static Call.Read read(ObjectId object) {
    return new Call.Read(object.key(), Optional.of(object.type()), new Query.Whole());
  }

  /** Reads a register and its version, and has a program done if it is as it was. */
  private void read(Object hand, SimDc dc) {
    ReplicaId at = dc.self();
    ObjectId register = objects.register(at);
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
    int number = check.begins(at, guarded.map(g -> g.value() + 1).orElse(0L));
    DrawnProgram drawn =
        DrawnProgram.draw(objects, at, number, guarded.map(g -> g.value() + 1), random);
    drawn.begins(check);
    List<Call.Guard> guards =
        guarded.map(g -> new Call.Guard(objects.register(at).key(), g.version())).stream().toList();
    ScriptedCalls scripted = new ScriptedCalls(unit.policy().name(), drawn.scripted());
    List<Call> calls = new ArrayList<>(drawn.others());
    if (!drawn.scripted().isEmpty()) {
      calls.addFirst(scripted.script());
    }
    ask(
        hand,
        dc,
        program(calls, guards),
        reply -> {
          if (!(reply instanceof Reply.Evaluated ended)) {
            drawn.never(check);
            check.failed(number);
          } else if (ended.held()) {
            List<Reply> parts = new ArrayList<>(ended.parts());
            if (!drawn.scripted().isEmpty() && parts.size() == calls.size()) {
              parts.removeFirst();
              parts.addAll(0, scripted.answers());
            }
            drawn.done(check, parts, scripted.fault());
            check.done(number);
          } else {
            drawn.never(check);
            check.refused(number, guarded.map(Guarded::before).orElse(0));
          }
        });
  }

  // ---------------------------------------------------------------- what it sees

  /** Draws a group of programs, mostly the newest one. */
  private int anyGroup() {
    int newest = Math.max(0, check.begun() - 1) / ProgramObjects.GROUP;
    return random.nextInt(4) == 0 ? random.nextInt(newest + 1) : newest;
  }

  /** What a reader asks for, in the order of the readings, and the datacenters that are counted. */
  private record Looked(List<ReplicaId> counted, List<ObjectId> shown, List<Key> moved) {}

  private Looked looked() {
    List<ReplicaId> counted = List.copyOf(asked);
    List<Key> moved = new ArrayList<>();
    counted.forEach(of -> moved.addAll(objects.moved(of)));
    return new Looked(counted, objects.shown(anyGroup(), counted), moved);
  }

  private void look(Object hand, SimDc dc) {
    Looked looked = looked();
    List<Call> reads = new ArrayList<>();
    looked.shown.forEach(object -> reads.add(read(object)));
    looked.moved.forEach(key -> reads.add(new Call.Read(key, Optional.empty(), new Query.Whole())));
    ReplicaId at = dc.self();
    ask(
        hand,
        dc,
        program(reads, List.of()),
        reply -> {
          if (reply instanceof Reply.Evaluated found) {
            saw(at, looked, found.parts().stream().map(p -> (Reply.Answer) p).toList());
          }
        });
  }

  private void lookByTransaction(Object hand, SimDc dc) {
    Looked looked = looked();
    List<Request.Fetch> reads = new ArrayList<>();
    for (ObjectId object : looked.shown) {
      reads.add(new Request.Fetch(object.key(), Optional.of(object.type()), new Query.Whole()));
    }
    looked.moved.forEach(
        key -> reads.add(new Request.Fetch(key, Optional.empty(), new Query.Whole())));
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
            saw(at, looked, found.answers());
          }
        });
  }

  /** In a session keyspace a datacenter's own programs alone become visible together there. */
  private void saw(ReplicaId at, Looked looked, List<Reply.Answer> answers) {
    int shown = looked.shown.size();
    List<Reading> readings =
        answers.subList(0, shown).stream().map(a -> a.reading().orElseThrow()).toList();
    Predicate<ReplicaId> isWhole = by -> unit.isCausal() || by.equals(at);
    check.saw(at, ProgramCheck.View.of(readings, looked.counted), isWhole);
    List<List<Long>> moved =
        answers.subList(shown, answers.size()).stream()
            .map(a -> a.reading().map(DrawnProgram::numbers).orElse(List.of()))
            .toList();
    int each = moved.size() / Math.max(1, looked.counted.size());
    for (int i = 0; i < looked.counted.size(); i++) {
      ReplicaId of = looked.counted.get(i);
      if (isWhole.test(of)) {
        check.moves().saw(at, of, moved.subList(i * each, (i + 1) * each));
      }
    }
  }

  // ---------------------------------------------------------------- the end

  /** Checks all programs at the end of the run. */
  public void ended() {
    Set<ReplicaId> lost = simulation.losses().lost(unit);
    List<ReplicaId> counted = List.copyOf(asked);
    for (SimDc dc : simulation.holders().of(unit)) {
      for (int from = 0; from < check.begun(); from += ProgramObjects.GROUP) {
        List<Reading> readings = new ArrayList<>();
        objects
            .shown(from / ProgramObjects.GROUP, counted)
            .forEach(object -> readings.add(stored(dc, object)));
        ProgramCheck.View view = ProgramCheck.View.of(readings, counted);
        check.saw(dc.self(), view, by -> unit.isCausal() || !lost.contains(by));
        check.ended(dc.self(), from, from + ProgramObjects.GROUP, view, lost);
      }
      for (ReplicaId of : counted) {
        if (!lost.contains(of)) {
          ended(dc, of);
        }
      }
    }
  }

  private void ended(SimDc dc, ReplicaId of) {
    check.ended(dc.self(), of, value(stored(dc, objects.register(of))));
    Set<Long> bag = new TreeSet<>(DrawnProgram.numbers(stored(dc, objects.bag(of))));
    check.takes().ended(dc.self(), of, bag);
    List<List<Long>> moved = new ArrayList<>();
    for (Key key : objects.moved(of)) {
      List<Long> held = new ArrayList<>();
      for (CrdtType type : ProgramObjects.MOVED) {
        held.addAll(DrawnProgram.numbers(stored(dc, new ObjectId(key, type))));
      }
      moved.add(held);
    }
    check.moves().ended(dc.self(), of, moved);
  }

  private Reading stored(SimDc dc, ObjectId object) {
    CrdtState state = dc.node(unit).store().get(object);
    return (state == null ? CrdtState.bottom(object.type()) : state).read(new Query.Whole());
  }
}
