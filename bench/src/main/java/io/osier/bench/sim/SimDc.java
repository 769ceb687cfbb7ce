package io.osier.bench.sim;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.check.ConvergenceCheck;
import io.osier.bench.sim.load.AppPort;
import io.osier.bench.sim.load.SimApp;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimDisk;
import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.Violation;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.SharedWindows;
import io.osier.propagation.net.link.PortLimits;
import io.osier.propagation.wire.Frame;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One datacenter: a node for each unit, a wall clock of its own, up or down, fast or slow. */
public final class SimDc {
  /** So many of so many that keep nothing are embedded in an application. */
  private static final int EMBEDDED = 3;

  private static final int EMBEDDED_OF = 4;

  private static final long EPOCH_MILLIS = 1_700_000_000_000L;

  private final Simulation simulation;
  private final SimDisk.Kind kind;
  private SimDisk disk;
  private final List<SimNode> nodes = new ArrayList<>();
  private long life;
  private boolean full;
  private boolean slowDisk;
  private int stalls;
  private ReplicaId self;

  /** What its starts have drawn, as its disk keeps them, newest first. */
  private final List<Long> starts = new ArrayList<>();

  private boolean up;

  /** Whether it is about to join, and takes no updates. */
  private boolean joining;

  /** How often it was told of its peers in this life. */
  private long told;

  private Set<String> peersNow = Set.of();

  // Null before the first start.
  private @Nullable SharedWindows links;
  private @Nullable SimSockets sockets;
  private @Nullable PeerTransport transport;

  /** Null before the first start, and where no client connects. */
  private @Nullable AppPort port;

  /** An application in its process; null before the first start, and where there is none. */
  private @Nullable SimApp resident;

  private final boolean embedded;
  private boolean keptAll;

  /** One of so many runs the former program at first. */
  private static final int FORMER_OF = 3;

  private final Random random;

  /** Whether it runs a program that speaks only the oldest version of the peer protocol. */
  private boolean isFormer;

  private SlewedClock clock;
  private double driftPerNano;
  private long jumpMillis;
  private long slowNanos;
  private long changedNanos;

  SimDc(Simulation simulation, String name, SimDisk.Kind kind, Random random) {
    this.simulation = simulation;
    this.self = new ReplicaId(name, 1);
    this.kind = kind;
    this.random = random;
    this.embedded =
        kind == SimDisk.Kind.NONE
            && simulation.profile().has(Feature.EMBEDDED)
            && random.nextInt(EMBEDDED_OF) < EMBEDDED;
    this.disk = disk(simulation, random, kind);
    this.clock = new SlewedClock(EPOCH_MILLIS, 0); // until it starts
  }

  private static SimDisk disk(Simulation of, Random random, SimDisk.Kind kind) {
    Sabotage sabotage = of.options().sabotage();
    return new SimDisk(of.scheduler(), of.units().size(), sabotage, random, kind);
  }

  /** Whether its last crash took nothing that was confirmed, so that the incarnation goes on. */
  boolean keptAll() {
    return keptAll;
  }

  boolean hasDisk() {
    return kind != SimDisk.Kind.NONE;
  }

  /**
   * Whether an application in its process drives its partitions, as those do in production that are
   * embedded and keep nothing.
   */
  boolean isEmbedded() {
    return embedded;
  }

  SimDisk disk() {
    return disk;
  }

  /** The windows that its partitions share. */
  SharedWindows links() {
    return requireNonNull(links, "it has been started");
  }

  /** What carries frames; null while it starts, and before. */
  @Nullable PeerTransport transport() {
    return transport;
  }

  /** What the transport stands on; null before the first start. */
  @Nullable SimSockets sockets() {
    return sockets;
  }

  /** The port for clients; null before the first start, and where no client connects. */
  public @Nullable AppPort port() {
    return port;
  }

  /** The threads of its connections stand still until as many stops have ended as began. */
  void stopConnections(SimSockets process, boolean begin) {
    process.stop(begin);
    AppPort clients = port;
    if (clients != null && process == sockets) {
      clients.sockets().stop(begin);
    }
  }

  /** Counts its starts. */
  public long life() {
    return life;
  }

  boolean isFull() {
    return full;
  }

  void setFull(boolean now) {
    full = now;
    changedNanos = simulation.scheduler().nanos();
  }

  void slowDisk(long nanos) {
    disk.slow(nanos);
    slowDisk = nanos > 0;
    changedNanos = simulation.scheduler().nanos();
  }

