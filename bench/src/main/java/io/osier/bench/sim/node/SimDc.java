package io.osier.bench.sim.node;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimApp;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimDisk;
import io.osier.bench.sim.world.SimSockets;
import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.SharedWindows;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One datacenter: a node for each unit, a wall clock of its own, up or down, fast or slow. */
public final class SimDc {
  /**
   * Of {@link #EMBEDDED_OF} datacenters that keep nothing, so many are embedded in applications.
   */
  private static final int EMBEDDED = 3;

  private static final int EMBEDDED_OF = 4;

  private final Simulation simulation;
  private final SimDisk.Kind kind;
  private SimDisk disk;

  private final HeldUnits held;
  private long life;
  private boolean full;
  private boolean slowDisk;
  private int stalls;
  private ReplicaId self;

  private boolean up;

  /** Whether it is joining, and takes no updates yet. */
  private boolean joining;

  /** Counts how often its partitions were told their peers in this life. */
  private long told;

  private final DcTransport transport;
  private final SimForwarding forwarding;
  private final SimControl control;

  /** Null before the first start. */
  private @Nullable SharedWindows links;

  /** The application in its process; null before the first start, and if it is not embedded. */
  private @Nullable SimApp resident;

  private final boolean embedded;
  private boolean keptAll;

  private final Random random;

  private final DcClock clock = new DcClock();
  private long slowNanos;
  private long changedNanos;

  public SimDc(Simulation simulation, String name, SimDisk.Kind kind, Random random) {
    this.simulation = simulation;
    this.self = new ReplicaId(name, 1);
    this.kind = kind;
    this.random = random;
    this.transport = new DcTransport(simulation, this, random);
    this.forwarding = new SimForwarding(simulation, this);
    this.held = new HeldUnits(simulation, this);
    this.control = new SimControl(simulation, this, held);
    this.embedded =
        kind == SimDisk.Kind.NONE
            && simulation.profile().has(Feature.EMBEDDED)
            && random.nextInt(EMBEDDED_OF) < EMBEDDED;
    this.disk = disk(simulation, random, kind);
  }

  private static SimDisk disk(Simulation of, Random random, SimDisk.Kind kind) {
    Sabotage sabotage = of.options().sabotage();
    return new SimDisk(of.scheduler(), of.units().size(), sabotage, random, kind);
  }

  /** Whether its last crash lost nothing that was confirmed, so that the incarnation goes on. */
  public boolean keptAll() {
    return keptAll;
  }

  public boolean hasDisk() {
    return kind != SimDisk.Kind.NONE;
  }

  /** Whether no crash loses what it has confirmed. */
  public boolean losesNothing() {
    return kind == SimDisk.Kind.SYNC;
  }

  /**
   * Whether an application in its process drives its partitions, as those do in production that are
   * embedded and keep nothing.
   */
  boolean isEmbedded() {
    return embedded;
  }

  public SimDisk disk() {
    return disk;
  }

  /** The windows that its partitions share. */
  public SharedWindows links() {
    return requireNonNull(links, "it has been started");
  }

  /** The transport of frames; null before the first start, and while it starts. */
  public @Nullable PeerTransport transport() {
    return transport.carries();
  }

  /** The sockets of its process; null before the first start. */
  public @Nullable SimSockets sockets() {
    return transport.sockets();
  }

  /** Counts its starts. */
  public long life() {
    return life;
  }

  boolean isFull() {
    return full;
  }

  public void setFull(boolean now) {
    full = now;
    changedNanos = simulation.scheduler().nanos();
  }

  public void slowDisk(long nanos) {
    disk.slow(nanos);
    slowDisk = nanos > 0;
    changedNanos = simulation.scheduler().nanos();
  }

  /** Begins or ends a stall: the disk does nothing until as many stalls have ended as began. */
  public void stall(boolean begin) {
    stalls += begin ? 1 : -1;
    disk.stall(begin);
    changedNanos = simulation.scheduler().nanos();
  }

  /** It has waited, for room in front of the disk or for {@code _osier}, and may be late. */
  void waits() {
    changedNanos = simulation.scheduler().nanos();
  }

  /** Starts a process with what the disk has kept. */
  public void start(ReplicaId as) {
    life++;
    told = 0;
    long nanos = simulation.scheduler().nanos();
    self = as;
    up = true;
    changedNanos = nanos;
    clock.starts(nanos);
    links = new SharedWindows(simulation.profile().windowBytes());
    transport.starts();
    forwarding.starts();
    held.starts();
    control.starts();
    transport.connect();
    if (control.isComparing()) {
      compareAnew();
    }
    if (!simulation.members().sharersOf(self.dc()).equals(simulation.names())) {
      setPeers(simulation.members().peersOf(self.dc()), joining);
    }
    if (embedded) {
      resident = simulation.callers().moveIn(this, new Random(random.nextLong()));
    }
  }

  /** It has heard of other holders of a keyspace, or has become one. */
  void holdersChanged() {
    compareAnew();
    keyspacesChanged();
  }

  /** Tells peers and clients that it holds other keyspaces, unless it is just starting. */
  void keyspacesChanged() {
    if (transport.carries() != null) {
      transport.keyspacesChanged();
      simulation.callers().told(this);
    }
  }

