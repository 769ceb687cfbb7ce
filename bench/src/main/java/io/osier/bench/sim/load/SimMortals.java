package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A caller that lets keys, fields and elements of a unit expire, prolongs some before, deletes
 * others, and adds values where one has expired, each step at another datacenter. A value that has
 * expired or was deleted must not come back; one that was prolonged in time, or was added after
 * another has expired, must stay.
 *
 * <p>Asks the datacenters' front doors, without a network in between. Has a random stream of its
 * own, so that a seed draws everything else as it does without it.
 */
public final class SimMortals {
  private static final int PACE_MILLIS = 150;
  private static final int AT_ONCE = 8;

  /** Keys, fields and elements. */
  private static final int KINDS = 3;

  /** About how many parts an object has. */
  private static final int SHARED_BY = 6;

  /** A time to live as good as for ever. */
  private static final long LONG_MILLIS = 1_000_000_000;

  /** If clocks differ by more, values may expire too early. */
  private static final long APART_MILLIS = 1_000;

  private final Simulation simulation;
  private final Unit unit;
  private final Random random;
  private final boolean works;
  private final List<SimMortal> all = new ArrayList<>();
  private final Map<CrdtType, ObjectId> shared = new EnumMap<>(CrdtType.class);
  private int keys;
  private boolean apart;

  SimMortals(Simulation simulation, Unit unit) {
    this.simulation = simulation;
    this.unit = unit;
    long seed = simulation.profile().seed();
    this.works = simulation.profile().has(Feature.EXPIRY);
    this.random = new Random(Objects.hash("mortals", seed, unit.number()));
  }

  void start() {
    if (works) {
      next();
    }
  }

  private void next() {
    simulation
        .scheduler()
        .in(
            (1 + random.nextInt(2 * PACE_MILLIS)) * MILLI,
            () -> {
              if (simulation.isLoading()) {
                lookAtClocks();
                step();
                next();
              }
            });
  }

  private void lookAtClocks() {
    long least = Long.MAX_VALUE;
    long most = Long.MIN_VALUE;
    for (SimDc dc : simulation.dcs()) {
      if (dc.isUp()) {
        least = Math.min(least, dc.now().millis());
        most = Math.max(most, dc.now().millis());
      }
    }
    apart |= most > least && most - least > APART_MILLIS;
  }

  private void step() {
    SimDc dc = simulation.dc(simulation.anyDc(random));
    int choice = random.nextInt(AT_ONCE);
    List<SimMortal> living = all.stream().filter(m -> m.stage != SimMortal.Stage.ENDED).toList();
    SimMortal mortal = choice < living.size() ? living.get(choice) : born();
    if (!dc.isServing(unit) || mortal.asked) {
      return;
    }
    if (mortal.stage == SimMortal.Stage.BORN
        && mortal.fate != SimMortal.Fate.IS_DELETED
        && random.nextInt(3) == 0) {
      bear(dc, mortal);
    } else if (mortal.stage == SimMortal.Stage.BORN) {
      ask(
          dc,
          mortal,
          write(mortal, mortal.object.type(), mortal.add(mortal.first), Optional.empty()),
          reply ->
              mortal.stage =
                  reply instanceof Reply.Done ? SimMortal.Stage.ADDED : SimMortal.Stage.ENDED);
      mortal.deciders.add(dc.replica(unit));
    } else {
      ask(dc, mortal, read(mortal), reply -> hasRead(dc, mortal, reply));
    }
  }

  /** The name of a datacenter's present life; in another life its clock may differ. */
  private static String life(SimDc dc) {
    return dc.self() + " life " + dc.life();
  }

  private SimMortal born() {
    SimMortal.Fate fate = SimMortal.Fate.values()[random.nextInt(SimMortal.Fate.values().length)];
    int kind = random.nextInt(KINDS);
    SimMortal mortal =
        switch (kind) {
          case 0 -> new SimMortal(object(CrdtType.AW_SET), Optional.empty(), fate);
          case 1 ->
              new SimMortal(
                  shared(CrdtType.OR_MAP), Optional.of(new Part.Field("f" + all.size())), fate);
          default ->
              new SimMortal(
                  shared(CrdtType.AW_SET),
                  Optional.of(new Part.Element(Value.of(all.size()))),
                  fate);
        };
    all.add(mortal);
    return mortal;
  }