  /** The disk does nothing until as many stalls have ended as began. */
  void stall(boolean begin) {
    stalls += begin ? 1 : -1;
    disk.stall(begin);
    changedNanos = simulation.scheduler().nanos();
  }

  /**
   * A partition has waited long for room in front of the disk: what comes behind it may be late.
   */
  void waits() {
    changedNanos = simulation.scheduler().nanos();
  }

  /** Starts with what its disks have kept. */
  void start(ReplicaId as) {
    life++;
    told = 0;
    long nanos = simulation.scheduler().nanos();
    self = as;
    up = true;
    changedNanos = nanos;
    clock = new SlewedClock(wall(nanos), nanos);
    links = new SharedWindows(simulation.profile().windowBytes());
    transport = null;
    nodes.clear();
    simulation.units().forEach(unit -> nodes.add(new SimNode(simulation, this, unit)));
    connect();
    if (!simulation.members().sharersOf(self.dc()).equals(simulation.names())) {
      setPeers(simulation.members().peersOf(self.dc()), joining);
    }
    if (simulation.callers().hasConnections()) {
      port = new AppPort(simulation, this, new Random(random.nextLong()));
    }
    if (embedded) {
      resident = simulation.callers().moveIn(this, new Random(random.nextLong()));
    }
  }

  private void connect() {
    Map<String, InetSocketAddress> addresses = new TreeMap<>();
    for (String peer : simulation.members().peersOf(self.dc())) {
      addresses.put(peer, address(peer));
    }
    peersNow = Set.copyOf(addresses.keySet());
    List<String> fingerprints =
        simulation.units().stream().map(u -> u.policy().fingerprint()).distinct().sorted().toList();
    starts.addFirst(random.nextLong(Long.MAX_VALUE - 1) + 1);
    SimSockets own =
        new SimSockets(
            simulation.network(),
            simulation.scheduler(),
            self,
            this::slowNanos,
            new Random(random.nextLong()));
    sockets = own;
    PeerTransport carries =
        new PeerTransport(
            new PeerTransport.Bearer(
                self, "sim", starts.getFirst(), starts.subList(1, starts.size()), newestVersion()),
            address(self.dc()),
            addresses,
            peer -> fingerprints,
            PortLimits.DEFAULT,
            new Peers(own),
            Optional.empty(),
            own);
    transport = carries;
    carries.dial();
  }

  /** Some run the former program at first, and are upgraded at a restart. */
  private int newestVersion() {
    isFormer = life == 1 ? random.nextInt(FORMER_OF) == 0 : isFormer && random.nextBoolean();
    return isFormer ? PeerTransport.VERSION_MIN : PeerTransport.VERSION;
  }

  private static InetSocketAddress address(String dc) {
    return InetSocketAddress.createUnresolved(dc, 1);
  }

  /** Hands what the transport hears to the partitions. What a check throws ends the run. */
  private final class Peers implements PeerListener {
    private final SimSockets of;

    Peers(SimSockets of) {
      this.of = of;
    }

    private void hears(Runnable what) {
      if (of.isClosed()) {
        return;
      }
      try {
        what.run();
      } catch (RuntimeException e) {
        simulation.scheduler().fail(e);
      }
    }

    @Override
    public void up(ReplicaId peer, List<String> keyspaces) {
      hears(
          () -> {
            simulation.network().isUp(self.dc(), peer.dc(), true);
            submitToAll(new Input.PeerUp(peer));
          });
    }

    @Override
    public void parted(String dc, List<String> keyspaces) {
      throw new Violation(
          "", "%s parts with %s over %s, which nobody changes", self, dc, keyspaces);
    }

    @Override
    public void compared(String dc, Map<String, String> differing) {
      if (!differing.isEmpty()) {
        simulation.scheduler().fail(new Violation("", "%s and %s differ: %s", self, dc, differing));
      }
    }

    @Override
    public void down(String dc) {
      hears(
          () -> {
            simulation.network().isUp(self.dc(), dc, false);
            simulation.flow().down(SimDc.this, dc);
            submitToAll(new Input.PeerDown(dc));
          });
    }

    @Override
    public void received(ReplicaId peer, String keyspace, int partition, Frame frame) {
      hears(
          () ->
              simulation
                  .frames()
                  .received(SimDc.this, peer, simulation.unit(keyspace, partition), frame));
    }

