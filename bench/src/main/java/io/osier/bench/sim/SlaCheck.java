package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimDisk;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Shipment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * No update is visible later than its SLA allows where the network allows it. The exact rule:
 *
 * <p>An update is watched at every datacenter to which its origin's link, and from which the link
 * back, have been connected and free of any fault from {@link #SETTLE_NANOS} before its commit
 * until its deadline, and where neither of the two datacenters was slow, down or started in that
 * time. (In {@code SETTLE_NANOS} a stream that was interrupted has measured its coordination time,
 * and mostly has caught up. Where large states are pulled that takes longer, and where a process
 * began with nothing: its time counts from when it serves commands. {@link FlowCheck} has bounds
 * for both.) Jumps and drift of clocks are no excuse.
 *
 * <p>The deadline is the commit plus the larger of δ and the longest time that a frame takes on
 * that link, plus {@link #SLACK_NANOS}. On links that take longer than half of δ it is up to half
 * of δ later: until the first rounds after a start have taught how long the way is, no more is set
 * aside. By then the object must cover the update's dot there.
 *
 * <p>In a causal keyspace an update depends on what its origin had seen when its cut was closed, of
 * whatever object and datacenter: there all links and all datacenters must be healthy. What it
 * depends on may come over the slowest link, after the update itself came over a faster one: by
 * that difference it may be late.
 *
 * <p>A causal keyspace with budgets of a handful of objects holds streams back when what waits for
 * its cut takes more than that: then, and for {@code SETTLE_NANOS} after, no bound holds at that
 * datacenter, for no keyspace, since they share the links' windows.
 *
 * <p>One excuse: where the object does not even cover what the origin had seen of it before the
 * update, or before a later one that it was joined with, because a third datacenter's update that
 * it builds on has not come over its own, faulty link, the state is fetched from the origin, after
 * a grace time, and again after a retry time: so much longer it may take, and the way there and
 * back for each of two fetches, for one from a datacenter is under way at a time. Each may bring a
 * large state, of which ranges and then entries are asked for: two more ways. Where programs write
 * several objects at once, these wait for each other's fetches, and there is no bound.
 */
public final class SlaCheck {
  /** How long a link must have been healthy. */
  static final long SETTLE_NANOS = 15 * SECOND;

  /** The granularity of ticks, and the origin's disk. */
  private static final long SLACK_NANOS = 5 * MILLI + SimDisk.DELAY_NANOS_MAX;

  /** The longest grace, and the retry time, of fetching what an update builds on. */
  private static final long FETCH_NANOS = 3_000 * MILLI;

  /** How often frames go there and back for two fetches. */
  private static final int FETCH_WAYS = 2 * 3;

  /**
   * The way of an update to a datacenter.
   *
   * @param heldBack how many frames had come there for which there was no room, when the update was
   *     made; -1 if there was none at that time
   */
  private record Watched(SimDc dc, ReplicaId as, SimLink there, SimLink back, long heldBack) {}

  private record Update(
      ObjectId object, ReplicaId origin, long number, CausalContext before, long madeNanos) {}

  /** Written out what is called for each update that is sent: see {@link #hashCode}. */
  private record Shipped(ReplicaId origin, String to, ObjectId object) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Shipped o
          && object.equals(o.object)
          && to.equals(o.to)
          && origin.equals(o.origin);
    }

    /** Without the second compiler a record's own takes several times as long. */
    @Override
    public int hashCode() {
      return (object.hashCode() * 31 + to.hashCode()) * 31 + origin.hashCode();
    }
  }

  private static final int SHIPPED_KEPT = 200;

  private final Simulation simulation;
  private final Unit unit;

  /** What the latest shipments of an object need, by their last commit number. */
  private final Map<Shipped, NavigableMap<Long, VersionVector>> needs = new HashMap<>();

  /** How often frames were not taken at a datacenter for lack of room, and since when so often. */
  private record HeldBack(long spent, long sinceNanos) {}

  private final Map<SimDc, HeldBack> heldBack = new HashMap<>();
  private long checked;
  private long excused;

  SlaCheck(Simulation simulation, Unit unit) {
    this.simulation = simulation;
    this.unit = unit;
  }

  /** How many times an update's visibility at a datacenter was checked. */
  long checked() {
    return checked;
  }

  /** How many of those had to fetch what they build on, or were held back. */
  long excused() {
    return excused;
  }

  /**
   * An update was made.
   *
   * @param madeNanos since when its caller may take it for done: now, or before
   */
  void made(SimNode at, ObjectId object, long number, CausalContext before, long madeNanos) {
    SimDc origin = simulation.dc(at.self().dc());
    if (origin.caughtUpSinceNanos() > madeNanos - SETTLE_NANOS) {
      return;
    }
    long ago = simulation.scheduler().nanos() - madeNanos;
    Update update = new Update(object, at.self(), number, before, madeNanos);
    for (SimDc dc : simulation.holders().of(unit)) {
      if (dc != origin) {
        Watched w =
            new Watched(
                dc,
                dc.self(),
                simulation.network().link(at.self().dc(), dc.self().dc()),
                simulation.network().link(dc.self().dc(), at.self().dc()),
                heldBack(dc));
        if (isHealthy(w, update)) {
          simulation
              .scheduler()
              .in(Math.max(0, boundNanos(w) - ago), () -> check(update, w, false));
        }
      }
    }
  }

  /**
   * See {@link Watched}. Of all keyspaces: what one that is held back has under way takes the
   * link's window, and the others' streams have their small reserves alone.
   */
  private long heldBack(SimDc dc) {
    long spent = 0;
    boolean full = false;
    for (SimNode node : dc.nodes()) {
      Unit other = node.unit();
      if (!other.isCausal() || !other.hasLittleMemory()) {
        continue;
      }
      for (Budget.Usage usage : node.memory()) {
        if (usage.name().equals("waiting")) {
          spent += usage.spent();
          full |= usage.used() > usage.limit();
        }
      }
    }
    long now = simulation.scheduler().nanos();
    HeldBack last = heldBack.getOrDefault(dc, new HeldBack(0, now - SETTLE_NANOS));
    if (full || last.spent != spent) {
      last = new HeldBack(spent, now);
    }
    heldBack.put(dc, last);
    // What was not taken is asked for again, which takes its time after there is room.
    return now - last.sinceNanos < SETTLE_NANOS ? -1 : spent;
  }

  private long boundNanos(Watched w) {
    long sla = unit.policy().sla().toNanos();
    long slowest = w.there.delayNanosMax();
    long bound = sla;
    if (unit.isCausal()) {
      slowest = links().stream().mapToLong(SimLink::delayNanosMax).max().orElseThrow();
      bound = sla + slowest - w.there.delayNanosMax();
    }
    long held = slowest > sla / 2 ? sla / 2 : 0;
    return Math.max(bound, slowest + held) + SLACK_NANOS;
  }

  private List<SimLink> links() {
    return simulation.network().links();
  }

  /** A datacenter sends another one an update, or the join of many. */
  public void shipped(String to, Shipment shipment) {
    NavigableMap<Long, VersionVector> of =
        needs.computeIfAbsent(
            new Shipped(shipment.origin(), to, shipment.object()), k -> new TreeMap<>());
    of.merge(shipment.last(), shipment.needs(), VersionVector::join);
    if (of.size() > SHIPPED_KEPT) {
      of.pollFirstEntry();
    }
  }

  private VersionVector needs(Update update, String to) {
    NavigableMap<Long, VersionVector> of =
        needs.getOrDefault(new Shipped(update.origin, to, update.object), new TreeMap<>());
    Map.Entry<Long, VersionVector> with = of.ceilingEntry(update.number);
    return with == null ? VersionVector.EMPTY : with.getValue();
  }

  private boolean isHealthy(Watched w, Update update) {
    long since = update.madeNanos - SETTLE_NANOS;
    if (unit.isCausal()
        && !(links().stream().allMatch(l -> l.healthySinceNanos() <= since)
            && simulation.dcs().stream().allMatch(dc -> dc.caughtUpSinceNanos() <= since))) {
      return false;
    }
    return caughtUpSinceNanos(update.origin.dc(), w.dc.self().dc()) <= update.madeNanos
        && w.there.healthySinceNanos() <= since
        && w.back.healthySinceNanos() <= since
        && w.dc.caughtUpSinceNanos() <= since
        && simulation.dc(update.origin.dc()).caughtUpSinceNanos() <= since;
  }

  /** Of the stream between two datacenters; in a causal keyspace, of all. */
  private long caughtUpSinceNanos(String from, String to) {
    FlowCheck flow = simulation.flow();
    long since = flow.caughtUpSinceNanos(from, to, unit);
    if (unit.isCausal()) {
      for (SimLink link : links()) {
        since = Math.max(since, flow.caughtUpSinceNanos(link.from, link.to, unit));
      }
    }
    return since;
  }

  private void check(Update update, Watched w, boolean excuse) {
    if (!isHealthy(w, update)) {
      return;
    }
    if (!w.dc.holds(unit)) {
      return; // any more
    }
    CausalContext shown = w.dc.node(unit).covered(update.object);
    CausalContext here = shown.join(simulation.checks(unit).forgotten(update.object));
    if (here.contains(update.origin, update.number)) {
      checked++;
    } else if (w.heldBack == -1 || heldBack(w.dc) != w.heldBack) {
      excused++;
    } else if (!excuse
        && !(simulation.checks(unit).covers(update.object, here, update.before)
            && needs(update, w.as.dc()).isAtMost(here.toVersionVector()))) {
      excused++;
      if (simulation.profile().has(Feature.PROGRAMS)) {
        return;
      }
      long more =
          FETCH_NANOS
              + FETCH_WAYS * (w.there.delayNanosMax() + w.back.delayNanosMax())
              + SLACK_NANOS;
      simulation.scheduler().in(more, () -> check(update, w, true));
    } else {
      throw late(update, w, here);
    }
  }

  private Violation late(Update update, Watched w, CausalContext here) {
    return new Violation(
        unit + "/" + update.object,
        "%s:%d of %s, made at %.6f s, is not visible at %s after %d ms (SLA %d ms, %s); it covers"
            + " %s, the origin had covered %s",
        update.origin,
        update.number,
        update.object,
        update.madeNanos / 1e9,
        w.as,
        (simulation.scheduler().nanos() - update.madeNanos) / MILLI,
        unit.policy().sla().toMillis(),
        unit.policy().propagation(),
        here,
        update.before);
  }
}
