package io.osier.bench.sim;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.Effects;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Now;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.PartitionConfig;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.server.Inbox;
import io.osier.datacenter.server.PartitionAgent;
import io.osier.datacenter.server.Seat;
import io.osier.datacenter.server.Time;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.MemoryStore;
import io.osier.datacenter.store.MemoryVersions;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionStore;
import io.osier.propagation.host.Recovered;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.UpdateObserver;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * One partition at one datacenter, from its start to its crash: the shell that the server is in
 * production. Inputs are handled in the order in which they come, late if the datacenter is slow.
 */
final class SimNode {
  /** Small frames, so that catching up and healing take many. */
  static final int FRAME_BYTES = 2 << 10;

  private static StreamSettings streams(Simulation simulation, Unit unit) {
    // At once where that is hardest: also what a crash can take back may have been forgotten by
    // then.
    int forgetMillis = unit.number() % 2 == 0 ? 0 : 1_500;
    StreamSettings settings =
        new StreamSettings(simulation.windowBytes(), FRAME_BYTES, 1_000, 200, 1_000, forgetMillis);
    return unit.hasLittleMemory()
        ? settings.within(simulation.options().sabotage().memory(LITTLE_MEMORY))
        : settings;
  }

  /** In one life of two so small that objects are evicted and read again all the time. */
  private static final long CACHE_BYTES_TINY = 3_000;

  private static final long CACHE_BYTES = 40_000;

  /** Of a handful of objects, so that what follows when it is spent follows all the time. */
  static final StreamSettings.Memory LITTLE_MEMORY = new StreamSettings.Memory(6_000, 3_000, 3_000);

  private static final PartitionConfig.Memory LITTLE_PARTITION =
      new PartitionConfig.Memory(30_000, 20_000, 20_000);

  /** Small, so that a long outage needs more than the log. */
  private static final long LOG_MAX = 3_000;

  /** Every other life has seen as many changes as in hours under load. */
  private static final long MANY_CHANGES = 1L << 25;

  private static final int INBOX_MAX = 16_384;

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
  }

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

  /** Whether the store has taken what the partition has done. */
  private BooleanSupplier mayGoOn = () -> true;

  private long plannedNanos = Long.MAX_VALUE;

  /** Whether a step is planned, because something has come in. */
  private boolean woken;

  private long tickNanos;
  private int ticks;

  SimNode(Simulation simulation, SimDc dc, Unit unit) {
    this.scheduler = simulation.scheduler();
    this.dc = dc;
    this.self = dc.self();
    this.unit = unit;
    Recovered recovered = Recovered.NOTHING;
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
              Runnable::run,
              this::readLater);
      recovered =
          kept.recover(dc.life(), dc.keepsAll() && dc.life() > 1, versions.replicas())
              .countingFrom(dc.life() % 2 == 0 ? 1 : MANY_CHANGES);
      this.store = new WatchedStore(simulation, this, kept);
      this.journal = kept;
      if (!recovered.resumed()) {
        simulation.checks(unit).once().started(self, ConvergenceCheck.content(kept));
      }
    } else {
      this.store = new WatchedStore(simulation, this, new MemoryStore());
      this.journal = Journal.NONE;
    }
    this.partition =
        new Partition(
            new PartitionConfig(
                self,
                simulation.peersOf(self.dc()),
                unit.policy(),
                unit.partition(),
                streams(simulation, unit),
                unit.adaptation(),
                simulation.endedTransactions(self.dc()),
                unit.hasLittleMemory() ? LITTLE_PARTITION : PartitionConfig.Memory.DEFAULT,
                true,
                simulation
                    .options()
                    .sabotage()
                    .windows(unit, simulation.network().flow().witnessed(dc, unit)),
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
    this.machine = new WitnessedMachine(simulation, this, partition, store);
    Seat seat =
        new Seat(
            toString(),
            machine,
            store,
            journal,
            (to, frame) -> {
              machine.leaves();
              simulation.network().send(this, to, frame);
            });
    this.door = new FrontDoor(simulation, dc, this, store);
    this.agent =
        new PartitionAgent(seat, inbox, new DcTime(dc), Optional.empty(), false, new Driver());
    store.attach(this::tickSoon);
    submit(new Input.Removed(removed));
    plan();
  }

  ReplicaId self() {
    return self;
  }

  Unit unit() {
    return unit;
  }

  WatchedStore store() {
    return store;
  }

  /** What an object covers here, without a look into the store. */
  CausalContext covered(ObjectId object) {
    return store.covered(object);
  }

  /** As {@link WatchedStore#covered(ObjectId, VersionVector)}. */
  CausalContext covered(ObjectId object, VersionVector seen) {
    return store.covered(object, seen);
  }

  @Override
  public String toString() {
    return self + "/" + unit;
  }

  /** Whether this is still its datacenter's node: it is not after a crash. */
  boolean isAlive() {
    return dc.isCurrent(this);
  }

  private long cacheBytes() {
    return (self.dc().hashCode() + unit.number() + dc.life()) % 2 == 0
        ? CACHE_BYTES_TINY
        : CACHE_BYTES;
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
  boolean isReady() {
    return machine.isReady();
  }

  // ---------------------------------------------------------------- inputs

  /** An input that is handled now, or with others later if the datacenter is slow. */
  void submit(Input input) {
    offer(input).run();
  }

  /** Puts an input into the inbox; what is returned must follow. */
  Runnable offer(Input input) {
    inbox.add(input);
    return this::wake;
  }

  /** Puts a command into the inbox; what is returned must follow. */
  Runnable offer(Request request, WitnessedMachine.ReplyListener listener) {
    if (!machine.offer(inbox, request, listener)) {
      throw new Violation("", "%s takes no command", this);
    }
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
  void command(Object client, Request request, WitnessedMachine.ReplyListener listener) {
    door.command(client, request, listener);
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
    try {
      do {
        var unused = agent.step();
        agent.takeTold().tell();
      } while (!inbox.isEmpty() && mayGoOn.getAsBoolean());
    } catch (IllegalStateException e) {
      throw e.getCause() instanceof Violation v ? v : e;
    }
    if (!dc.hasDisk()) {
      store.takeRecorded().run(); // as durable as they get
    }
    plan();
  }

  /** Sees to it that the next tick comes in time. */
  private void plan() {
    long next = partition.nextTickNanos();
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
    if (partition.nextTickNanos() > scheduler.nanos()) {
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
  String name(ObjectId object) {
    return unit + "/" + object;
  }

  // ---------------------------------------------------------------- outputs

  private final class Driver implements PartitionAgent.Driver {
    @Override
    public void groupIsOut() {}

    /** What a check or the network throws ends the run. */
    @Override
    public void couldNotLeave(Effects.Output output, RuntimeException cause) {
      scheduler.fail(cause);
    }
  }

  /** What it is doing. Changes nothing. */
  PartitionReport inspect() {
    Effects effects = partition.step(new Input.Inspect(0, unit.adaptation().topK()), dc.now());
    return effects.atOnce().getFirst().report();
  }
}
