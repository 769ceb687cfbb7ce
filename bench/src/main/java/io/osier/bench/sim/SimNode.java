package io.osier.bench.sim;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.BoundedCounter;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.Effects;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Machine;
import io.osier.datacenter.partition.Now;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.PartitionConfig;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.server.Inbox;
import io.osier.datacenter.server.PartitionAgent;
import io.osier.datacenter.server.Seat;
import io.osier.datacenter.server.Time;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.GroupWriter;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.MemoryStore;
import io.osier.datacenter.store.MemoryVersions;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.datacenter.store.PartitionStore;
import io.osier.propagation.Frame;
import io.osier.propagation.Recovered;
import io.osier.propagation.Replica.Logged;
import io.osier.propagation.Shipment;
import io.osier.propagation.StreamSettings;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;

/**
 * One partition at one datacenter, from its start to its crash: the shell that the server is in
 * production. Inputs are handled in the order in which they come, late if the datacenter is slow.
 */
final class SimNode {
  /** Small frames, so that catching up and healing take many. */
  static final int FRAME_BYTES = 2 << 10;

  private static StreamSettings streams(Unit unit) {
    // At once where that is hardest: also what a crash can take back may have been forgotten by
    // then.
    int forgetMillis = unit.number() % 2 == 0 ? 0 : 1_500;
    // Room for large values at the rate at which clients write them.
    int window = unit.hasLargeValues() ? 2 << 20 : 64 << 10;
    StreamSettings settings =
        new StreamSettings(window, FRAME_BYTES, 1_000, 200, 1_000, forgetMillis);
    return unit.hasLittleMemory() ? settings.within(LITTLE_MEMORY) : settings;
  }

  /** In one life of two so small that objects are evicted and read again all the time. */
  private static final long CACHE_BYTES_TINY = 3_000;

  private static final long CACHE_BYTES = 40_000;

  /** Of a handful of objects, so that what follows when it is spent follows all the time. */
  private static final StreamSettings.Memory LITTLE_MEMORY =
      new StreamSettings.Memory(6_000, 3_000, 3_000);

  private static final PartitionConfig.Memory LITTLE_PARTITION =
      new PartitionConfig.Memory(30_000, 20_000, 20_000);

  /** Small, so that a long outage needs more than the log. */
  private static final long LOG_MAX = 3_000;

  /** How long it takes to read ahead what the partition will want. */
  private static final long READ_NANOS = 200_000;

  /** One in so many looks for objects finds some that must be read from the disk. */
  private static final int COLD_ONE_IN = 3;

  /** Every other life has seen as many changes as in hours under load. */
  private static final long MANY_CHANGES = 1L << 25;

  /** What handling one shipment takes, as the partition is told. */
  private static final long SHIPMENT_NANOS = 20_000;

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

  /** Hears of the reply to a command when it is made; the result is run when it may go. */
  interface ReplyListener {
    Runnable made(SimNode at, Reply reply);
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimDc dc;
  private final ReplicaId self;
  private final Unit unit;
  private final WatchedStore store;

  /** In a causal keyspace: what the input in hand changed, and what was covered before. */
  private final Map<ObjectId, CausalContext> changed = new LinkedHashMap<>();

  private final Journal journal;
  private final Partition partition;
  private final Inbox inbox = new Inbox(INBOX_MAX);
  private final PartitionAgent agent;

  /** The commands in the inbox, in their order. */
  private final ArrayDeque<Asked> offered = new ArrayDeque<>();

  /** Snapshots of what the cache evicted. */
  private final List<Change> evicted = new ArrayList<>();

  /** What the checks are told when the present input's records are durable. */
  private List<Runnable> appended = new ArrayList<>();

  private long plannedNanos = Long.MAX_VALUE;

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
    Recovered recovered = Recovered.NOTHING;
    if (dc.hasDisk()) {
      MemoryVersions versions = dc.disk(unit).versions();
      PartitionStore kept =
          new PartitionStore(
              versions, writer(), self, cacheBytes(), LOG_MAX, Runnable::run, this::readLater);
      recovered =
          kept.recover(dc.life(), dc.keepsAll() && dc.life() > 1, versions.replicas())
              .countingFrom(dc.life() % 2 == 0 ? 1 : MANY_CHANGES);
      this.store = new WatchedStore(kept);
      this.journal = kept;
      if (!recovered.resumed()) {
        simulation.checks(unit).once().started(self, ConvergenceCheck.content(kept));
      }
    } else {
      this.store = new WatchedStore(new MemoryStore());
      this.journal = Journal.NONE;
    }
    this.partition =
        new Partition(
            new PartitionConfig(
                self,
                simulation.peersOf(self.dc()),
                unit.policy(),
                unit.partition(),
                streams(unit),
                unit.adaptation(),
                simulation.endedTransactions(self.dc()),
                unit.hasLittleMemory() ? LITTLE_PARTITION : PartitionConfig.Memory.DEFAULT,
                true,
                dc.links()),
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
    Seat seat =
        new Seat(
            toString(),
            new Witnessed(),
            store,
            journal,
            (to, frame) -> leave(() -> simulation.network().send(self, to, unit, frame)));
    this.agent = new PartitionAgent(seat, inbox, new DcTime(dc), Optional.empty(), false, () -> {});
    store.attach(() -> submit(new Input.Tick()));
    submit(new Input.Removed(removed));
    plan();
  }