  /** An object that several parts share. */
  private ObjectId shared(CrdtType type) {
    ObjectId known = shared.get(type);
    if (known == null || random.nextInt(SHARED_BY) == 0) {
      known = object(type);
      shared.put(type, known);
    }
    return known;
  }

  private ObjectId object(CrdtType type) {
    return new ObjectId(unit.key(() -> "mortal-wild-" + ++keys), type);
  }

  private void ask(SimDc dc, SimMortal mortal, Request request, Consumer<Reply> answered) {
    mortal.asked = true;
    mortal.askedMillis = dc.now().millis();
    dc.node(unit)
        .command(
            this,
            request,
            (at, reply) ->
                () -> {
                  mortal.asked = false;
                  answered.accept(reply);
                });
  }

  private Request read(SimMortal mortal) {
    return new Request.Read(
        unit.policy().name(),
        mortal.object.key(),
        Optional.empty(),
        new Query.Whole(),
        VersionVector.EMPTY,
        random.nextBoolean(),
        0);
  }

  private Request write(
      SimMortal mortal, CrdtType type, Operation operation, Optional<Request.Ask> ask) {
    return new Request.Write(
        unit.policy().name(), mortal.object.key(), type, operation, VersionVector.EMPTY, 0, ask);
  }

  private void hasRead(SimDc dc, SimMortal mortal, Reply reply) {
    if (!(reply instanceof Reply.Answer answer)) {
      return;
    }
    boolean shows = answer.exists() && mortal.shows(mortal.first, answer.reading().orElseThrow());
    look(dc, mortal, shows);
    if (!dc.isUp() || !simulation.isLoading()) {
      return;
    }
    if (mortal.stage == SimMortal.Stage.ADDED && shows) {
      sentence(dc, mortal);
    } else if (mortal.stage == SimMortal.Stage.SENTENCED
        && mortal.fate == SimMortal.Fate.LIVES
        && shows) {
      reprieve(dc, mortal);
    } else if (mortal.stage == SimMortal.Stage.SENTENCED
        && mortal.fate == SimMortal.Fate.EXPIRES
        && mortal.shown.contains(life(dc))
        && !shows
        && mortal.hasRoom()
        && random.nextInt(4) == 0) {
      ask(
          dc,
          mortal,
          write(mortal, mortal.object.type(), mortal.add(mortal.second), Optional.empty()),
          added -> {
            mortal.heir = added instanceof Reply.Done ? dc.replica(unit) : null;
            mortal.stage = SimMortal.Stage.ENDED;
          });
    } else if (mortal.stage == SimMortal.Stage.SENTENCED
        && dc.now().millis() > mortal.deadlineMillis + 30_000) {
      mortal.stage = SimMortal.Stage.ENDED;
    }
  }

  /** Checks that a life that has shown a value, and then not, never shows it again. */
  private void look(SimDc dc, SimMortal mortal, boolean shows) {
    if (mortal.stage != SimMortal.Stage.SENTENCED || mortal.fate == SimMortal.Fate.LIVES) {
      return;
    }
    if (shows && mortal.hidden.contains(life(dc))) {
      throw new Violation(
          unit + "/" + mortal.object, "%s shows %s again, which was gone there", dc.self(), mortal);
    }
    if (shows
        && mortal.fate == SimMortal.Fate.EXPIRES
        && life(dc).equals(mortal.decidedBy)
        && mortal.askedMillis >= mortal.deadlineMillis) { // the answer may have taken a while
      throw new Violation(
          unit + "/" + mortal.object, "%s shows %s, which has expired there", dc.self(), mortal);
    }
    if (shows) {
      mortal.shown.add(life(dc));
    } else if (mortal.shown.contains(life(dc))) {
      mortal.hidden.add(life(dc));
    }
  }

  private long lifetimeMillis(SimMortal mortal) {
    return (mortal.fate == SimMortal.Fate.LIVES ? 3_000L : 300L) + random.nextInt(5_000);
  }

