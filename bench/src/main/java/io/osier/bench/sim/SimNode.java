package io.osier.bench.sim;

import io.osier.core.CausalContext;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.Causal;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Outbox;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.PartitionConfig;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.MemoryStore;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Frame;
import io.osier.propagation.ObjectId;
import io.osier.propagation.Shipment;
import io.osier.propagation.StreamSettings;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One partition at one datacenter, from its start to its crash: the shell that the server is in
 * production. Inputs are handled in the order in which they come, late if the datacenter is slow.
 */
final class SimNode implements Outbox {
  /** Small frames, so that catching up and healing take many. */
  private static final StreamSettings STREAMS =
      new StreamSettings(64 << 10, 2 << 10, 1_000, 200, 1_000);

  /** More ticks than this at one time are a machine that cannot stop. */
  private static final int TICKS_AT_ONCE_MAX = 10_000;

  /** Hears of the reply to a command, at the time when it is made. */
  interface ReplyListener {
    void replied(SimNode at, Reply reply);
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimDc dc;
  private final ReplicaId self;
  private final Unit unit;
  private final WatchedStore store = new WatchedStore();
  private final Partition partition;
  private final Map<Long, ReplyListener> asked = new HashMap<>();
  private PartitionReport report;
  private long plannedNanos = Long.MAX_VALUE;
  private long queuedUntilNanos;
  private int queued;
  private long tickNanos;
  private int ticks;

  SimNode(Simulation simulation, SimDc dc, Unit unit) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.dc = dc;
    this.self = dc.self();
    this.unit = unit;
    this.partition =
        new Partition(
            new PartitionConfig(
                self,
                simulation.peersOf(self.dc()),
                unit.policy(),
                unit.partition(),
                STREAMS,
                unit.adaptation()),
            store,
            dc.now());
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

  @Override
  public String toString() {
    return self + "/" + unit;
  }

  /** Whether this is still its datacenter's node: it is not after a crash. */
  boolean isAlive() {
    return dc.isUp() && dc.self().equals(self);
  }

  // ---------------------------------------------------------------- inputs

  /** An input that is handled now, or later if the datacenter is slow. */
  void submit(Input input) {
    long at = Math.max(scheduler.nanos() + dc.slowNanos(), queuedUntilNanos);
    if (queued == 0 && at == scheduler.nanos()) {
      handle(input);
      return;
    }
    queuedUntilNanos = at;
    queued++;
    scheduler.in(
        at - scheduler.nanos(),
        () -> {
          queued--;
          if (isAlive()) {
            handle(input);
          }
        });
  }

  void command(long ticket, Request request, ReplyListener listener) {
    asked.put(ticket, listener);
    submit(new Input.Command(ticket, request));
  }

  private void handle(Input input) {
    if (input instanceof Input.FromPeer f) {
      traceArrival(f);
    }
    partition.on(input, dc.now(), this);
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
    submit(new Input.Tick());
  }

  private void traceArrival(Input.FromPeer from) {
    if (from.frame() instanceof Frame.Updates u) {
      for (Shipment s : u.shipments()) {
        simulation
            .trace()
            .about(
                name(s.object()),
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
            .about(name(s.object()), "%s gets a healing state from %s", self, from.peer());
      }
    }
  }

  /** By what the trace knows an object. */
  String name(ObjectId object) {
    return unit + "/" + object;
  }

  // ---------------------------------------------------------------- outputs

  @Override
  public void reply(long ticket, Reply reply) {
    ReplyListener listener = asked.remove(ticket);
    if (listener == null) {
      throw new Violation("", "%s answers ticket %d, which is not open: %s", this, ticket, reply);
    }
    listener.replied(this, reply);
  }

  @Override
  public void send(String to, Frame frame) {
    if (frame instanceof Frame.Updates u) {
      u.shipments().forEach(simulation.checks(unit).sla()::shipped);
    }
    simulation.network().send(self, to, unit, frame);
  }

  @Override
  public void report(long ticket, PartitionReport made) {
    report = made;
  }

  @Override
  public void append(Shipment update) {
    simulation.checks(unit).appended(this, update, store.before(update.object()));
  }

  /** What it is doing. Changes nothing. */
  PartitionReport inspect() {
    partition.on(new Input.Inspect(0, unit.adaptation().topK()), dc.now(), this);
    return report;
  }

  /** The store, with a witness of every change. */
  private final class WatchedStore implements ObjectStore {
    private final MemoryStore memory = new MemoryStore();
    private ObjectId last;
    private CausalContext beforeLast;

    /** What the object covered before the last change, which must have been one of it. */
    CausalContext before(ObjectId object) {
      if (!object.equals(last)) {
        throw new Violation(
            name(object), "%s journals %s, but changed %s last", SimNode.this, object, last);
      }
      return beforeLast;
    }

    @Override
    public void put(ObjectId object, Causal state) {
      Causal before = memory.get(object);
      Causal spoiled = simulation.options().sabotage().stored(self, object, before, state);
      if (spoiled == null) {
        return;
      }
      memory.put(object, spoiled);
      last = object;
      beforeLast = before == null ? CausalContext.EMPTY : before.context();
      simulation.trace().about(name(object), "%s now covers %s", self, spoiled.context());
      simulation.checks(unit).changed(SimNode.this, object, beforeLast, spoiled.context());
    }

    @Override
    public Causal get(ObjectId object) {
      return memory.get(object);
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
    public long size() {
      return memory.size();
    }
  }
}
