package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.MILLI;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who lets keys of a unit expire, prolongs some before they do, deletes others, and adds
 * to what is gone, each step at another datacenter. What has expired or was deleted must not come
 * back, what was prolonged in time must stay, and so must what was added to a key that had expired.
 *
 * <p>Asks the datacenters' front doors, without a network in between. In one seed of three, with
 * chance of its own, so that the others are what they were before.
 */
final class SimMortals {
  private static final int ONE_SEED_IN = 3;
  private static final int PACE_MILLIS = 150;
  private static final int AT_ONCE = 8;

  /** Of a key that lives for ever. */
  private static final long LONG_MILLIS = 1_000_000_000;

  /** Clocks that differ by more may let anything expire too early. */
  private static final long APART_MILLIS = 1_000;

  private enum Fate {
    EXPIRES,
    LIVES,
    IS_DELETED
  }

  private enum Stage {
    BORN,
    ADDED,
    SENTENCED,
    ENDED
  }

  /** A key: a set with one element, and perhaps another one that comes when the first is gone. */
  private static final class Mortal {
    final ObjectId object;
    final Fate fate;
    final Value first;
    final Value second;
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

    /** Those that have shown the first element, and those that did not any more. */
    final Set<String> shown = new HashSet<>();

    final Set<String> hidden = new HashSet<>();

    Mortal(Key key, Fate fate) {
      this.object = new ObjectId(key, CrdtType.AW_SET);
      this.fate = fate;
      this.first = Value.of("first");
      this.second = Value.of("second");
    }
  }

  private final Simulation simulation;
  private final Unit unit;
  private final Random random;
  private final boolean works;
  private final List<Mortal> all = new ArrayList<>();
  private int keys;
  private boolean apart;

  SimMortals(Simulation simulation, Unit unit) {
    this.simulation = simulation;
    this.unit = unit;
    long seed = simulation.profile().seed();
    this.works = Math.floorMod(seed, ONE_SEED_IN) == 1 && !simulation.options().paired();
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
    List<Mortal> living = all.stream().filter(m -> m.stage != Stage.ENDED).toList();
    Mortal mortal = choice < living.size() ? living.get(choice) : born();
    if (!dc.isUp() || !dc.node(unit).isReady() || mortal.asked) {
      return;
    }
    if (mortal.stage == Stage.BORN && mortal.fate != Fate.IS_DELETED && random.nextInt(3) == 0) {
      bear(dc, mortal);
    } else if (mortal.stage == Stage.BORN) {
      ask(
          dc,
          mortal,
          write(mortal, mortal.object.type(), new Operation.Add(mortal.first), Optional.empty()),
          reply -> mortal.stage = reply instanceof Reply.Done ? Stage.ADDED : Stage.ENDED);
      mortal.deciders.add(dc.self());
    } else {
      ask(dc, mortal, read(mortal), reply -> hasRead(dc, mortal, reply));
    }
  }

  /** In another one the clock may be another. */
  private static String life(SimDc dc) {
    return dc.self() + " life " + dc.life();
  }

  private Mortal born() {
    Key key;
    do {
      key = Key.of("mortal-wild-" + ++keys);
    } while (key.partition(unit.policy().partitions()) != unit.partition());
    Mortal mortal = new Mortal(key, Fate.values()[random.nextInt(Fate.values().length)]);
    all.add(mortal);
    return mortal;
  }

