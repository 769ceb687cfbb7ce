package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.MILLI;
import static io.osier.bench.sim.Scheduler.SECOND;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * One run: datacenters, network, clients and faults drawn from a seed, events in the order of
 * virtual time, one thread. A seed and the options give the same run every time.
 *
 * <p>Clients work while faults come and go; then all faults end, and within the largest SLA and
 * {@link #SETTLE_NANOS} everything must be equal, acknowledged and quiet.
 */
final class Simulation {
  /** How long after the last fault everything must be settled, beyond δ. */
  private static final long SETTLE_NANOS = 60 * SECOND;

  /** Busy sessions and idle ones: a seed has both. */
  private static final int[] PACE_MILLIS = {300, 3_000, 10_000, 30_000};

  /** To compare keyspaces: the same for all. */
  private static final int PAIRED_PACE_MILLIS = 50;

  private static final long REPORT_NANOS = 7 * SECOND;
  private static final long STEP_NANOS = 500 * MILLI;

  private final SimOptions options;
  private final Scheduler scheduler = new Scheduler();
  private final Trace trace;
  private final SimNetwork network;
  private final FaultPlan plan;
  private final long seed;
  private final boolean losesAnswers;
  private final List<Fault> faults = new ArrayList<>();
  private final List<Unit> units;
  private final List<Checks> checks = new ArrayList<>();
  private final List<Workload> workloads = new ArrayList<>();
  private final List<SimClient> clients = new ArrayList<>();
  private final List<SimTransactor> transactors = new ArrayList<>();
  private final Map<String, SimDc> dcs = new LinkedHashMap<>();
  private final List<String> names = new ArrayList<>();
  private final Set<ReplicaId> lost = new TreeSet<>();
  private final Map<ErrorCode, Long> failures = new EnumMap<>(ErrorCode.class);
  private int crashes;
  private long tickets;
  private long operations;
  private long settledNanos;
  private boolean loading = true;

  /** A run that has not begun. */
  Simulation(SimOptions options, long seed) {
    this(options, seed, Trace::new);
  }

  /** A run that keeps its last events, and prints all if {@code to} is not null. */
  static Simulation traced(SimOptions options, long seed, PrintStream to) {
    return new Simulation(options, seed, scheduler -> new Trace(scheduler, to));
  }

  private Simulation(SimOptions options, long seed, Function<Scheduler, Trace> trace) {
    this.options = options;
    this.trace = trace.apply(scheduler);
    Random random = new Random(seed * 0x9E3779B97F4A7C15L + options.dcs());
    for (Fault fault : Fault.values()) {
      if (fault == Fault.ANSWERS) {
        continue; // not for a time, but always
      }
      boolean drawn = random.nextInt(3) > 0 || options.faults().size() == 1;
      if (options.faults().contains(fault) && drawn) {
        faults.add(fault);
      }
    }
    this.losesAnswers = options.faults().contains(Fault.ANSWERS) && seed % 3 != 0;
    this.seed = seed;
    this.network =
        new SimNetwork(
            this,
            options.sabotage(),
            new Random(random.nextLong()),
            faults.contains(Fault.REORDER),
            faults.contains(Fault.LARGE));
    this.plan = new FaultPlan(this, new Random(random.nextLong()), faults);
    this.units = options.paired() ? Unit.pair() : Unit.draw(random, faults.contains(Fault.LARGE));
    for (int i = 0; i < options.dcs(); i++) {
      names.add("dc" + i);
      SimDisk.Kind[] kinds = SimDisk.Kind.values();
      // Half of the datacenters keep all, as they do by default.
      SimDisk.Kind kind =
          random.nextBoolean() ? SimDisk.Kind.SYNC : kinds[random.nextInt(kinds.length)];
      dcs.put("dc" + i, new SimDc(this, "dc" + i, kind, new Random(random.nextLong())));
    }
    for (Unit unit : units) {
      checks.add(new Checks(this, unit));
      Workload workload = new Workload(unit, random);
      workloads.add(workload);
      for (int i = 0; i <= options.dcs(); i++) {
        String name = "session " + unit + "-" + i;
        clients.add(
            new SimClient(
                this,
                name,
                unit,
                workload,
                new Random(random.nextLong()),
                options.paired()
                    ? PAIRED_PACE_MILLIS
                    : PACE_MILLIS[random.nextInt(PACE_MILLIS.length)],
                anyDc(random)));
      }
    }
    for (Unit unit : units) {
      for (int i = 0; unit.isCausal() && !options.paired() && i <= options.dcs(); i++) {
        String name = "transactor " + i;
        Random own = new Random(random.nextLong());
        transactors.add(new SimTransactor(this, name, unit, own, anyDc(random)));
      }
    }
    this.trace.note("seed %d, faults %s, units %s", seed, faults, units);
  }

  // ---------------------------------------------------------------- the run

  /** Runs to the end. Throws {@link Violation}. */
  void run() {
    for (String from : names) {
      for (String to : names) {
        if (!from.equals(to)) {
          network.addLink(from, to);
        }
      }
    }
    dcs.values().forEach(dc -> dc.start(dc.self()));
    network.connectAll();
    clients.forEach(c -> scheduler.in(3 * SECOND, c::start));
    transactors.forEach(t -> scheduler.in(3 * SECOND, t::start));
    plan.start();
    scheduler.in(REPORT_NANOS, this::report);
    scheduler.runFor(options.seconds() * SECOND);
    loading = false;
    plan.endAll();
    trace.note("the load ends, and all faults");
    settle();
    for (Unit unit : units) {
      checkEnd(unit);
      scheduler.throwFailure();
    }
  }

  /** Checks what every partition reports, now and then. */
  private void report() {
    for (SimDc dc : dcs.values()) {
      if (dc.isUp()) {
        units.forEach(unit -> report(dc.node(unit)));
      }
    }
    if (loading) {
      scheduler.in(REPORT_NANOS, this::report);
    }
  }

  PartitionReport report(SimNode node) {
    Checks of = checks(node.unit());
    PartitionReport report = node.inspect();
    of.reports().during(node, report, of.once().committed(), names.size() - 1);
    return report;
  }

  private void settle() {
    long slaMax = units.stream().mapToLong(u -> u.policy().sla().toNanos()).max().orElse(0);
    long began = scheduler.nanos();
    boolean quiet = false;
    while (!quiet) {
      while (!isSettled()) {
        if (scheduler.nanos() - began > slaMax + SETTLE_NANOS) {
          return; // the checks will say what is wrong
        }
        scheduler.runFor(STEP_NANOS);
      }
      settledNanos = scheduler.nanos() - began;
      scheduler.runFor(2 * SECOND);
      quiet = isSettled(); // rights of bounded counters may have been on their way
    }
  }

  private boolean isSettled() {
    if (!network.down().isEmpty() || upCount() < dcs.size()) {
      return false;
    }
    for (Unit unit : units) {
      List<ObjectStore> stores = dcs.values().stream().map(dc -> dc.node(unit).store()).toList();
      if (!ConvergenceCheck.isSettled(stores)) {
        return false;
      }
      for (SimDc dc : dcs.values()) {
        if (!ReportCheck.isQuiet(report(dc.node(unit)))) {
          return false;
        }
      }
    }
    return true;
  }

  // ---------------------------------------------------------------- the end

  private void checkEnd(Unit unit) {
    Checks of = checks(unit);
    Map<ReplicaId, Map<ObjectId, Causal>> contents = new TreeMap<>();
    for (SimDc dc : dcs.values()) {
      contents.put(dc.self(), ConvergenceCheck.content(dc.node(unit).store()));
    }
    ConvergenceCheck.ended(unit, contents);
    of.once().ended(contents, lost);
    Map<ReplicaId, Long> kept = new TreeMap<>(of.once().committed());
    kept.keySet().removeAll(lost);
    for (SimDc dc : dcs.values()) {
      SimNode node = dc.node(unit);
      for (ObjectId object : workloads.get(unit.number()).accountable()) {
        readLast(node, object, contents.get(dc.self()).get(object), VersionVector.of(kept));
      }
      if (unit.isCausal()) {
        transactionsAtEnd(node, contents.get(dc.self()));
      }
      boolean inTime = faults.isEmpty() && network.allows(unit.policy().sla().toNanos());
      of.reports().ended(node, report(node), kept, faults.isEmpty(), inTime);
    }
    of.transactions().ended();
  }

  /** How often each fault has happened. */
  Map<Fault, Long> happened() {
    return plan.happened();
  }

  /** An answer is lost, or who asks again is refused. */
  void losesAnswer() {
    plan.happens(Fault.ANSWERS);
  }

  /** Whether answers to commits are lost, and repeats refused. */
  boolean losesAnswers() {
    return losesAnswers;
  }

  /** Whether a datacenter forgets how transactions ended while their clients still ask. */
  boolean forgetsEnds(String dc) {
    return losesAnswers && (dc.hashCode() + seed) % 2 == 0;
  }

  /** Of how many transactions a datacenter remembers how they ended. */
  int endedTransactions(String dc) {
    return forgetsEnds(dc) ? 1 : 100_000;
  }

  private void transactionsAtEnd(SimNode node, Map<ObjectId, Causal> content) {
    List<Reading> readings = new ArrayList<>();
    for (ObjectId object : TransactionView.objects()) {
      Causal state = content.getOrDefault(object, Causal.bottom(object.type()));
      readings.add(state.read(new Query.Whole()));
    }
    TransactionCheck check = checks(node.unit()).transactions();
    TransactionView view = TransactionView.of(readings);
    check.snapshot("the end", node.self(), view, 0, TransactionCheck.NONE);
    check.ended(node.self(), view, lost);
  }

  /** Reads through the front door, having seen all that was kept: that must be there at once. */
  private void readLast(SimNode node, ObjectId object, Causal state, VersionVector after) {
    Map<ReplicaId, Long> survived = new TreeMap<>();
    lost.forEach(r -> survived.put(r, state == null ? 0 : state.context().through(r)));
    Request read =
        new Request.Read(
            node.unit().policy().name(),
            object.key(),
            Optional.of(object.type()),
            new Query.Whole(),
            after,
            false,
            0);
    node.command(
        read,
        (at, reply) -> {
          if (!(reply instanceof Reply.Answer answer)) {
            throw new Violation(
                node.name(object), "%s does not answer the last read: %s", at, reply);
          }
          return () ->
              checks(node.unit())
                  .ledger()
                  .ended(at.self(), object, answer.reading().orElseThrow(), survived);
        });
  }

  // ---------------------------------------------------------------- crashes

  void crash(SimDc dc) {
    dc.crash();
    if (!dc.keepsAll()) {
      lost.add(dc.self());
    }
    crashes++;
    clients.forEach(c -> c.crashed(dc.self()));
    network.crashed(dc.self().dc());
  }

  void restart(SimDc dc, ReplicaId as) {
    dc.start(as);
    network.restarted(as.dc());
  }

  /** From now on clients write large values, or small ones again. */
  void setLarge(boolean large) {
    workloads.forEach(w -> w.setLarge(large));
  }

  /** The incarnations that lost their memory. */
  Set<ReplicaId> lost() {
    return lost;
  }

  int upCount() {
    return (int) dcs.values().stream().filter(SimDc::isUp).count();
  }

  // ---------------------------------------------------------------- parts

  SimOptions options() {
    return options;
  }

  Scheduler scheduler() {
    return scheduler;
  }

  long seed() {
    return seed;
  }

  Trace trace() {
    return trace;
  }

  SimNetwork network() {
    return network;
  }

  List<Unit> units() {
    return units;
  }

  Checks checks(Unit unit) {
    return checks.get(unit.number());
  }

  Collection<SimDc> dcs() {
    return dcs.values();
  }

  SimDc dc(String name) {
    return dcs.get(name);
  }

  List<String> peersOf(String name) {
    return names.stream().filter(n -> !n.equals(name)).toList();
  }

  String anyDc(Random from) {
    return names.get(from.nextInt(names.size()));
  }

  boolean isLoading() {
    return loading;
  }

  long nextTicket() {
    return ++tickets;
  }

  /** Counts an operation that was answered. */
  void counted(Reply reply) {
    if (reply instanceof Reply.Failure f) {
      failures.merge(f.code(), 1L, Long::sum);
    } else {
      operations++;
    }
  }

  // ---------------------------------------------------------------- afterwards

  /** Virtual time that went by. */
  long elapsedNanos() {
    return scheduler.elapsedNanos();
  }

  /** Operations that succeeded. */
  long operations() {
    return operations;
  }

  /** Updates made. */
  long updates() {
    return checks.stream().mapToLong(c -> c.once().updates()).sum();
  }

  /** How often an update's visibility at a datacenter was checked against its SLA. */
  long slaChecked() {
    return checks.stream().mapToLong(c -> c.sla().checked()).sum();
  }

  /** How many reads of accountable objects were checked. */
  long readsChecked() {
    return checks.stream().mapToLong(c -> c.sessions().reads()).sum();
  }

  /** How many snapshots of transactions were checked. */
  long snapshotsChecked() {
    return checks.stream().mapToLong(c -> c.transactions().snapshots()).sum();
  }

  /** One line about what went on. */
  String summary() {
    long switches = 0;
    long gaps = 0;
    long healed = 0;
    long rounds = 0;
    long catchUps = 0;
    for (Checks of : checks) {
      for (PartitionReport r : of.reports().last().values()) {
        switches += r.modeSwitches();
        gaps += r.gapsSeen();
        healed += r.healed();
        rounds += r.statesShipped();
        catchUps += r.catchUpsShipped();
      }
    }
    return String.format(
        Locale.ROOT,
        "%.0f s, %.1f operations/s, %d updates, %d reads, %d snapshots and %d visibilities checked (%d fetched),"
            + " %d in rounds, %d caught up, %d gaps, %d healed, %d mode switches, settled in %.1f s,"
            + " links busy for %.1f s,"
            + " %d crashes, refused %s, faults %s, hash %016x",
        elapsedNanos() / 1e9,
        operations / (elapsedNanos() / 1e9),
        updates(),
        readsChecked(),
        snapshotsChecked(),
        slaChecked(),
        checks.stream().mapToLong(c -> c.sla().excused()).sum(),
        rounds,
        catchUps,
        gaps,
        healed,
        switches,
        settledNanos / 1e9,
        network.backlogNanosMax() / 1e9,
        crashes,
        failures,
        faults,
        trace.hash());
  }

  /** What every partition and its streams are doing, for the report of a failure. */
  String state() {
    StringBuilder text = new StringBuilder();
    for (SimDc dc : dcs.values()) {
      for (Unit unit : units) {
        if (dc.isUp()) {
          PartitionReport report = dc.node(unit).inspect();
          text.append(
              String.format(
                  Locale.ROOT,
                  "    %s committed %d, through %s%n",
                  dc.node(unit),
                  report.committed(),
                  report.through()));
          report.peers().forEach(p -> text.append("        ").append(p).append('\n'));
        }
      }
    }
    return text.toString();
  }
}