  /** Adds the first element with a deadline, in one update. */
  private void bear(SimDc dc, SimMortal mortal) {
    long after = lifetimeMillis(mortal);
    Operation operation = mortal.addFor(mortal.first, new Operation.Expire(after, true));
    mortal.deciders.add(dc.replica(unit));
    ask(
        dc,
        mortal,
        write(mortal, mortal.object.type(), operation, Optional.empty()),
        reply -> {
          boolean done = reply instanceof Reply.Done;
          if (done) {
            mortal.shown.add(life(dc));
          }
          mortal.decidedBy = life(dc);
          mortal.deadlineMillis = dc.now().millis() + after;
          mortal.stage = done ? SimMortal.Stage.SENTENCED : SimMortal.Stage.ENDED;
          mortal.decided = done;
        });
  }

  private void sentence(SimDc dc, SimMortal mortal) {
    long after = lifetimeMillis(mortal);
    Operation operation =
        mortal.fate == SimMortal.Fate.IS_DELETED
            ? mortal.delete()
            : mortal.expire(new Operation.Expire(after, true));
    mortal.deciders.add(dc.replica(unit));
    mortal.shown.add(life(dc));
    ask(
        dc,
        mortal,
        write(
            mortal,
            mortal.type(),
            operation,
            Optional.of(new Request.Ask(true, new Query.Whole()))),
        reply -> {
          boolean done =
              reply instanceof Reply.Done d
                  && d.answer().map(before -> had(mortal, before)).orElse(false);
          mortal.decidedBy = life(dc);
          mortal.deadlineMillis = dc.now().millis() + after;
          mortal.stage = done ? SimMortal.Stage.SENTENCED : SimMortal.Stage.ENDED;
          mortal.decided = done;
        });
  }

  private void reprieve(SimDc dc, SimMortal mortal) {
    Operation operation =
        random.nextBoolean()
            ? mortal.persist()
            : mortal.expire(new Operation.Expire(LONG_MILLIS, true));
    mortal.deciders.add(dc.replica(unit));
    ask(
        dc,
        mortal,
        write(
            mortal,
            mortal.type(),
            operation,
            Optional.of(new Request.Ask(true, mortal.timeToLive()))),
        reply -> {
          // It had a deadline, which had not passed: only then has it been prolonged.
          mortal.reprieved =
              reply instanceof Reply.Done d && d.answer().map(this::lives).orElse(false);
          mortal.stage = SimMortal.Stage.ENDED;
        });
  }

  private static boolean had(SimMortal mortal, Reply.Answer before) {
    return before.exists() && mortal.shows(mortal.first, before.reading().orElseThrow());
  }

  private boolean lives(Reply.Answer before) {
    return before.exists()
        && before.reading().orElseThrow() instanceof Reading.Count left
        && left.value() >= 0;
  }

  /** Checks all values at the end of the run. */
  public void ended() {
    lookAtClocks();
    for (SimMortal mortal : all) {
      for (SimDc dc : simulation.holders().of(unit)) {
        ended(mortal, dc);
      }
    }
  }

  private void ended(SimMortal mortal, SimDc dc) {
    CrdtState stored = dc.node(unit).store().get(mortal.object);
    CrdtState state =
        (stored == null ? CrdtState.bottom(mortal.object.type()) : stored).at(dc.now().millis());
    Reading whole = state.read(new Query.Whole());
    boolean first = mortal.shows(mortal.first, whole);
    Set<ReplicaId> lost = simulation.losses().lost(unit);
    boolean known = mortal.decided && mortal.deciders.stream().noneMatch(lost::contains);
    boolean gone =
        mortal.fate == SimMortal.Fate.IS_DELETED
            || (mortal.fate == SimMortal.Fate.EXPIRES
                && dc.now().millis() >= mortal.deadlineMillis);
    if (known && gone && first) {
      throw violation(mortal, dc, state, "still shows what is gone");
    }
    if (known && mortal.reprieved && !apart && !first) {
      throw violation(mortal, dc, state, "does not show what was prolonged");
    }
    if (mortal.heir != null && !lost.contains(mortal.heir) && !mortal.shows(mortal.second, whole)) {
      throw violation(mortal, dc, state, "does not show what was added after it was gone");
    }
  }

  private Violation violation(SimMortal mortal, SimDc dc, CrdtState state, String what) {
    return new Violation(
        unit + "/" + mortal.object, "%s %s: %s has %s", dc.self(), what, mortal, state);
  }
}
