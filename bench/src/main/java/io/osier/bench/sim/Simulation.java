package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.server.ClientServer;
import io.osier.propagation.transport.PeerTransport;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * One run: datacenters, network, clients and faults drawn from a seed, events in the order of
 * virtual time, one thread. A seed and the options give the same run every time.
 *
 * <p>Clients work while faults come and go; then all faults end, and within the largest SLA and
 * {@link SimEnd#SETTLE_NANOS} everything must be equal, acknowledged and quiet.
 */
final class Simulation {
  /** Busy sessions and idle ones: a seed has both. */
  private static final int[] PACE_MILLIS = {300, 3_000, 10_000, 30_000};

  /** One seed of so many has a datacenter out of reach for more than an hour. */
  private static final int LONG_ONE_IN = 30;

  private static final int LONG_SECONDS = 5_400;

  /** Shorter runs are short on purpose. */
  private static final int LONG_SECONDS_MIN = 300;

  /** So many times slower are the clients of a long run. */
  private static final int LONG_PACE = 12;

  /** One seed of so many with large values has some of more than a MiB. */
  private static final int HUGE_ONE_IN = 4;

  /** To compare keyspaces: the same for all. */
  private static final int PAIRED_PACE_MILLIS = 50;

  /** Of one seed of three: a few frames, so that streams wait for acknowledgements all the time. */
  private static final int WINDOW_BYTES_TINY = 4 << 10;

  private static final int WINDOW_BYTES = 64 << 10;

  /** Room for large values at the rate at which clients write them. */
  private static final int WINDOW_BYTES_LARGE = 2 << 20;

  /** Clients of production: their sessions share connections. */
  private static final int APPS = 2;

  /** So many sessions has an application in the process of a datacenter. */
  private static final int RESIDENTS = 2;

  private static final int[] RESIDENT_PACE_MILLIS = {1_000, 5_000};

  private static final long REPORT_NANOS = 7 * SECOND;

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
  private final List<SimApp> apps = new ArrayList<>();
  private final List<SimSession> sessions = new ArrayList<>();

  /** Applications in the processes of datacenters. */
  private final List<SimApp> residents = new ArrayList<>();

  private final List<SimTransactions> transactions = new ArrayList<>();
  private final Map<String, SimDc> dcs = new LinkedHashMap<>();

  /** By datacenter, those that it takes for its peers. */
  private final Map<String, List<String>> peers = new LinkedHashMap<>();

  private final Map<String, List<String>> sharers = new LinkedHashMap<>();

  private boolean changed;
  private final List<String> names = new ArrayList<>();
  private final Set<ReplicaId> lost = new TreeSet<>();

  private record Recovery(Unit unit, ReplicaId self, long nanos, long committed) {}

  private final List<Recovery> recoveries = new ArrayList<>();
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
    for (Fault fault : Fault.values()) {
      if (fault == Fault.ANSWERS) {
        continue; // not for a time, but always
      }
      boolean drawn = random.nextInt(3) > 0 || options.faults().size() == 1;
      if (options.faults().contains(fault) && drawn) {
        faults.add(fault);
      }
    }
    this.seed = seed;
    this.losesAnswers = options.faults().contains(Fault.ANSWERS) && seed % 3 != 0;
    this.network = new SimNetwork(this, options.sabotage(), new Random(random.nextLong()), sizes());
    this.plan = new FaultPlan(this, new Random(random.nextLong()), faults);
    this.units = options.paired() ? Unit.pair() : Unit.draw(random, sizes());
    for (int i = 0; i < options.dcs(); i++) {
      names.add("dc" + i);
      SimDisk.Kind[] kinds = SimDisk.Kind.values();
      // Half of the datacenters keep all, as they do by default.
      SimDisk.Kind kind =
          random.nextBoolean() ? SimDisk.Kind.SYNC : kinds[random.nextInt(kinds.length)];
      dcs.put("dc" + i, new SimDc(this, "dc" + i, kind, new Random(random.nextLong())));
    }
    for (String name : names) {
      peers.put(name, names.stream().filter(n -> !n.equals(name)).toList());
    }
    for (Unit unit : units) {
      checks.add(new Checks(this, unit));
      Workload workload = new Workload(unit, random, sizes());
      workloads.add(workload);
      for (int i = 0; i <= options.dcs(); i++) {
        if (isProductions(i)) {
          continue;
        }
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
                    : PACE_MILLIS[random.nextInt(PACE_MILLIS.length)] * pace(),
                anyDc(random)));
      }
    }
    for (int i = 0; i < APPS && !options.paired(); i++) {
      apps.add(new SimApp(this, "app " + i, new Random(random.nextLong())));
    }
    for (Unit unit : units) {
      for (int i = 0; unit.isCausal() && !options.paired() && i <= options.dcs(); i++) {
        String name = "transactor " + i;
        Random own = new Random(random.nextLong());
        if (isProductions(i)) {
          SimApp app = apps.get(random.nextInt(APPS));
          transactions.add(new SimTransactions(this, app, name + " of " + app, unit, own));
          continue;
        }
        transactors.add(new SimTransactor(this, name, unit, own, anyDc(random)));
      }
    }
    for (int i = 0; i < units.size() * (options.dcs() + 1) / 2 && !options.paired(); i++) {
      int pace = PACE_MILLIS[random.nextInt(PACE_MILLIS.length)] * pace();
      SimApp app = apps.get(random.nextInt(APPS));
      Random own = new Random(random.nextLong());
      sessions.add(new SimSession(this, app, "session " + i + " of " + app, own, pace));
    }
    this.trace.note("seed %d, faults %s, units %s, %s values", seed, faults, units, sizes());
  }

  /** Whether a session is one of production's client; the other half is as it is defined. */
  private boolean isProductions(int number) {
    return number % 2 == 1 && !options.paired();
  }

  /** Whether a client of production has connections that carry bytes. */
  boolean hasConnections() {
    return apps.stream().anyMatch(SimApp::hasConnections);
  }

  /** Lets the transports say nothing of connections, which come and go all the time. */
  static void quiet() {
    for (Class<?> of : List.of(PeerTransport.class, ClientServer.class, Connection.class)) {
      if (LoggerFactory.getLogger(of.getPackageName()) instanceof Logger logger) {
        logger.setLevel(Level.OFF);
      }
    }
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
    clients.forEach(c -> scheduler.in(3 * SECOND, c::start));
    transactors.forEach(t -> scheduler.in(3 * SECOND, t::start));
    sessions.forEach(s -> scheduler.in(3 * SECOND, s::start));
    transactions.forEach(t -> scheduler.in(3 * SECOND, t::start));
    plan.start();
    scheduler.in(REPORT_NANOS, this::report);
    scheduler.runFor((isLong() ? LONG_SECONDS : options.seconds()) * SECOND);
    loading = false;
    apps.forEach(app -> app.client().close());
    residents.stream().filter(SimApp::isRunning).forEach(app -> app.client().close());
    sessions.forEach(SimSession::ended);
    transactions.forEach(SimTransactions::ended);
    plan.endAll();
    trace.note("the load ends, and all faults");
    settledNanos = new SimEnd(this).restAndCheck();
  }

  /** Checks what every partition reports, now and then. */
  private void report() {
    for (SimDc dc : dcs.values()) {
      if (dc.isUp()) {
        report(dc);
      }
    }
    if (loading) {
      scheduler.in(REPORT_NANOS, this::report);
    }
  }

  /** What the partitions of a datacenter report: checked. */
  Collection<PartitionReport> report(SimDc dc) {
    Map<Unit, PartitionReport> reports = new LinkedHashMap<>();
    units.forEach(unit -> reports.put(unit, report(dc.node(unit))));
    network.flow().look(dc, reports);
    return reports.values();
  }

  PartitionReport report(SimNode node) {
    Checks of = checks(node.unit());
    PartitionReport report = node.inspect();
    // Where peers change, an input says so, which may wait.
    int peers = changed ? report.peers().size() : names.size() - 1;
    of.reports().during(node, report, of.once().committed(), peers);
    return report;
  }

  /** How often each fault has happened. */
  Map<Fault, Long> happened() {
    return plan.happened();
  }

  /** An answer is lost, or who asks again is refused. */
  void losesAnswer() {
    plan.happens(Fault.ANSWERS);
  }

  /** How often callers of production's client were told what became of an update. */
  Map<SimSession.Outcome, Long> outcomes() {
    Map<SimSession.Outcome, Long> all = new EnumMap<>(SimSession.Outcome.class);
    sessions.forEach(s -> s.outcomes().forEach((o, n) -> all.merge(o, n, Long::sum)));
    return all;
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

  /** An application begins in the process of a datacenter, which has just started. */
  SimApp moveIn(SimDc dc, Random random) {
    SimApp app = new SimApp(this, dc, random);
    residents.removeIf(a -> !a.isRunning());
    residents.add(app);
    for (int i = 0; i < RESIDENTS; i++) {
      int pace = RESIDENT_PACE_MILLIS[random.nextInt(RESIDENT_PACE_MILLIS.length)] * pace();
      String name = "session " + i + " of " + app;
      SimSession session = new SimSession(this, app, name, new Random(random.nextLong()), pace);
      sessions.add(session);
      scheduler.in(3 * SECOND, session::start);
    }
    return app;
  }

  /** An update was acknowledged in front of its partition. */
  void acknowledged() {
    acknowledged++;
  }

  /** How many updates were acknowledged in front of their partitions. */
  long acknowledgedInFront() {
    return acknowledged;
  }

  // ---------------------------------------------------------------- crashes

  void crash(SimDc dc) {
    crash(dc, dc.keepsAll());
  }

  /** It crashes, and nothing of what it has comes back. */
  void lose(SimDc dc) {
    crash(dc, false);
  }

  private void crash(SimDc dc, boolean keepsAll) {
    dc.crash();
    if (!keepsAll) {
      lost.add(dc.self());
    }
    crashes++;
    clients.forEach(c -> c.crashed(dc.self()));
    apps.forEach(app -> app.crashed(dc));
    network.crashed(requireNonNull(dc.sockets(), "it was up"));
  }

  void restart(SimDc dc, ReplicaId as) {
    dc.start(as);
  }

  /** From now on clients write large values, or small ones again. */
  void setLarge(boolean large) {
    workloads.forEach(w -> w.setLarge(large));
  }

  /** A store was opened again, with an incarnation's commits up to a number. */
  void recovered(Unit unit, ReplicaId self, long committed) {
    recoveries.add(new Recovery(unit, self, scheduler.nanos(), committed));
  }

  /** Whether a crash took a commit back before it was durable. */
  boolean tookBack(Unit unit, Dot commit, long sinceNanos) {
    return recoveries.stream()
        .anyMatch(
            r ->
                r.unit == unit
                    && r.self.equals(commit.replica())
                    && r.nanos >= sinceNanos
                    && r.committed < commit.number());
  }

  /** The incarnations that lost their memory. */
  Set<ReplicaId> lost() {
    return lost;
  }

  /** Whether something of a vector was lost with an incarnation's memory. */
  boolean hasLost(VersionVector vector) {
    boolean any = false;
    for (int i = 0; i < vector.size(); i++) {
      any |= lost.contains(vector.replica(i));
    }
    return any;
  }

  /** What the streams to one peer may have under way. */
  int windowBytes() {
    if (seed % 3 == 0 && !options.paired()) {
      return WINDOW_BYTES_TINY;
    }
    return sizes() == Workload.Sizes.SMALL ? WINDOW_BYTES : WINDOW_BYTES_LARGE;
  }

  /** How much slower the clients are than usual. */
  int pace() {
    return isLong() ? LONG_PACE : 1;
  }

  /** Whether a datacenter is away for hours while the others go on. */
  boolean isLong() {
    return seed % LONG_ONE_IN == LONG_ONE_IN / 2
        && options.seconds() >= LONG_SECONDS_MIN
        && (faults.contains(Fault.PARTITIONS) || faults.contains(Fault.CRASHES));
  }

  /** The largest that an object is when it is sent, in bytes, about. */
  long objectBytesMax() {
    return sizes() == Workload.Sizes.SMALL
        ? 0
        : units.getFirst().policy().limits().objectBytesMax();
  }

  /** How large values get. */
  Workload.Sizes sizes() {
    if (!faults.contains(Fault.LARGE)) {
      return Workload.Sizes.SMALL;
    }
    return seed % HUGE_ONE_IN == 1 ? Workload.Sizes.HUGE : Workload.Sizes.LARGE;
  }

  /** How many datacenters are up. */
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

  Unit unit(String keyspace, int partition) {
    for (Unit unit : units) {
      if (unit.partition() == partition && unit.policy().name().equals(keyspace)) {
        return unit;
      }
    }
    throw new IllegalArgumentException("there is no partition " + partition + " of " + keyspace);
  }

  /** The unit that a request is for. */
  Unit unit(Request request) {
    return switch (request) {
      case Request.Read r -> unit(r.keyspace(), r.key());
      case Request.Write w -> unit(w.keyspace(), w.key());
      case Request.Transact t -> unit(t.keyspace(), 0);
      case Request.Repeat r -> unit(r.step().keyspace(), 0);
      case Request.Through t -> unit(t.keyspace(), t.partition());
      default -> throw new IllegalArgumentException("a session asks no such thing: " + request);
    };
  }

  Unit unit(String keyspace, Key key) {
    return unit(keyspace, key.partition(unit(keyspace, 0).policy().partitions()));
  }

  Workload workload(Unit unit) {
    return workloads.get(unit.number());
  }

  Checks checks(Unit unit) {
    return checks.get(unit.number());
  }

  Collection<SimDc> dcs() {
    return dcs.values();
  }

  SimDc dc(String name) {
    return requireNonNull(dcs.get(name), name);
  }

  /** Those that a datacenter takes for its peers. */
  List<String> peersOf(String name) {
    return requireNonNull(peers.get(name), name);
  }

  /** Those that get a part of the rights of the counters that a datacenter creates. */
  List<String> sharersOf(String name) {
    return sharers.getOrDefault(name, names);
  }

  /** From when a datacenter is told its peers next, or starts, they are these. */
  void share(String name, List<String> among) {
    sharers.put(name, List.copyOf(among));
  }

  /** All datacenters. */
  List<String> names() {
    return names;
  }

  /** Of a datacenter's clock. */
  int rank(String name) {
    return names.indexOf(name);
  }

  /** From now on, or from its next start, these are a datacenter's peers. */
  void know(String name, List<String> others) {
    changed = true;
    peers.put(name, List.copyOf(others));
  }

  /** From now on these are a datacenter's peers. */
  void setPeers(SimDc dc, List<String> others, boolean joins) {
    String name = dc.self().dc();
    know(name, others);
    trace.note("the peers of %s are %s", dc.self(), others);
    if (dc.isUp()) {
      dc.setPeers(others, joins);
    }
  }

  /** Whether anybody has ever had other peers than at the start. */
  boolean hasChanged() {
    return changed;
  }

  /** Whether somebody has not all others for peers now, or joins. */
  boolean isChanging() {
    return dcs.values().stream()
        .anyMatch(dc -> dc.isJoining() || peersOf(dc.self().dc()).size() < names.size() - 1);
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

  /** What went on. */
  SimSummary summary() {
    return new SimSummary(this);
  }

  /** How many operations failed, by their errors. */
  Map<ErrorCode, Long> failures() {
    return failures;
  }

  /** How many crashes there were. */
  int crashes() {
    return crashes;
  }

  /** What may go wrong in this run. */
  List<Fault> faults() {
    return faults;
  }

  /** How long it took after the load until everything was equal and quiet. */
  long settledNanos() {
    return settledNanos;
  }

  /** All checks, by unit. */
  List<Checks> checks() {
    return checks;
  }
}
