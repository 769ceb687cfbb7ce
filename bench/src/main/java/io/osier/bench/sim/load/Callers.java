package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimApp;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.program.SimPrograms;
import io.osier.bench.sim.world.Scheduler;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Who works with the datacenters: sessions and transactions as they are defined, and those of
 * production's client, in applications of their own and in the datacenters' processes. Used by the
 * simulation's thread.
 */
public final class Callers {
  /** One busy session of six, the others more or less idle: a seed has both. */
  private static final int[] PACE_MILLIS = {400, 3_000, 3_000, 10_000, 10_000, 30_000};

  private static final int READER_PACE_MILLIS = 200;

  /** The pace of all sessions where keyspaces are compared. */
  private static final int PAIRED_PACE_MILLIS = 50;

  /** How many applications there are; the sessions of one share its connections. */
  private static final int APPS = 2;

  /** How many sessions an application in the process of a datacenter has. */
  private static final int RESIDENTS = 2;

  private static final int[] RESIDENT_PACE_MILLIS = {1_000, 5_000};

  private final Simulation simulation;
  private final SimOptions options;
  private final RunProfile profile;
  private final List<Workload> workloads = new ArrayList<>();
  private final List<SimClient> clients = new ArrayList<>();
  private final List<SimTransactor> transactors = new ArrayList<>();
  private final List<SimApp> apps = new ArrayList<>();
  private final List<SimSession> sessions = new ArrayList<>();

  /** Applications in the processes of datacenters. */
  private final List<SimApp> residents = new ArrayList<>();

  private final List<SimTransactions> transactions = new ArrayList<>();

  /** By unit. */
  private final List<SimMortals> mortals = new ArrayList<>();

  /** By unit. */
  private final List<SimPrograms> programs = new ArrayList<>();

  /**
   * Draws all callers outside of the datacenters' processes.
   *
   * @param simulation with its units and datacenters
   */
  public Callers(Simulation simulation, Random random) {
    this.simulation = simulation;
    this.options = simulation.options();
    this.profile = simulation.profile();
    drawClients(random);
    if (!options.paired()) {
      drawApps(random);
      drawTransactions(random);
      drawSessions(random);
    }
    if (profile.has(Feature.COPIES)) {
      drawReaders(new Random(profile.seed())); // all else is drawn alike without them
    }
    simulation.units().forEach(unit -> mortals.add(new SimMortals(simulation, unit)));
    simulation.units().forEach(unit -> programs.add(new SimPrograms(simulation, unit)));
  }

  private void drawClients(Random random) {
    for (Unit unit : simulation.units()) {
      Workload workload =
          new Workload(unit, random, profile.sizes(), profile.has(Feature.LATER_TYPES));
      workloads.add(workload);
      for (int i = 0; i <= options.dcs(); i++) {
        if (isProductions(i)) {
          continue;
        }
        String name = "session " + unit + "-" + i;
        clients.add(
            new SimClient(
                simulation,
                name,
                unit,
                workload,
                new Random(random.nextLong()),
                options.paired()
                    ? PAIRED_PACE_MILLIS
                    : PACE_MILLIS[random.nextInt(PACE_MILLIS.length)] * profile.pace(),
                simulation.anyDc(random),
                false));
      }
    }
  }

  /** Draws sessions that read so often that copies are worth it. */
  private void drawReaders(Random random) {
    for (Unit unit : simulation.units()) {
      for (int i = 0; i < options.dcs() && unit.mayBeCopied(); i++) {
        clients.add(
            new SimClient(
                simulation,
                "reader " + unit + "-" + i,
                unit,
                workloads.get(unit.number()),
                new Random(random.nextLong()),
                READER_PACE_MILLIS * profile.pace(),
                simulation.anyDc(random),
                true));
      }
    }
  }

  private void drawApps(Random random) {
    for (int i = 0; i < APPS; i++) {
      apps.add(new SimApp(simulation, "app " + i, new Random(random.nextLong()), i == 1));
    }
  }

