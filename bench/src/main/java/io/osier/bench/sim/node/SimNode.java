package io.osier.bench.sim.node;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimWitness;
import io.osier.bench.sim.check.ConvergenceCheck;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.shard.agent.Combiner;
import io.osier.datacenter.shard.agent.InspectedPartition;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.ShardGateway;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * One partition at one datacenter, from its start to its crash: the shell that the server is in
 * production. Inputs are handled in the order in which they come, late if the datacenter is slow.
 */
public final class SimNode implements ShardGateway.Inside, InspectedPartition {
  /** The same hash in each run, so that the same objects are evicted. */
  private static final KeyedHash HASH = KeyedHash.of(() -> 1);

  /** Every other life counts its changes from here on, as after hours under load. */
  private static final long MANY_CHANGES = 1L << 25;

  private final Simulation simulation;
  private final SimDc dc;
  private final ReplicaId self;
  private final Unit unit;
  private final WatchedStore store;

  private final Journal journal;
  private final Partition partition;
  private final WitnessedMachine machine;
  private final NodeLoop loop;

  private final FrontDoor door;
  private final NodeFeed feed;
  private final AheadUpdates ahead;
  private final StartCheck start;

  /** Whether the store has taken the partition's records, so that the next input may come. */
  private BooleanSupplier mayGoOn = () -> true;

  /** Since when the partition has served commands; Long.MAX_VALUE before it does. */
  private long readyNanos = Long.MAX_VALUE;

  SimNode(Simulation simulation, SimDc dc, Unit unit) {
    this.simulation = simulation;
    this.dc = dc;
    this.self = dc.replica(unit);
    this.unit = unit;
    this.ahead = new AheadUpdates(self, unit);
    this.start = new StartCheck(simulation, this);
    NodeLimits limits =
        new NodeLimits(
            simulation.profile(), simulation.options().sabotage(), unit, self, dc.life());
    RecoveredState recovered = RecoveredState.NOTHING;
    if (dc.hasDisk()) {
      MemoryVersions versions = dc.disk().versions(unit);
      PartitionStore kept =
          new PartitionStore(
              versions,
              dc.disk()
                  .writerOf(
                      unit, () -> store().takeRecorded(), isIn -> mayGoOn = isIn, this::goesOn),
              self,
              limits.cacheBytes(),
              NodeLimits.LOG_MAX,
              HASH,
              this::readLater,
              limits.decomposition());
      boolean goesOn = dc.keptAll() && dc.life() > 1 && dc.held().hadBefore(unit);
      recovered =
          kept.recover(dc.life(), goesOn, versions.replicas())
              .countingFrom(dc.life() % 2 == 0 ? 1 : MANY_CHANGES);
      this.store = new WatchedStore(simulation, this, kept);
      this.journal = kept;
      simulation.losses().recovered(unit, self, recovered.committed());
      if (!goesOn) {
        simulation.checks(unit).once().started(self, ConvergenceCheck.content(kept));
      }
    } else {
      this.store =
          new WatchedStore(simulation, this, new MemoryStore(HASH, limits.unpackedBytes()));
      this.journal = Journal.NONE;
    }
    this.partition =
        new Partition(
            new PartitionConfig(
                self,
                dc.held().peersOf(unit),
                unit.policy(),
                unit.partition(),
                limits.streams(),
                unit.adaptation(),
                simulation.profile().endedTransactions(self.dc()),
                limits.memory(),
                true,
                simulation
                    .options()
                    .sabotage()
                    .windows(unit, simulation.flow().witnessed(dc, unit)),
                UpdateObserver.NONE),
            store,
            recovered,
            dc.now());
    this.feed = new NodeFeed(simulation, self, partition, store, this::submit);
    this.machine = new WitnessedMachine(simulation, this, partition, store);
    PartitionPorts ports = new PartitionPorts(toString(), machine, store, journal, new Ways());
    this.door = new FrontDoor(simulation, dc, this, store);
    this.loop = new NodeLoop(simulation.scheduler(), dc, this, ports);
    store.attach(this::tickSoon);
    submit(new Input.Removed(start.removed()));
    loop.plan();
    start.begun();
  }

  /** The commit number through which some peer has acknowledged this partition's updates. */
  long shipped() {
    PartitionReport report = inspect();
    return report.content().committed()
        - report.peers().stream()
            .mapToLong(peer -> peer.to().lagUpdates())
            .min()
            .orElse(report.content().committed());
  }

  public ReplicaId self() {
    return self;
  }

  public Unit unit() {
    return unit;
  }

  @Override
  public WatchedStore store() {
    return store;
  }

  /** The dots that an object covers here, as the witness of the store knows them. */
  public CausalContext covered(ObjectId object) {
    return store.covered(object);
  }

  /** As {@link WatchedStore#covered(ObjectId, VersionVector)}. */
  public CausalContext covered(ObjectId object, VersionVector seen) {
    return store.covered(object, seen);
  }

  @Override
  public String toString() {
    return self + "/" + unit;
  }

  /** Whether this partition belongs to the present life of its datacenter. */
  public boolean isAlive() {
    return dc.isCurrent(this);
  }

  boolean hasDisk() {
    return dc.hasDisk();
  }

  void tickSoon() {
    submit(new Input.Tick());
  }

  /** Runs a read as the thread that reads ahead does: some time later. */
  void readLater(Runnable reading) {
    dc.disk().read(reading);
  }

