package io.osier.bench.sim;

import static java.util.Objects.requireNonNullElse;

import io.osier.bench.sim.check.ConvergenceCheck;
import io.osier.bench.sim.load.SimWitness;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Budget;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.shard.agent.Combiner;
import io.osier.datacenter.shard.agent.Inbox;
import io.osier.datacenter.shard.agent.PartitionAgent;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.ShardGateway;
import io.osier.datacenter.shard.agent.Time;
import io.osier.datacenter.store.DecompositionLimits;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One partition at one datacenter, from its start to its crash: the shell that the server is in
 * production. Inputs are handled in the order in which they come, late if the datacenter is slow.
 */
public final class SimNode implements ShardGateway.Inside {
  /** In this time a status comes over a link that is healthy. */
  private static final long HEARD_NANOS = 2 * Scheduler.SECOND;

  /** So few that sets of two dozen elements are pulled, in several steps. */
  private static final int PULL_BYTES = 300;

  private static StreamSettings streams(Simulation simulation, Unit unit) {
    // At once where that is hardest: also what a crash can take back may have been forgotten by
    // then.
    int forgetMillis = unit.number() % 2 == 0 ? 0 : 1_500;
    StreamSettings settings =
        new StreamSettings(
            simulation.profile().windowBytes(),
            Unit.FRAME_BYTES,
            1_000,
            StreamSettings.DEFAULT.statusMillis(),
            1_000,
            forgetMillis);
    if (simulation.profile().has(Feature.DECOMPOSITION)) {
      settings = settings.pulling(PULL_BYTES);
    }
    return unit.hasLittleMemory()
        ? settings.within(simulation.options().sabotage().memory(LITTLE_MEMORY))
        : settings;
  }

  private static final DecompositionLimits SMALL_OBJECTS = new DecompositionLimits(60, 3);

  /** In one life of two so small that objects are evicted and read again all the time. */
  private static final long CACHE_BYTES_TINY = 3_000;

  private static final long CACHE_BYTES_SMALL = 40_000;

  /** Enough for all. */
  private static final long CACHE_BYTES = 1L << 26;

  /** Of a handful of objects, so that what follows when it is spent follows all the time. */
  static final StreamSettings.Memory LITTLE_MEMORY = new StreamSettings.Memory(6_000, 3_000, 3_000);

  private static final PartitionConfig.Memory LITTLE_PARTITION =
      new PartitionConfig.Memory(30_000, 20_000, 20_000);

  /** Small, so that a long outage needs more than the log. */
  private static final long LOG_MAX = 3_000;

  /** Places keys alike in each run, so that what is evicted is the same. */
  private static final KeyedHash HASH = KeyedHash.of(() -> 1);

  /** So little that most objects are packed. */
  private static final long UNPACKED_BYTES = 2_000;

  /** Every other life has seen as many changes as in hours under load. */
  private static final long MANY_CHANGES = 1L << 25;

  private static final int INBOX_MAX = 16_384;

  /** So few changes are kept that watchers are cut off. */
  private static final long CHANGES_BYTES = 6_000;

  /** More ticks than this at one time are a machine that cannot stop. */
  private static final int TICKS_AT_ONCE_MAX = 10_000;

  /** A datacenter's time. */
  private record DcTime(SimDc dc) implements Time {
    @Override
    public long nanos() {
      return dc.now().nanos();
    }

    @Override
    public Now now() {
      return dc.now();
    }

    @Override
    public long millis() {
      return dc.now().millis();
    }
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimDc dc;
  private final ReplicaId self;
  private final Unit unit;
  private final WatchedStore store;

  private final Journal journal;
  private final Partition partition;
  private final WitnessedMachine machine;
  private final Inbox inbox = new Inbox(INBOX_MAX);
  private final PartitionAgent agent;

  private final FrontDoor door;
  private final KeyspaceFeed feed;

  /** Updates that are acknowledged in front of the partition and that it does not have. */
  private final Map<ObjectId, List<SimWitness>> acknowledged = new HashMap<>();

  /** Whether the store has taken what the partition has done. */
  private BooleanSupplier mayGoOn = () -> true;

  private long plannedNanos = Long.MAX_VALUE;

  /** When it began. */
  private final long beganNanos;

  /** Since when it has served commands; Long.MAX_VALUE before it does. */
  private long readyNanos = Long.MAX_VALUE;

  /** How many updates each of the others had shipped when it began, if it did so with nothing. */
  private final Map<ReplicaId, Long> had = new HashMap<>();