  private void drawTransactions(Random random) {
    for (Unit unit : simulation.units()) {
      for (int i = 0; unit.isCausal() && i <= options.dcs(); i++) {
        String name = "transactor " + i;
        Random own = new Random(random.nextLong());
        if (isProductions(i)) {
          SimApp app = apps.get(random.nextInt(APPS));
          transactions.add(new SimTransactions(simulation, app, name + " of " + app, unit, own));
          continue;
        }
        transactors.add(new SimTransactor(simulation, name, unit, own, simulation.anyDc(random)));
      }
    }
  }

  private void drawSessions(Random random) {
    int count = simulation.units().size() * (options.dcs() + 1) / 2;
    for (int i = 0; i < count; i++) {
      int pace = PACE_MILLIS[random.nextInt(PACE_MILLIS.length)] * profile.pace();
      SimApp app = apps.get(random.nextInt(APPS));
      Random own = new Random(random.nextLong());
      sessions.add(
          new SimSession(simulation, app, "session " + i + " of " + app, workloads, own, pace));
    }
  }

  /** Whether a session is one of production's client; the other half is as it is defined. */
  private boolean isProductions(int number) {
    return number % 2 == 1 && !options.paired();
  }

  /** Lets the callers begin once the datacenters have found each other. */
  public void start() {
    Scheduler scheduler = simulation.scheduler();
    clients.forEach(c -> scheduler.in(3 * SECOND, c::start));
    transactors.forEach(t -> scheduler.in(3 * SECOND, t::start));
    sessions.forEach(s -> scheduler.in(3 * SECOND, s::start));
    transactions.forEach(t -> scheduler.in(3 * SECOND, t::start));
    mortals.forEach(m -> scheduler.in(3 * SECOND, m::start));
    programs.forEach(p -> scheduler.in(3 * SECOND, p::start));
    simulation.units().stream()
        .filter(Unit::hasHomes)
        .forEach(unit -> new SimStray(simulation, unit).start());
  }

  /** Starts an application in the process of a datacenter that has just started. */
  public SimApp moveIn(SimDc dc, Random random) {
    SimApp app = new SimApp(simulation, dc, random);
    residents.removeIf(a -> !a.isRunning());
    residents.add(app);
    for (int i = 0; i < RESIDENTS; i++) {
      int pace = RESIDENT_PACE_MILLIS[random.nextInt(RESIDENT_PACE_MILLIS.length)] * profile.pace();
      String name = "session " + i + " of " + app;
      SimSession session =
          new SimSession(simulation, app, name, workloads, new Random(random.nextLong()), pace);
      sessions.add(session);
      simulation.scheduler().in(3 * SECOND, session::start);
    }
    return app;
  }

  /** From now on clients write large values, or small ones again. */
  public void setLarge(boolean large) {
    workloads.forEach(w -> w.setLarge(large));
  }

  /** A datacenter has crashed. */
  public void crashed(SimDc dc) {
    clients.forEach(c -> c.crashed(dc.self()));
    apps.forEach(app -> app.crashed(dc));
  }

  /** A datacenter serves other keyspaces than before. */
  public void told(SimDc dc) {
    apps.forEach(app -> app.told(dc));
  }

  /** Ends the load: closes the clients, so that each open call gets an outcome. */
  public void end() {
    apps.forEach(app -> app.client().close());
    residents.stream().filter(SimApp::isRunning).forEach(app -> app.client().close());
    sessions.forEach(SimSession::ended);
    transactions.forEach(SimTransactions::ended);
  }

  public SimMortals mortals(Unit unit) {
    return mortals.get(unit.number());
  }

  public SimPrograms programs(Unit unit) {
    return programs.get(unit.number());
  }

  public Workload workload(Unit unit) {
    return workloads.get(unit.number());
  }

  /** How often callers of production's client were told what became of an update. */
  public Map<SimSession.Outcome, Long> outcomes() {
    Map<SimSession.Outcome, Long> all = new EnumMap<>(SimSession.Outcome.class);
    sessions.forEach(s -> s.outcomes().forEach((o, n) -> all.merge(o, n, Long::sum)));
    return all;
  }
}