  /** Lets its partitions compare themselves with their peers anew. */
  void compareAnew() {
    changedNanos = simulation.scheduler().nanos();
    held.compareAnew(++told);
  }

  /** Whether it has all that the other holders of a keyspace have. */
  public boolean isWhole(String keyspace) {
    return held.isWhole(keyspace, told);
  }

  public Now now() {
    return clock.now(simulation.scheduler().nanos());
  }

  public void crash() {
    up = false;
    full = false;
    slowDisk = false;
    // Of one that writes later, every other crash is that of the process alone: it may come before
    // what the crash before it took has been made good.
    boolean isKill = kind == SimDisk.Kind.ASYNC && life % 2 == 0;
    keptAll = kind == SimDisk.Kind.SYNC || isKill;
    disk.crash(isKill);
    control.crash(keptAll);
    if (resident != null) {
      resident.isGone();
    }
    changedNanos = simulation.scheduler().nanos();
  }

  public boolean isUp() {
    return up;
  }

  /** It has lost everything, and joins as a new datacenter when it starts. */
  public void join() {
    disk = disk(simulation, random, kind);
    life = 0;
    joining = true;
  }

  /** It has joined: it has what the others have. */
  public void joined() {
    joining = false;
    changedNanos = simulation.scheduler().nanos();
  }

  public boolean isJoining() {
    return joining;
  }

  public boolean isComplete() {
    return held.all().stream().allMatch(n -> n.isComplete(told));
  }

  /** Whether another datacenter is a peer, so that its frames are taken. */
  boolean isPeer(String dc) {
    return transport.isPeer(dc);
  }

  /** Replaces its peers. */
  public void setPeers(List<String> peers, boolean joins) {
    changedNanos = simulation.scheduler().nanos();
    List<String> sharers = simulation.members().sharersOf(self.dc());
    submitToAll(new Input.Peers(++told, peers, sharers, joins, simulation.rank(self.dc())));
    transport.setPeers(peers);
  }

  /** It takes over the rights of a datacenter that was given up. */
  public void inherit(String from) {
    held.inherit(from);
  }

  /** Its present incarnation; while it is down, the last one. */
  public ReplicaId self() {
    return self;
  }

  /** Whether a partition belongs to its present life. */
  boolean isCurrent(SimNode node) {
    return up && held.find(node.unit()) == node;
  }

  /** The partition of a unit that it holds. */
  public SimNode node(Unit unit) {
    return held.get(unit);
  }

  /** The partitions of all units that it holds. */
  public List<SimNode> nodes() {
    return held.all();
  }

  /** Whether it holds a unit. */
  public boolean holds(Unit unit) {
    return held.find(unit) != null;
  }

  /** As which replica it holds a unit. */
  public ReplicaId replica(Unit unit) {
    return held.holder(unit, self);
  }

  /** Whether it holds a unit and serves clients of it. */
  public boolean serves(Unit unit) {
    return held.isServed(unit);
  }

  /** Whether it has forwarded requests of a unit in its present life. */
  public boolean forwards(Unit unit) {
    return forwarding.hasForwarded(unit);
  }

  /** Whether it is up, and its partition of a unit serves commands. */
  public boolean isServing(Unit unit) {
    return up && serves(unit) && node(unit).isReady();
  }

  /** Its control plane. */
  public SimControl control() {
    return control;
  }

  HeldUnits held() {
    return held;
  }

  int version() {
    return transport.version();
  }

  /** Forwards requests to holders, and answers those that others forward. */
  SimForwarding forwarding() {
    return forwarding;
  }

  /**
   * A client's command, which others do if it does not hold the unit.
   *
   * @param client whose commands keep their order
   */
  public void command(
      Unit unit, Object client, Request request, WitnessedMachine.ReplyListener listener) {
    Request here = serves(unit) ? forwarding.here(unit, client, request) : null;
    WitnessedMachine.ReplyListener hears = listener.and(control.demand().counted(unit, request));
    if (here != null) {
      node(unit).command(client, here, hears);
    } else {
      forwarding.command(unit, client, request, hears);
    }
  }

  /** Returns a test, to be used later, of whether its present life still goes on. */
  public BooleanSupplier goesOn() {
    long now = life;
    ReplicaId as = self;
    return () -> up && life == now && self.equals(as);
  }

  /** An input for all units. */
  void submitToAll(Input input) {
    held.all().forEach(n -> n.submit(input));
  }

  public void jump(long millis) {
    clock.jump(millis);
  }

  public void drift(double perNano) {
    clock.drift(perNano);
  }

  /** From now on inputs are handled so much later; 0 ends that. */
  public void slow(long nanos) {
    slowNanos = nanos;
    changedNanos = simulation.scheduler().nanos();
  }

  public long slowNanos() {
    return slowNanos;
  }

  /** Since when it has been up and not slow; Long.MAX_VALUE if it is not. */
  public long steadySinceNanos() {
    boolean isFast = slowNanos == 0 && !full && !slowDisk && stalls == 0;
    return up && !joining && isFast && !control.isUnsure() ? changedNanos : Long.MAX_VALUE;
  }

  /**
   * Since when it has been so, and all its partitions have caught up with the others since its
   * start; Long.MAX_VALUE if it is not.
   */
  public long caughtUpSinceNanos() {
    return Math.max(steadySinceNanos(), held.readySinceNanos());
  }
}