    @Override
    public void second(String dc, String why) {
      boolean isOwnFormerLife =
          self.incarnation() > 1 && why.contains("another process already runs as");
      if (!isOwnFormerLife) { // whose connection ends soon; rejected, if not
        simulation.scheduler().fail(new Violation("", "%s is second to %s: %s", self, dc, why));
      }
    }

    @Override
    public void rejected(String dc, OsierException why) {
      if (!simulation.members().hasChanged()
          || !String.valueOf(why.reason()).contains("was not added")) {
        simulation.scheduler().fail(new Violation("", "%s refuses %s: %s", dc, self, why));
      }
    }
  }

  private double wall(long nanos) {
    long drift = (long) (nanos * driftPerNano / 1e6);
    return (double) (EPOCH_MILLIS + nanos / 1_000_000 + jumpMillis + drift);
  }

  public Now now() {
    long nanos = simulation.scheduler().nanos();
    return new Now(nanos, (long) clock.read(wall(nanos), nanos));
  }

  void crash() {
    up = false;
    full = false;
    slowDisk = false;
    // Of one that writes later, every other crash is that of the process alone: it may come before
    // what the crash before it took has been made good.
    boolean isKill = kind == SimDisk.Kind.ASYNC && life % 2 == 0;
    keptAll = kind == SimDisk.Kind.SYNC || isKill;
    disk.crash(isKill);
    if (port != null) {
      port.crash();
    }
    if (resident != null) {
      resident.isGone();
    }
    changedNanos = simulation.scheduler().nanos();
  }

  public boolean isUp() {
    return up;
  }

  /** It has nothing any more, and joins when it starts. */
  void join() {
    disk = disk(simulation, random, kind);
    life = 0;
    joining = true;
  }

  /** It has what the others have. */
  void joined() {
    joining = false;
    changedNanos = simulation.scheduler().nanos();
  }

  boolean isJoining() {
    return joining;
  }

  boolean isComplete() {
    return nodes.stream().allMatch(n -> n.isComplete(told));
  }

  /** Whether frames of another datacenter are for it. */
  boolean isPeer(String dc) {
    return peersNow.contains(dc);
  }

  /** Its peers are others from now on. */
  void setPeers(List<String> peers, boolean joins) {
    changedNanos = simulation.scheduler().nanos();
    List<String> sharers = simulation.members().sharersOf(self.dc());
    submitToAll(new Input.Peers(++told, peers, sharers, joins, simulation.rank(self.dc())));
    Map<String, InetSocketAddress> addresses = new TreeMap<>();
    peers.forEach(peer -> addresses.put(peer, address(peer)));
    peersNow = Set.copyOf(peers);
    requireNonNull(transport, "it is up").setPeers(addresses);
  }

  /** It takes over the rights of one that was given up. */
  void inherit(String from) {
    for (SimNode node : nodes) {
      List<ObjectId> counters =
          ConvergenceCheck.content(node.store()).keySet().stream()
              .filter(o -> o.type() == CrdtType.BOUNDED_COUNTER)
              .toList();
      node.submit(new Input.Inherit(from, counters));
    }
  }

  /** Its present incarnation, or the last one. */
  public ReplicaId self() {
    return self;
  }

  /** Whether a node is of the present life. */
  boolean isCurrent(SimNode node) {
    return up && nodes.size() > node.unit().number() && nodes.get(node.unit().number()) == node;
  }

  public SimNode node(Unit unit) {
    return nodes.get(unit.number());
  }

  /** An input for all units. */
  void submitToAll(Input input) {
    nodes.forEach(n -> n.submit(input));
  }

  void jump(long millis) {
    jumpMillis += millis;
  }

  void drift(double perNano) {
    driftPerNano = perNano;
  }

  /** From now on inputs are handled so much later. */
  void slow(long nanos) {
    slowNanos = nanos;
    changedNanos = simulation.scheduler().nanos();
  }

  public long slowNanos() {
    return slowNanos;
  }

  /** Since when it has been up and not slow; Long.MAX_VALUE if it is not. */
  public long steadySinceNanos() {
    return up && !joining && slowNanos == 0 && !full && !slowDisk && stalls == 0
        ? changedNanos
        : Long.MAX_VALUE;
  }

  /**
   * Since when it has been so, and all its partitions have caught up with the others since its
   * start; Long.MAX_VALUE if it is not.
   */
  long caughtUpSinceNanos() {
    long since = steadySinceNanos();
    for (SimNode node : nodes) {
      since = Math.max(since, node.readySinceNanos());
    }
    return since;
  }
}