  ReplicaId self() {
    return self;
  }

  Unit unit() {
    return unit;
  }

  ObjectStore store() {
    return store;
  }

  /** What an object covers here, without a look into the store. */
  CausalContext covered(ObjectId object) {
    return store.covered.getOrDefault(object, CausalContext.EMPTY);
  }

  /**
   * What an object covered when an answer was made that had seen this: an input may change it again
   * after the answer, such as one that lets two commands go on.
   */
  CausalContext covered(ObjectId object, VersionVector seen) {
    CausalContext now = covered(object);
    if (now.toVersionVector().isAtMost(seen)) {
      return now;
    }
    Iterator<CausalContext> former =
        store.former.getOrDefault(object, new ArrayDeque<>()).descendingIterator();
    while (former.hasNext()) {
      CausalContext before = former.next();
      if (before.toVersionVector().isAtMost(seen)) {
        return before;
      }
    }
    throw new Violation(
        name(object), "%s says that an answer has seen %s, and shows %s", self, seen, now);
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

  /** What another thread reads ahead is here some time later. */
  private void readLater(Runnable reading) {
    scheduler.in(
        READ_NANOS,
        () -> {
          if (isAlive()) {
            reading.run();
          }
        });
  }

  /** The way of this node's groups to its disk. */
  private GroupWriter writer() {
    return new GroupWriter() {
      @Override
      public void write(Group group) {
        List<Runnable> records = appended;
        appended = new ArrayList<>();
        List<Change> changes = new ArrayList<>(evicted);
        changes.addAll(group.changes());
        evicted.clear();
        dc.disk(unit)
            .write(changes, () -> records.forEach(Runnable::run), () -> group.written().run());
      }

      @Override
      public Runnable someTime(List<Change> changes) {
        // With the next group: what the cache evicts is chance, and must not change any time.
        return () -> evicted.addAll(changes);
      }
    };
  }

  // ---------------------------------------------------------------- inputs

  /** An input that is handled now, or with others later if the datacenter is slow. */
  void submit(Input input) {
    if (dc.isFull() && isRefusedWhenFull(input)) {
      return;
    }
    inbox.add(input);
    wake();
  }

  /** A client's command. */
  void command(Request request, ReplyListener listener) {
    if (dc.isFull() && isUpdate(request)) {
      listener.made(this, new Reply.Failure(ErrorCode.STORE_FULL, "the disk is full")).run();
      return;
    }
    Asked command = new Asked(listener);
    if (inbox.offer(request, command) != Inbox.Offer.TAKEN) {
      throw new Violation("", "%s takes no command", this);
    }
    offered.add(command);
    wake();
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
    try {
      do {
        var unused = agent.step();
        agent.takeTold().tell();
      } while (!inbox.isEmpty());
    } catch (IllegalStateException e) {
      throw e.getCause() instanceof Violation v ? v : e;
    }
    appended.forEach(Runnable::run); // without a journal they are as durable as they get
    appended.clear();
    plan();
  }

  /** What the shell does when the disk is full: updates are refused, and reads go on. */
  private boolean isRefusedWhenFull(Input input) {
    if (input instanceof Input.FromPeer f) {
      return f.frame() instanceof Frame.Updates || f.frame() instanceof Frame.States;
    }
    return false;
  }

  /** Checks what has become visible of an object. */
  private void check(ObjectId object, CausalContext before, Causal after) {
    simulation.checks(unit).changed(this, object, before, after.context());
    if (after.store() instanceof BoundedCounter counter
        && counter.isCreated()
        && (counter.value() < counter.lower() || counter.value() > counter.upper())) {
      throw new Violation(name(object), "%s leaves its bounds at %s: %s", object, self, counter);
    }
  }

  private static boolean isUpdate(Request request) {
    if (request instanceof Request.Repeat r) {
      return isUpdate(r.step());
    }
    return request instanceof Request.Write
        || (request instanceof Request.Transact t
            && ((t.end() == Request.End.COMMIT && t.begin().isEmpty()) || !t.updates().isEmpty()));
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

  private void traceArrival(Input.FromPeer from) {
    if (from.frame() instanceof Frame.Updates u) {
      for (Shipment s : u.shipments()) {
        simulation
            .trace()
            .about(
                unit,
                s.object(),
                "%s gets %s through %d, needs %s, from %s in %s %d:%d",
                self,
                s.content().isFull() ? "state" : "delta after " + s.predecessor(),
                s.last(),
                s.needs(),
                from.peer(),
                u.kind(),
                u.epoch(),
                u.sequence());
      }
    } else if (from.frame() instanceof Frame.States t) {
      for (Shipment s : t.shipments()) {
        simulation
            .trace()
            .about(unit, s.object(), "%s gets a healing state from %s", self, from.peer());
      }
    }
  }

  /** By what the trace knows an object. */
  String name(ObjectId object) {
    return unit + "/" + object;
  }

  // ---------------------------------------------------------------- outputs

  /** The partition, as the agent drives it, with a witness of what comes out. */
  private final class Witnessed implements Machine {
    private final Map<Long, Asked> asked = new HashMap<>();

    // What the inputs of a batch have brought so far.
    private List<Effects.Recorded> records = new ArrayList<>();
    private Optional<PartitionProgress> progress = Optional.empty();
    private List<Effects.Output> whenDurable = new ArrayList<>();
    private List<Effects.Report> atOnce = new ArrayList<>();

    @Override
    public void on(Input input, Now now) {
      if (input instanceof Input.Command c) {
        asked.put(c.ticket(), offered.remove());
      } else if (simulation.trace().keepsEvents() && input instanceof Input.FromPeer f) {
        traceArrival(f);
      }
      store.former.clear();
      partition.on(input, now);
      witness(partition.takeEffects()); // before the batch's next input changes what is answered
    }

    @Override
    public Effects takeEffects() {
      Effects batch = new Effects(records, progress, whenDurable, atOnce);
      records = new ArrayList<>();
      progress = Optional.empty();
      whenDurable = new ArrayList<>();
      atOnce = new ArrayList<>();
      return batch;
    }

    private void witness(Effects effects) {
      store.witness(effects.records());
      changed.forEach((object, before) -> check(object, before, store.get(object)));
      changed.clear();
      for (Effects.Output output : effects.whenDurable()) {
        switch (output) {
          case Effects.Answer a -> made(a);
          case Effects.Send s -> {
            if (s.frame() instanceof Frame.Updates u) {
              u.shipments().forEach(m -> simulation.checks(unit).sla().shipped(s.dc(), m));
            }
          }
        }
      }
      records.addAll(effects.records());
      progress = effects.progress().isPresent() ? effects.progress() : progress;
      whenDurable.addAll(effects.whenDurable());
      atOnce.addAll(effects.atOnce());
    }

    private void made(Effects.Answer answer) {
      Asked command = asked.remove(answer.ticket());
      if (command == null) {
        throw new Violation("", "%s answers what is not open: %s", SimNode.this, answer);
      }
      command.then = command.listener.made(SimNode.this, answer.reply());
    }

    @Override
    public long nextTickNanos() {
      return partition.nextTickNanos();
    }

    @Override
    public boolean isReady() {
      return partition.isReady();
    }

    @Override
    public boolean isDrained() {
      return partition.isDrained();
    }

    @Override
    public void handled(int shipments, long nanos) {
      partition.handled(shipments, shipments * SHIPMENT_NANOS);
    }
  }

  /** A command under way: who is told when its reply is made, and again when it may go. */
  private final class Asked implements Consumer<Reply> {
    private final ReplyListener listener;
    private Runnable then;

    Asked(ReplyListener listener) {
      this.listener = listener;
    }

    @Override
    public void accept(Reply reply) {
      leave(then);
    }
  }

  /** Whoever lets things go catches what they throw, so that others leave; here it ends the run. */
  private void leave(Runnable what) {
    try {
      what.run();
    } catch (RuntimeException e) {
      scheduler.fail(e);
    }
  }

  /** What it is doing. Changes nothing. */
  PartitionReport inspect() {
    Effects effects = partition.step(new Input.Inspect(0, unit.adaptation().topK()), dc.now());
    return effects.atOnce().getFirst().report();
  }

  /**
   * The store, with a witness of every change, who knows at any time what each object covers. The
   * store must say the same whenever it is asked.
   */
  private final class WatchedStore implements ObjectStore {
    private final ObjectStore memory;
    private final Map<ObjectId, CausalContext> covered = new HashMap<>();

    /** What the input in hand changed, in its order, and what each object covered before. */
    private final ArrayDeque<Covered> changes = new ArrayDeque<>();

    /** What each object covered before each of its changes by the input in hand. */
    private final Map<ObjectId, ArrayDeque<CausalContext>> former = new HashMap<>();

    private record Covered(ObjectId object, CausalContext before) {}

    private final Random coldness =
        new Random(Objects.hash(simulation.seed(), self.dc(), self.incarnation(), unit.number()));

    /** Whether objects are being read from the disk. */
    private boolean reading;

    /** Whether those that were asked for have come. */
    private boolean fetched;

    WatchedStore(ObjectStore memory) {
      this.memory = memory;
      for (Entry e : memory.scan(Optional.empty(), Integer.MAX_VALUE)) {
        covered.put(e.object(), e.state().context());
      }
    }

    private Causal witnessed(ObjectId object, Causal state) {
      CausalContext is = state == null ? CausalContext.EMPTY : state.context();
      CausalContext was = covered.getOrDefault(object, CausalContext.EMPTY);
      if (is != was && !is.equals(was)) {
        throw new Violation(
            name(object), "the store of %s holds %s of what covered %s", SimNode.this, is, was);
      }
      return state;
    }

    /** Every change must be recorded, in the order in which they were made. */
    void witness(List<Effects.Recorded> records) {
      for (Effects.Recorded record : records) {
        switch (record) {
          case Effects.Applied a -> {
            CausalContext before = before(a.update().object());
            appended.add(() -> simulation.checks(unit).appended(SimNode.this, a.update(), before));
          }
          case Effects.Forgotten f -> {
            before(f.object());
            appended.add(() -> simulation.checks(unit).once().forgotten(self, f.object()));
          }
          case Effects.Committed c -> {}
        }
      }
      if (!changes.isEmpty()) {
        ObjectId object = changes.element().object();
        throw new Violation(name(object), "%s changes %s without a record", SimNode.this, object);
      }
    }

    /** What the object covered before the next change, which must have been one of it. */
    private CausalContext before(ObjectId object) {
      Covered change = changes.poll();
      if (change == null || !object.equals(change.object())) {
        throw new Violation(
            name(object), "%s records %s, but changed %s", SimNode.this, object, change);
      }
      return change.before();
    }

    private void changed(ObjectId object, CausalContext before) {
      changes.add(new Covered(object, before));
      former.computeIfAbsent(object, o -> new ArrayDeque<>()).add(before);
    }

    @Override
    public void put(ObjectId object, Causal state) {
      Causal before = get(object);
      Causal spoiled = simulation.options().sabotage().stored(self, object, before, state);
      if (spoiled == null) {
        return;
      }
      memory.put(object, spoiled);
      covered.put(object, spoiled.context());
      CausalContext covering = before == null ? CausalContext.EMPTY : before.context();
      changed(object, covering);
      simulation.trace().about(unit, object, "%s now covers %s", self, spoiled.context());
      if (unit.isCausal()) {
        changed.putIfAbsent(object, covering); // visible together, when the input is done
      } else {
        check(object, covering, spoiled);
      }
    }

    @Override
    public Causal get(ObjectId object) {
      Causal state = simulation.options().sabotage().loaded(object, memory.get(object));
      return witnessed(object, state);
    }

    @Override
    public Causal getDurable(ObjectId object) {
      return memory.getDurable(object);
    }

    @Override
    public List<Causal> get(Key key) {
      return memory.get(key);
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      return memory.scan(after, limit);
    }

    @Override
    public void attach(Runnable wake) {
      memory.attach(wake);
    }

    @Override
    public Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
      return memory.page(after, limit, bytesMax);
    }

    /** Which objects the cache evicts is its own chance: what is cold is drawn by the seed here. */
    @Override
    public boolean areAtHand(List<ObjectId> objects) {
      if (reading || fetched || !dc.hasDisk() || coldness.nextInt(COLD_ONE_IN) > 0) {
        fetched = false;
        return !reading;
      }
      reading = true;
      readLater(
          () -> {
            reading = false;
            fetched = true;
            submit(new Input.Tick());
          });
      return false;
    }

    @Override
    public Optional<List<Causal>> durable(Key key) {
      return memory.durable(key);
    }

    @Override
    public boolean drop(ObjectId object) {
      CausalContext context = memory.get(object).context();
      if (!memory.drop(object)) {
        return false;
      }
      covered.remove(object);
      simulation.checks(unit).forgetting(object, context);
      simulation.trace().about(unit, object, "%s forgets it", self);
      changed(object, context);
      return true;
    }

    @Override
    public long forgotten() {
      return memory.forgotten();
    }

    @Override
    public List<Entry> scanDurable(Optional<ObjectId> after, int limit) {
      return memory.scanDurable(after, limit);
    }

    @Override
    public Map<TransactionId, Long> transactions() {
      return memory.transactions();
    }

    @Override
    public List<ObjectId> removed(Optional<ObjectId> after, int limit) {
      return memory.removed(after, limit);
    }

    @Override
    public List<Logged> logged(long after, int limit) {
      return memory.logged(after, limit);
    }

    @Override
    public long size() {
      return memory.size();
    }
  }
}
