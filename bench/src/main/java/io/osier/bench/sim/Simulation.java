package io.osier.bench.sim;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.load.Callers;
import io.osier.bench.sim.load.SimWatcher;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimFrames;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.SimOptions;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Losses;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimDisk;
import io.osier.bench.sim.world.SimNetwork;
import io.osier.bench.sim.world.Trace;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One run: datacenters, network, clients and faults drawn from a seed, events in the order of
 * virtual time, one thread. A seed and the options give the same run every time.
 *
 * <p>Clients work while faults come and go; then all faults end, and within the largest SLA and
 * {@link SimEnd#SETTLE_NANOS} everything must be equal, acknowledged and quiet.
 */
public final class Simulation {
  private final SimOptions options;
  private final Scheduler scheduler = new Scheduler();
  private final Trace trace;
  private final SimNetwork network;
  private final FlowCheck flow;
  private final SimFrames frames;
  private final long faultSeed;
  private final RunProfile profile;
  private final List<Unit> units;
  private final List<Checks> checks = new ArrayList<>();
  private final List<SimWatcher> watchers = new ArrayList<>();
  private final Map<String, SimDc> dcs = new LinkedHashMap<>();
  private final List<String> names = new ArrayList<>();
  private final SimMembers members;
  private final SimHolders holders;
  private final Losses losses;
  private final Callers callers;
  private final Map<Fault, Long> happened = new EnumMap<>(Fault.class);
  private final Map<ErrorCode, Long> failures = new EnumMap<>(ErrorCode.class);
  private int crashes;
  private long tickets;
  private long operations;
  private long acknowledged;
  private long settledNanos;
  private boolean loading = true;

  /** A run that has not begun. */
  Simulation(SimOptions options, long seed) {
    this(options, seed, Trace::new);
  }

  /** A run that keeps its last events, and prints all if {@code to} is not null. */
  static Simulation traced(SimOptions options, long seed, @Nullable PrintStream to) {
    return new Simulation(options, seed, scheduler -> new Trace(scheduler, to));
  }

  private Simulation(SimOptions options, long seed, Function<Scheduler, Trace> trace) {
    this.options = options;
    this.trace = trace.apply(scheduler);
    Random random = new Random(seed * 0x9E3779B97F4A7C15L + options.dcs());
    this.profile = new RunProfile(options, seed, random);
    this.losses = new Losses(scheduler);
    Random wire = new Random(random.nextLong());
    Sabotage sabotage = options.sabotage();
    this.network =
        new SimNetwork(
            scheduler, this.trace, to -> dc(to).sockets(), sabotage, wire, profile.sizes());
    this.frames = new SimFrames(this, network, sabotage, wire);
    this.faultSeed = random.nextLong();
    this.units =
        options.paired()
            ? Unit.pair()
            : Unit.draw(
                random,
                profile::holders,
                profile.sizes(),
                profile.has(Feature.HASTE),
                profile.hasHomes());
    for (int i = 0; i < options.dcs(); i++) {
      names.add("dc" + i);
      SimDisk.Kind[] kinds = SimDisk.Kind.values();
      // Half of the datacenters keep all, as they do by default.
      SimDisk.Kind kind =
          random.nextBoolean() ? SimDisk.Kind.SYNC : kinds[random.nextInt(kinds.length)];
      String name = "dc" + i;
      if (profile.hasPlacement()
          && units.stream().anyMatch(unit -> unit.policy().replicas().contains(name))) {
        kind = SimDisk.Kind.SYNC; // who holds what follows its load loses nothing
      }
      dcs.put("dc" + i, new SimDc(this, "dc" + i, kind, new Random(random.nextLong())));
    }
    this.members = new SimMembers(this.trace, dcs.values(), names);
    this.holders = new SimHolders(units, dcs.values(), losses);
    this.flow =
        new FlowCheck(
            scheduler, network, units, dcs, holders, profile.windowBytes(), objectBytesMax());
    units.forEach(unit -> checks.add(new Checks(this, unit)));
    this.callers = new Callers(this, random);
    units.forEach(
        unit -> watchers.add(new SimWatcher(this, unit, new Random(seed + unit.number()))));
    this.trace.note(
        "seed %d, faults %s, features %s, units %s, %s values",
        seed, profile.faults(), profile.features(), units, profile.sizes());
  }

  /** Adds the links, starts the datacenters, and lets the load begin. */
  void begin() {
    for (String from : names) {
      for (String to : names) {
        if (!from.equals(to)) {
          network.addLink(from, to);
        }
      }
    }
    dcs.values().forEach(dc -> dc.start(dc.self()));
    callers.start();
    if (profile.has(Feature.WATCHERS)) {
      watchers.forEach(SimWatcher::start);
    }
  }

  /** The load ends: nobody asks for anything more. */
  void endLoad() {
    loading = false;
    callers.end();
  }

  /**
   * Nothing more happens: watchers have been told everything.
   *
   * @param tookNanos how long it took after the load until everything was equal and quiet
   */
  void end(long tookNanos) {
    settledNanos = tookNanos;
    watchers.forEach(SimWatcher::end);
  }

  /** What the partitions of a datacenter report: checked. */
  Collection<PartitionReport> report(SimDc dc) {
    Map<Unit, PartitionReport> reports = new LinkedHashMap<>();
    for (SimNode node : dc.nodes()) {
      reports.put(node.unit(), report(node));
    }
    flow.look(dc, reports);
    return reports.values();
  }

  PartitionReport report(SimNode node) {
    Checks of = checks(node.unit());
    PartitionReport report = node.inspect();
    // Where peers change, an input says so, which may wait.
    boolean isStill = !members.hasChanged() && !holders.hasChanged();
    int peers = isStill ? holders.of(node.unit()).size() - 1 : report.peers().size();
    of.reports().during(node, report, of.once().committed(), peers);
    return report;
  }

  /** A fault happens. */
  void happens(Fault fault) {
    happened.merge(fault, 1L, Long::sum);
  }

  /** How often each fault has happened. */
  Map<Fault, Long> happened() {
    return happened;
  }

  /** An answer is lost, or who asks again is refused. */
  public void losesAnswer() {
    happens(Fault.ANSWERS);
  }

  /** An update was acknowledged in front of its partition. */
  public void acknowledged() {
    acknowledged++;
  }

  /** How many updates were acknowledged in front of their partitions. */
  long acknowledgedInFront() {
    return acknowledged;
  }

  // ---------------------------------------------------------------- crashes

  void crash(SimDc dc) {
    crash(dc, false);
  }

  /** A datacenter crashes, and nothing that it has comes back. */
  void lose(SimDc dc) {
    crash(dc, true);
  }

  private void crash(SimDc dc, boolean losesAll) {
    dc.crash();
    if (losesAll || !dc.keptAll()) {
      dc.nodes().forEach(node -> losses.forgot(node.unit(), node.self()));
    }
    crashes++;
    callers.crashed(dc);
    network.crashed(requireNonNull(dc.sockets(), "it was up"));
    names.stream().filter(to -> !to.equals(dc.self().dc())).forEach(to -> flow.down(dc, to));
  }

  /** The largest that an object is when it is sent, in bytes, about. */
  long objectBytesMax() {
    return profile.sizes() == Workload.Sizes.SMALL
        ? 0
        : units.getFirst().policy().limits().objectBytesMax();
  }

  /** How many datacenters are up. */
  int upCount() {
    return (int) dcs.values().stream().filter(SimDc::isUp).count();
  }

  // ---------------------------------------------------------------- parts

  public SimOptions options() {
    return options;
  }

  public Scheduler scheduler() {
    return scheduler;
  }

  public Trace trace() {
    return trace;
  }

  /** What the seed makes of the run. */
  public RunProfile profile() {
    return profile;
  }

  public Callers callers() {
    return callers;
  }

  public SimMembers members() {
    return members;
  }

  public SimHolders holders() {
    return holders;
  }

  public Losses losses() {
    return losses;
  }

  public SimNetwork network() {
    return network;
  }

  /** What flow control is held against. */
  public FlowCheck flow() {
    return flow;
  }

  /** The frames of partitions. */
  public SimFrames frames() {
    return frames;
  }

  public List<Unit> units() {
    return units;
  }

  public Unit unit(String keyspace, int partition) {
    for (Unit unit : units) {
      if (unit.partition() == partition && unit.policy().name().equals(keyspace)) {
        return unit;
      }
    }
    throw new IllegalArgumentException("there is no partition " + partition + " of " + keyspace);
  }

  /** The unit that a request is for. */
  public Unit unit(Request request) {
    return switch (request) {
      case Request.Read r -> unit(r.keyspace(), r.key());
      case Request.Write w -> unit(w.keyspace(), w.key());
      case Request.ReadAll r -> unit(r.keyspace(), r.reads().getFirst().key());
      case Request.WriteAll w -> unit(w.keyspace(), w.updates().getFirst().key());
      case Request.Evaluate e -> unit(e.keyspace(), e.calls().getFirst().key());
      case ProgressRequest.Through t -> unit(t.keyspace(), t.partition());
      case Request.OfKeyspace of -> unit(of.keyspace(), 0); // steps of transactions, and scans
      case Request.Ping p -> units.getFirst();
      default -> throw new IllegalArgumentException("a session asks no such thing: " + request);
    };
  }

  public Unit unit(String keyspace, Key key) {
    return unit(keyspace, unit(keyspace, 0).policy().partitioning().of(key));
  }

  public Checks checks(Unit unit) {
    return checks.get(unit.number());
  }

  public Collection<SimDc> dcs() {
    return dcs.values();
  }

  public SimDc dc(String name) {
    return requireNonNull(dcs.get(name), name);
  }

  /** All datacenters. */
  public List<String> names() {
    return names;
  }

  /** The rank of a datacenter among all. */
  public int rank(String name) {
    return names.indexOf(name);
  }

  public String anyDc(Random from) {
    return names.get(from.nextInt(names.size()));
  }

  public boolean isLoading() {
    return loading;
  }

  public long nextTicket() {
    return ++tickets;
  }

  /** Counts an operation that was answered. */
  public void counted(Reply reply) {
    if (reply instanceof Reply.Failure f) {
      failures.merge(f.code(), 1L, Long::sum);
    } else {
      operations++;
    }
  }

  // ---------------------------------------------------------------- afterwards

  /** Operations that succeeded. */
  long operations() {
    return operations;
  }

  /** The seed of the random stream of faults. */
  long faultSeed() {
    return faultSeed;
  }

  /** How many operations failed, by their errors. */
  Map<ErrorCode, Long> failures() {
    return failures;
  }

  /** How many crashes there were. */
  int crashes() {
    return crashes;
  }

  /** How long it took after the load until everything was equal and quiet. */
  long settledNanos() {
    return settledNanos;
  }

  /** All checks, by unit. */
  public List<Checks> checks() {
    return checks;
  }
}