  private void ask(SimDc dc, Mortal mortal, Request request, Consumer<Reply> answered) {
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

  private Request read(Mortal mortal) {
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
      Mortal mortal, CrdtType type, Operation operation, Optional<Request.Ask> ask) {
    return new Request.Write(
        unit.policy().name(), mortal.object.key(), type, operation, VersionVector.EMPTY, 0, ask);
  }

  private static boolean isThere(Value element, Reply.Answer answer) {
    return answer.exists()
        && answer.reading().orElseThrow() instanceof Reading.Many many
        && many.values().contains(element);
  }

  private void hasRead(SimDc dc, Mortal mortal, Reply reply) {
    if (!(reply instanceof Reply.Answer answer)) {
      return;
    }
    boolean shows = isThere(mortal.first, answer);
    look(dc, mortal, shows);
    if (!dc.isUp() || !simulation.isLoading()) {
      return;
    }
    if (mortal.stage == Stage.ADDED && shows) {
      sentence(dc, mortal);
    } else if (mortal.stage == Stage.SENTENCED && mortal.fate == Fate.LIVES && shows) {
      reprieve(dc, mortal);
    } else if (mortal.stage == Stage.SENTENCED
        && mortal.fate == Fate.EXPIRES
        && mortal.shown.contains(life(dc))
        && !shows
        && random.nextInt(4) == 0) {
      ask(
          dc,
          mortal,
          write(mortal, mortal.object.type(), new Operation.Add(mortal.second), Optional.empty()),
          added -> {
            mortal.heir = added instanceof Reply.Done ? dc.self() : null;
            mortal.stage = Stage.ENDED;
          });
    } else if (mortal.stage == Stage.SENTENCED
        && dc.now().millis() > mortal.deadlineMillis + 30_000) {
      mortal.stage = Stage.ENDED;
    }
  }

  /** Who has shown it, and then not, never shows it again; only what nobody prolongs. */
  private void look(SimDc dc, Mortal mortal, boolean shows) {
    if (mortal.stage != Stage.SENTENCED || mortal.fate == Fate.LIVES) {
      return;
    }
    if (shows && mortal.hidden.contains(life(dc))) {
      throw new Violation(
          unit + "/" + mortal.object,
          "%s shows %s again, which was gone there",
          dc.self(),
          mortal.object);
    }
    if (shows
        && mortal.fate == Fate.EXPIRES
        && life(dc).equals(mortal.decidedBy)
        && mortal.askedMillis >= mortal.deadlineMillis) { // the answer may have taken a while
      throw new Violation(
          unit + "/" + mortal.object,
          "%s shows %s, which has expired there",
          dc.self(),
          mortal.object);
    }
    if (shows) {
      mortal.shown.add(life(dc));
    } else if (mortal.shown.contains(life(dc))) {
      mortal.hidden.add(life(dc));
    }
  }

  private long lifetimeMillis(Mortal mortal) {
    return (mortal.fate == Fate.LIVES ? 3_000L : 300L) + random.nextInt(5_000);
  }

  /** Adds the first element with a deadline, in one update. */
  private void bear(SimDc dc, Mortal mortal) {
    long after = lifetimeMillis(mortal);
    Operation operation =
        new Operation.WithDeadline(
            new Operation.Add(mortal.first), new Operation.Expire(after, true));
    mortal.deciders.add(dc.self());
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
          mortal.stage = done ? Stage.SENTENCED : Stage.ENDED;
          mortal.decided = done;
        });
  }

  private void sentence(SimDc dc, Mortal mortal) {
    long after = lifetimeMillis(mortal);
    Operation operation =
        mortal.fate == Fate.IS_DELETED ? new Operation.Delete() : new Operation.Expire(after, true);
    mortal.deciders.add(dc.self());
    mortal.shown.add(life(dc));
    ask(
        dc,
        mortal,
        write(
            mortal,
            Operation.ANY_TYPE,
            operation,
            Optional.of(new Request.Ask(true, new Query.Exists()))),
        reply -> {
          boolean done =
              reply instanceof Reply.Done d && d.answer().map(Reply.Answer::exists).orElse(false);
          mortal.decidedBy = life(dc);
          mortal.deadlineMillis = dc.now().millis() + after;
          mortal.stage = done ? Stage.SENTENCED : Stage.ENDED;
          mortal.decided = done;
        });
  }

  private void reprieve(SimDc dc, Mortal mortal) {
    Operation operation =
        random.nextBoolean() ? new Operation.Persist() : new Operation.Expire(LONG_MILLIS, true);
    mortal.deciders.add(dc.self());
    ask(
        dc,
        mortal,
        write(
            mortal,
            Operation.ANY_TYPE,
            operation,
            Optional.of(new Request.Ask(true, new Query.TimeToLive()))),
        reply -> {
          // It had a deadline, which had not passed: only then has it been prolonged.
          mortal.reprieved =
              reply instanceof Reply.Done d && d.answer().map(this::lives).orElse(false);
          mortal.stage = Stage.ENDED;
        });
  }

  private boolean lives(Reply.Answer before) {
    return before.exists()
        && before.reading().orElseThrow() instanceof Reading.Count left
        && left.value() >= 0;
  }

  /** All that will ever happen has. */
  void ended() {
    lookAtClocks();
    for (Mortal mortal : all) {
      for (SimDc dc : simulation.dcs()) {
        ended(mortal, dc);
      }
    }
  }

  private void ended(Mortal mortal, SimDc dc) {
    Causal stored = dc.node(unit).store().get(mortal.object);
    Causal state =
        (stored == null ? Causal.bottom(mortal.object.type()) : stored).at(dc.now().millis());
    List<Value> elements = ((Reading.Many) state.read(new Query.Whole())).values();
    Set<ReplicaId> lost = simulation.losses().lost();
    boolean known = mortal.decided && mortal.deciders.stream().noneMatch(lost::contains);
    boolean gone =
        mortal.fate == Fate.IS_DELETED
            || (mortal.fate == Fate.EXPIRES && dc.now().millis() >= mortal.deadlineMillis);
    if (known && gone && elements.contains(mortal.first)) {
      throw violation(mortal, dc, state, "still shows what is gone");
    }
    if (known && mortal.reprieved && !apart && !elements.contains(mortal.first)) {
      throw violation(mortal, dc, state, "does not show what was prolonged");
    }
    if (mortal.heir != null && !lost.contains(mortal.heir) && !elements.contains(mortal.second)) {
      throw violation(mortal, dc, state, "does not show what was added after it was gone");
    }
  }

  private Violation violation(Mortal mortal, SimDc dc, Causal state, String what) {
    return new Violation(
        unit + "/" + mortal.object, "%s %s: %s has %s", dc.self(), what, mortal.object, state);
  }
}