  /** The store has room again for what the partition has done. */
  private void goesOn(boolean late) {
    if (late) {
      dc.waits();
    }
    loop.wake();
  }

  /** Whether the partition has what its peers had at the comparison of this number. */
  boolean isComplete(long number) {
    return partition.isReady() && partition.isComplete(number) && partition.isSettled();
  }

  /** Whether the partition serves commands. */
  @Override
  public boolean isReady() {
    return machine.isReady();
  }

  /** Since when the partition has served commands; Long.MAX_VALUE if it does not. */
  long readySinceNanos() {
    return readyNanos;
  }

  // ---------------------------------------------------------------- inputs

  /** An input that is handled now, or with others later if the datacenter is slow. */
  @Override
  public void submit(Input input) {
    if (!simulation.options().sabotage().refuses(input)) {
      offer(input).run();
    }
  }

  @Override
  public boolean isAllInMemory() {
    return dc.isEmbedded();
  }

  @Override
  public Runnable offer(Input input) {
    return loop.offer(input);
  }

  @Override
  public Runnable offer(Request request, Consumer<Reply> reply) {
    if (!isAlive()) {
      return () -> machine.refuse(reply);
    }
    Consumer<Reply> asked = machine.asked(reply);
    Runnable wakes = loop.offer(request, asked);
    machine.offered(asked);
    return wakes;
  }

  @Override
  public CompletableFuture<PartitionReport> inspect(int hotLimit) {
    return loop.isIdle()
        ? CompletableFuture.completedFuture(inspect())
        : CompletableFuture.failedFuture(new TimeoutException());
  }

  @Override
  public boolean isHolding() {
    return loop.agent().isHolding();
  }

  Optional<VersionVector> shown() {
    return partition.shown();
  }

  /** Drops the partition: frees the links' windows, and refuses all open commands. */
  void drop() {
    for (String peer : simulation.members().peersOf(self.dc())) {
      partition.on(new Input.PeerDown(peer), dc.now());
      simulation.flow().parted(dc, peer, unit::equals);
    }
    var unused = partition.takeEffects();
    machine.refuseAll();
  }

  /** A peer's frame. */
  void received(Input.FromPeer input) {
    door.received(input);
  }

  /**
   * A client's command.
   *
   * @param client whose commands keep their order
   */
  public void command(Object client, Request request, WitnessedMachine.ReplyListener listener) {
    door.command(client, request, machine.asked(listener));
  }

  // ---------------------------------------------------------------- what is acknowledged in front

  /**
   * Acknowledges an update in front of the partition, if that is possible.
   *
   * @param witness sees that it is, and when the partition has it
   * @return false if nothing was done and it must be sent as a request
   */
  public boolean acknowledges(ObjectId object, Operation operation, SimWitness witness) {
    if (door.closedFor() != null) {
      return false;
    }
    try {
      OperationLimits.check(operation, unit.policy().limits());
    } catch (OsierException e) {
      return false; // and fails again as a request
    }
    Combiner.Outcome outcome = loop.agent().acknowledge(object.key(), object.type(), operation);
    if (outcome == Combiner.Outcome.REFUSED) {
      return false;
    }
    ahead.add(object, witness);
    witness.acknowledged(this);
    simulation.acknowledged();
    simulation.trace().about(unit, object, "%s acknowledges in front: %s", self, operation);
    if (outcome == Combiner.Outcome.TAKEN_AND_DUE) {
      loop.wake();
    }
    return true;
  }

  @Override
  public long millis() {
    return simulation.options().sabotage().millis(dc.now().millis());
  }

  @Override
  public void absorb(Key key) {
    if (loop.agent().isHolding(key) && !simulation.options().sabotage().looksPastWhatIsHeld()) {
      loop.absorb(key);
    }
  }

  @Override
  public void absorbAll() {
    loop.absorbAll();
  }

  /** Whether the store has taken what the partition has done. */
  boolean mayGoOn() {
    return mayGoOn.getAsBoolean();
  }

  /** The partition has taken a step. */
  void hasStepped() {
    if (readyNanos == Long.MAX_VALUE && isReady()) {
      readyNanos = simulation.scheduler().nanos();
      start.served(inspect());
    }
  }

  /** The name of an object in the trace. */
  public String name(ObjectId object) {
    return unit + "/" + object;
  }

  /** What watchers are told. */
  public NodeFeed feed() {
    return feed;
  }

  /** Updates that are acknowledged in front of the partition. */
  AheadUpdates ahead() {
    return ahead;
  }

  // ---------------------------------------------------------------- outputs

  /** Sends the partition's frames, and tells its feed what has become visible. */
  private final class Ways implements PartitionPorts.Sender {
    @Override
    public void send(ReplicaId to, Frame frame) {
      machine.leaves();
      simulation.frames().send(SimNode.this, to, frame);
    }

    @Override
    public void visible(Effects.Visible visible) {
      machine.leaves();
      feed.visible(simulation.options().sabotage().visible(visible));
    }
  }

  /** How much is used of each budget of the partition. */
  public List<Budget.Usage> memory() {
    return partition.memory();
  }

  /** The partition's report. Changes nothing. */
  public PartitionReport inspect() {
    Effects effects = partition.step(new Input.Inspect(0, unit.adaptation().topK()), dc.now());
    return effects.atOnce().getFirst().report();
  }
}