  /** Whether a step is planned, because something has come in. */
  private boolean woken;

  private long tickNanos;
  private int ticks;

  SimNode(Simulation simulation, SimDc dc, Unit unit) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.dc = dc;
    this.self = dc.self();
    this.unit = unit;
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
              cacheBytes(),
              LOG_MAX,
              HASH,
              this::readLater,
              decomposition());
      boolean goesOn = dc.keptAll() && dc.life() > 1;
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
      this.store = new WatchedStore(simulation, this, new MemoryStore(HASH, unpackedBytes()));
      this.journal = Journal.NONE;
    }
    this.partition =
        new Partition(
            new PartitionConfig(
                self,
                simulation.members().peersOf(self.dc()),
                unit.policy(),
                unit.partition(),
                streams(simulation, unit),
                unit.adaptation(),
                simulation.profile().endedTransactions(self.dc()),
                unit.hasLittleMemory() ? LITTLE_PARTITION : PartitionConfig.Memory.DEFAULT,
                true,
                simulation
                    .options()
                    .sabotage()
                    .windows(unit, simulation.flow().witnessed(dc, unit)),
                UpdateObserver.NONE),
            store,
            recovered,
            dc.now());
    List<ObjectId> removed =
        store.scan(Optional.empty(), Integer.MAX_VALUE).stream()
            .filter(e -> e.state().isSpent())
            .map(ObjectStore.Entry::object)
            .toList();
    if (!removed.equals(store.removed(Optional.empty(), Integer.MAX_VALUE))) {
      throw new Violation(
          unit,
          "%s holds %s that only remember their removal, and its store has noted %s",
          this,
          removed,
          store.removed(Optional.empty(), Integer.MAX_VALUE));
    }
    this.feed =
        new KeyspaceFeed(
            self,
            1,
            CHANGES_BYTES,
            Runnable::run,
            scheduler::nanos,
            simulation::nextTicket,
            () -> {});
    feed.begin(List.of(new Watched()));
    this.machine = new WitnessedMachine(simulation, this, partition, store);
    PartitionPorts seat = new PartitionPorts(toString(), machine, store, journal, new Ways());
    this.door = new FrontDoor(simulation, dc, this, store);
    boolean combines = dc.isEmbedded() && !unit.isCausal();
    Optional<Combiner> combiner =
        combines
            ? Optional.of(
                new Combiner(store, unit.policy(), scheduler::nanos, dueNanos -> planFor(dueNanos)))
            : Optional.empty();
    this.agent =
        new PartitionAgent(seat, inbox, new DcTime(dc), combiner, dc.isEmbedded(), new Driver());
    store.attach(this::tickSoon);
    submit(new Input.Removed(removed));
    plan();
    beganNanos = scheduler.nanos();
    if (!isReady()) {
      simulation.dcs().stream()
          .filter(other -> other != dc && other.isUp())
          .map(other -> other.node(unit))
          .forEach(other -> had.put(other.self, other.shipped()));
    }
  }

  /** Up to which of its updates somebody has them: others may be held, for the end of a round. */
  private long shipped() {
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

  Unit unit() {
    return unit;
  }

  public WatchedStore store() {
    return store;
  }

  /** What an object covers here, without a look into the store. */
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

  /** Whether this is still its datacenter's node: it is not after a crash. */
  public boolean isAlive() {
    return dc.isCurrent(this);
  }

  private long cacheBytes() {
    if (!simulation.profile().has(Feature.COLD_READS)) {
      return CACHE_BYTES;
    }
    return (self.dc().hashCode() + unit.number() + dc.life()) % 2 == 0
        ? CACHE_BYTES_TINY
        : CACHE_BYTES_SMALL;
  }

  private long unpackedBytes() {
    return simulation.profile().has(Feature.COLD_READS) ? UNPACKED_BYTES : CACHE_BYTES;
  }

  /** Mostly sets and maps of a few entries are decomposed, not in each life of a datacenter. */
  private DecompositionLimits decomposition() {
    return !simulation.profile().has(Feature.DECOMPOSITION)
            || (self.dc().hashCode() + dc.life()) % 3 == 0
        ? DecompositionLimits.DEFAULT
        : SMALL_OBJECTS;
  }

  /** Whether anything outlives a crash. */
  boolean hasDisk() {
    return dc.hasDisk();
  }

  /** The partition looks at what is due. */
  void tickSoon() {
    submit(new Input.Tick());
  }

  /** What another thread reads ahead is here some time later. */
  void readLater(Runnable reading) {
    dc.disk().read(reading);
  }

  /** The store has room again for what the partition has done. */
  private void goesOn(boolean late) {
    if (late) {
      dc.waits();
    }
    wake();
  }

  /** Whether the partition has what the others had. */
  boolean isComplete(long number) {
    return partition.isReady() && partition.isComplete(number) && partition.isSettled();
  }

  /** Whether the partition serves commands. */
  @Override
  public boolean isReady() {
    return machine.isReady();
  }

  /** Since when it has been so; Long.MAX_VALUE if it is not. */
  long readySinceNanos() {
    return readyNanos;
  }

  // ---------------------------------------------------------------- inputs

  /** An input that is handled now, or with others later if the datacenter is slow. */
  void submit(Input input) {
    offer(input).run();
  }

  @Override
  public boolean isAllInMemory() {
    return dc.isEmbedded();
  }

  @Override
  public Runnable offer(Input input) {
    inbox.add(input);
    return this::wake;
  }

  @Override
  public Runnable offer(Request request, Consumer<Reply> reply) {
    Consumer<Reply> asked = machine.asked(reply);
    if (inbox.offer(request, asked) != Inbox.Offer.TAKEN) {
      throw new Violation("", "%s takes no command", this);
    }
    machine.offered(asked);
    return this::wake;
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
    Combiner.Outcome outcome = agent.acknowledge(object.key(), object.type(), operation);
    if (outcome == Combiner.Outcome.REFUSED) {
      return false;
    }
    acknowledged.computeIfAbsent(object, o -> new ArrayList<>()).add(witness);
    witness.acknowledged(this);
    simulation.acknowledged();
    simulation.trace().about(unit, object, "%s acknowledges in front: %s", self, operation);
    if (outcome == Combiner.Outcome.TAKEN_AND_DUE) {
      wake();
    }
    return true;
  }

  /** The partition has what was acknowledged of some objects: all of it, once. */
  void absorbed(Input.Absorbed input, List<Effects.Recorded> records) {
    for (Input.Absorbed.Update update : input.updates()) {
      ObjectId object = update.object();
      List<SimWitness> of = requireNonNullElse(acknowledged.remove(object), List.of());
      Optional<Dot> made =
          records.stream()
              .filter(r -> r instanceof Effects.Applied a && a.update().object().equals(object))
              .map(r -> new Dot(self, ((Effects.Applied) r).update().last()))
              .findFirst();
      if (made.isEmpty() || update.count() != of.size()) {
        throw new Violation(
            name(object),
            "%s has acknowledged %d updates of %s, and its partition gets %d as %s",
            this,
            of.size(),
            object,
            update.count(),
            made);
      }
      of.forEach(w -> w.absorbed(made.get()));
    }
  }

  @Override
  public long millis() {
    return simulation.options().sabotage().millis(dc.now().millis());
  }

  @Override
  public void absorb(Key key) {
    if (agent.isHolding(key) && !simulation.options().sabotage().looksPastWhatIsHeld()) {
      stepped(() -> agent.stepAbsorbing(key));
      plan();
    }
  }

  @Override
  public void absorbAll() {
    if (agent.isHolding()) {
      stepped(agent::stepAbsorbingAll);
      plan();
    }
  }

  /** Sees to it that what waits is done: at once, or later if the datacenter is slow. */
  private void wake() {
    if (dc.slowNanos() == 0 && !woken) {
      step();
    } else if (!woken) {
      woken = true;
      scheduler.in(
          dc.slowNanos(),
          () -> {
            woken = false;
            if (isAlive()) {
              step();
            }
          });
    }
  }

  /** What the thread of a partition does when it is woken. */
  private void step() {
    if (!mayGoOn.getAsBoolean()) {
      return; // its thread waits until the store has room for what it has done; then it is woken
    }
    do {
      stepped(agent::step);
    } while (!inbox.isEmpty() && mayGoOn.getAsBoolean());
    plan();
  }

  /** Takes a step, and then tells those whom it has something to tell: they may call again. */
  private void stepped(IntSupplier step) {
    try {
      var unused = step.getAsInt();
    } catch (IllegalStateException e) {
      RuntimeException first = e.getCause() instanceof Violation v ? v : e;
      scheduler.fail(first); // before what else waits has its turn, and fails for it
      throw first;
    }
    if (!dc.hasDisk()) {
      store.takeRecorded().run(); // as durable as they get
    }
    agent.takeTold().tell();
    if (readyNanos == Long.MAX_VALUE && isReady()) {
      readyNanos = scheduler.nanos();
      checkHad();
    }
  }

  /**
   * Whoever began with nothing has what the others had: those that are heard and can be asked now,
   * and soon after the start any that is there, for the link may not be up yet.
   */
  private void checkHad() {
    boolean soon = readyNanos - beganNanos < Partition.JOIN_NANOS;
    PartitionReport report = inspect();
    for (PartitionReport.Peer peer : report.peers()) {
      ReplicaId other = simulation.dc(peer.dc()).self();
      long has = report.content().through().get(other);
      SimLink back = simulation.network().link(peer.dc(), self.dc());
      boolean isHeard = back.healthySinceNanos() <= readyNanos - HEARD_NANOS;
      long expected = had.getOrDefault(other, 0L);
      if ((soon || (peer.connected() && isHeard)) && has < expected) {
        throw new Violation(
            unit.toString(),
            "%s serves commands %d ms after its start, with %d of the %d updates that %s had",
            this,
            (readyNanos - beganNanos) / Scheduler.MILLI,
            has,
            expected,
            other);
      }
    }
  }

  /** Sees to it that the next tick comes in time. */
  private void plan() {
    planFor(agent.dueNanos());
  }

  private void planFor(long next) {
    if (next == Long.MAX_VALUE || Math.max(next, scheduler.nanos()) >= plannedNanos) {
      return;
    }
    long at = Math.max(next, scheduler.nanos());
    plannedNanos = at;
    scheduler.in(
        at - scheduler.nanos(),
        () -> {
          if (isAlive() && plannedNanos == at) {
            plannedNanos = Long.MAX_VALUE;
            tick();
          }
        });
  }

  private void tick() {
    if (agent.dueNanos() > scheduler.nanos()) {
      plan();
      return;
    }
    ticks = tickNanos == scheduler.nanos() ? ticks + 1 : 0;
    tickNanos = scheduler.nanos();
    if (ticks > TICKS_AT_ONCE_MAX) {
      throw new Violation("", "%s wants ticks without end at one time", this);
    }
    wake();
  }

  /** By what the trace knows an object. */
  public String name(ObjectId object) {
    return unit + "/" + object;
  }

  // ---------------------------------------------------------------- watchers

  /** The partition as its feed sees it. */
  private final class Watched implements KeyspaceFeed.Source {
    @Override
    public ObjectStore store() {
      return store;
    }

    @Override
    public Optional<VersionVector> forgotten() {
      return partition.forgotten();
    }

    @Override
    public boolean isReady() {
      return partition.isReady();
    }

    @Override
    public void watched(long life) {
      submit(new Input.Watched(life));
    }
  }

  /** What watchers are told is complete here. */
  public VersionVector told() {
    return feed.ring(0).here();
  }

  /** Answers a watcher that does not wait; null if that cannot be done at once. */
  public @Nullable Reply watch(Request.Watch request) {
    AtomicReference<@Nullable Reply> reply = new AtomicReference<>();
    try {
      feed.watch(request, reply::set);
    } catch (OsierException e) {
      return new Reply.Failure(e.code(), String.valueOf(e.reason()));
    }
    var unused = feed.turn();
    if (reply.get() == null) { // the partition has begun to tell, or does when it has time
      feed.release();
      unused = feed.turn();
    }
    return reply.get();
  }

  // ---------------------------------------------------------------- outputs

  /** Where what leaves the partition goes. */
  private final class Ways implements PartitionPorts.Sender {
    @Override
    public void send(ReplicaId to, Frame frame) {
      machine.leaves();
      simulation.frames().send(SimNode.this, to, frame);
    }

    @Override
    public void visible(Effects.Visible visible) {
      machine.leaves();
      feed.ring(0).visible(simulation.options().sabotage().visible(visible));
    }
  }

  private final class Driver implements PartitionAgent.Driver {
    @Override
    public void groupIsOut() {}

    /** Not at once: a step may be under way. */
    @Override
    public void hasWork() {
      scheduler.in(
          0,
          () -> {
            if (isAlive()) {
              wake();
            }
          });
    }

    /** What a check or the network throws ends the run. */
    @Override
    public void couldNotLeave(Effects.Output output, RuntimeException cause) {
      scheduler.fail(cause);
    }
  }

  /** What is used of its budgets. */
  List<Budget.Usage> memory() {
    return partition.memory();
  }

  /** What it is doing. Changes nothing. */
  PartitionReport inspect() {
    Effects effects = partition.step(new Input.Inspect(0, unit.adaptation().topK()), dc.now());
    return effects.atOnce().getFirst().report();
  }
}
