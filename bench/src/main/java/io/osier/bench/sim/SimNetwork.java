package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.MILLI;
import static io.osier.bench.sim.Scheduler.SECOND;

import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.Input;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * The links between the datacenters, one for each way: short or long, wide or narrow, as the seed
 * draws them. Every frame is encoded, takes its turn on the link, is delayed, and decoded. While a
 * connection lives its frames arrive in order, unless a fault reorders them. A lost connection
 * takes what is under way with it; its sender notices at once or later, and opens another one after
 * that.
 */
final class SimNetwork {
  /** How long a side may take to notice that a link is gone. */
  private static final int NOTICE_MILLIS_MAX = 5_000;

  /** How long opening another connection takes. */
  private static final int RECONNECT_MILLIS_MAX = 2_000;

  private static final int OVERTAKE_MILLIS_MAX = 200;
  private static final int LOST = 2;
  private static final int SHORT_MILLIS_MIN = 5;
  private static final int SHORT_MILLIS_MAX = 80;
  private static final int LONG_MILLIS_MAX = 500;

  /**
   * What narrow links carry, in bytes a second: 1 Mbit/s, and much less, since load and windows are
   * smaller here than in production by a factor of about a hundred. The narrowest carries just the
   * load of most seeds.
   */
  private static final int NARROW_BYTES_MIN = 4_000;

  private static final int NARROW_BYTES_MAX = 125_000;

  /** A link on which frames wait for longer is busy: no bound holds for what comes behind them. */
  private static final long BUSY_NANOS = 100 * MILLI;

  /** A frame that waits for its turn. */
  private record Unsent(int bytes, Runnable leaves) {}

  /** One way from one datacenter to another. */
  static final class Link {
    final String from;
    final String to;
    final long delayNanos;
    final long jitterNanos;

    /** What it carries; 0 for any amount. */
    private final long bytesPerSecond;

    /** Instead, while a fault lasts; 0 for none. */
    private long squeezedBytesPerSecond;

    /** What waits for its turn, the first of it on its way into the link. */
    private final ArrayDeque<Unsent> queue = new ArrayDeque<>();

    private long queuedBytes;

    /** Counts how often the first in the queue was begun, anew where the width has changed. */
    private long begun;

    private int cuts;
    private boolean up;

    /**
     * Grows by one with each connection, and by {@link #LOST} with the loss of all that was under
     * way: otherwise what is left of the connection before may still come, if ghosts are allowed.
     */
    private long connection;

    /** The sender has been told of the connection and not yet that it is gone. */
    private boolean known;

    private long lastArrivalNanos;
    private double loss;
    private double duplicates;
    private int reorderings;
    private long extraDelayNanos;
    private long changedNanos;

    private Link(String from, String to, long delayNanos, long jitterNanos, long bytesPerSecond) {
      this.bytesPerSecond = bytesPerSecond;
      this.from = from;
      this.to = to;
      this.delayNanos = delayNanos;
      this.jitterNanos = jitterNanos;
    }

    private boolean isHealthy() {
      return up
          && loss == 0
          && duplicates == 0
          && reorderings == 0
          && extraDelayNanos == 0
          && squeezedBytesPerSecond == 0;
    }

    /** Bytes a second at present; 0 for any amount. */
    private long carries() {
      return squeezedBytesPerSecond > 0 ? squeezedBytesPerSecond : bytesPerSecond;
    }

    private long backlogNanos() {
      return carries() == 0 ? 0 : queuedBytes * SECOND / carries();
    }

    @Override
    public String toString() {
      return from + ">" + to;
    }

    private String inWords() {
      String width = bytesPerSecond == 0 ? "wide" : bytesPerSecond + " B/s";
      return this
          + ": "
          + delayNanos / MILLI
          + " to "
          + (delayNanos + jitterNanos) / MILLI
          + " ms, "
          + width;
    }
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final Sabotage sabotage;
  private final Random random;
  private final boolean ghosts;
  private final int narrowBytesMin;
  private final Map<String, Link> links = new TreeMap<>();
  private final Map<Integer, Long> bytesOf = new HashMap<>();
  private long backlogNanosMax;

  /**
   * A network without links.
   *
   * @param ghosts whether frames of a lost connection may come after all
   * @param largeValues whether the load needs wider links
   */
  SimNetwork(
      Simulation simulation,
      Sabotage sabotage,
      Random random,
      boolean ghosts,
      boolean largeValues) {
    this.narrowBytesMin = largeValues ? NARROW_BYTES_MAX : NARROW_BYTES_MIN;
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.sabotage = sabotage;
    this.random = random;
    this.ghosts = ghosts;
  }

  void addLink(String from, String to) {
    int span = SHORT_MILLIS_MAX - SHORT_MILLIS_MIN;
    long delay = (SHORT_MILLIS_MIN + random.nextInt(span)) * MILLI;
    long jitter = random.nextInt(10) * MILLI;
    if (random.nextInt(4) == 0) {
      delay = (SHORT_MILLIS_MAX + random.nextInt(LONG_MILLIS_MAX - SHORT_MILLIS_MAX)) * MILLI;
    }
    long bytes = random.nextInt(4) == 0 ? narrow() : 0;
    Link link = new Link(from, to, delay, jitter, bytes);
    links.put(from + ">" + to, link);
    simulation.trace().note("link %s", link.inWords());
  }

  /** A bandwidth of a narrow link, the smaller ones as often as the larger ones. */
  private long narrow() {
    double share = random.nextDouble();
    return (long) (narrowBytesMin * Math.pow((double) NARROW_BYTES_MAX / narrowBytesMin, share));
  }

  Link link(String from, String to) {
    return links.get(from + ">" + to);
  }

  /** All links, in a fixed order. */
  List<Link> links() {
    return List.copyOf(links.values());
  }

  /** The longest that a frame takes on a healthy link. */
  static long delayNanosMax(Link link) {
    return link.delayNanos + link.jitterNanos + (link.bytesPerSecond > 0 ? BUSY_NANOS : 0);
  }

  /**
   * Whether a bound can be kept from the first moment on, when half of it is set aside for a way
   * that has not been measured yet, and a tenth for what else may be late: an update may depend on
   * another one that a third datacenter got earlier than it comes here itself.
   */
  boolean allows(long slaNanos) {
    return backlogNanosMax < BUSY_NANOS
        && links.values().stream()
            .allMatch(l -> delayNanosMax(l) <= slaNanos / 2 && overtaking(l) <= slaNanos / 10);
  }

  /** By how much a frame over another datacenter can come earlier than one over this link. */
  private long overtaking(Link link) {
    long most = 0;
    for (Link first : links.values()) {
      Link second = links.get(first.to + ">" + link.to);
      if (first.from.equals(link.from) && second != null) {
        most = Math.max(most, delayNanosMax(link) - first.delayNanos - second.delayNanos);
      }
    }
    return most;
  }

  /** The longest that anything has waited for its turn on a link. */
  long backlogNanosMax() {
    return backlogNanosMax;
  }

  /**
   * Since when the link has been connected, not busy, and without any fault; a time to come, or
   * Long.MAX_VALUE, if it is not.
   */
  static long healthySinceNanos(Link link) {
    return link.isHealthy() ? link.changedNanos : Long.MAX_VALUE;
  }

  // ---------------------------------------------------------------- connections

  void connectAll() {
    links.values().forEach(this::connect);
  }

  private void connect(Link link) {
    SimDc from = simulation.dc(link.from);
    SimDc to = simulation.dc(link.to);
    if (link.cuts > 0 || link.up || link.known || !from.isUp() || !to.isUp()) {
      return;
    }
    link.up = true;
    link.known = true;
    link.connection++;
    link.changedNanos = scheduler.nanos();
    simulation.trace().note("%s is connected to %s", link.from, to.self());
    from.submitToAll(new Input.PeerUp(to.self()));
  }

  private void lose(Link link) {
    if (!link.up) {
      return;
    }
    link.up = false;
    dropQueue(link);
    if (!ghosts || random.nextBoolean()) {
      link.connection += LOST;
    }
    link.changedNanos = scheduler.nanos();
    long notice = random.nextBoolean() ? 0 : random.nextInt(NOTICE_MILLIS_MAX) * MILLI;
    scheduler.in(
        notice,
        () -> {
          if (link.known && !link.up) {
            link.known = false;
            SimDc from = simulation.dc(link.from);
            simulation.trace().note("%s sees that %s is gone", link.from, link.to);
            if (from.isUp()) {
              from.submitToAll(new Input.PeerDown(link.to));
            }
          }
          reconnectLater(link);
        });
  }

  private static void dropQueue(Link link) {
    link.queue.clear();
    link.queuedBytes = 0;
  }

  private void reconnectLater(Link link) {
    scheduler.in((10 + random.nextInt(RECONNECT_MILLIS_MAX)) * MILLI, () -> connect(link));
  }

  void cut(Link link) {
    link.cuts++;
    lose(link);
  }

  void heal(Link link) {
    link.cuts--;
    reconnectLater(link);
  }

  /** Breaks a connection; it is opened again. */
  void flap(Link link) {
    lose(link);
  }

  /** Loses all connections of a datacenter that crashes. */
  void crashed(String dc) {
    for (Link link : links.values()) {
      if (link.from.equals(dc)) {
        link.up = false;
        link.known = false;
        dropQueue(link);
        link.connection += LOST;
        link.changedNanos = scheduler.nanos();
      } else if (link.to.equals(dc)) {
        link.connection += LOST;
        lose(link);
      }
    }
  }

  /** Connects a datacenter that has started again. */
  void restarted(String dc) {
    for (Link link : links.values()) {
      if (link.from.equals(dc) || link.to.equals(dc)) {
        reconnectLater(link);
      }
    }
  }

  // ---------------------------------------------------------------- faults of a connection

  void setLoss(Link link, double probability) {
    link.loss = probability;
    link.changedNanos = scheduler.nanos();
  }

  void setDuplicates(Link link, double probability) {
    link.duplicates = probability;
    link.changedNanos = scheduler.nanos();
  }

  void reorder(Link link, boolean begin) {
    link.reorderings += begin ? 1 : -1;
    link.changedNanos = scheduler.nanos();
  }

  void setExtraDelay(Link link, long nanos) {
    link.extraDelayNanos = nanos;
    link.changedNanos = scheduler.nanos();
  }

  /** Narrows a link; 0 bytes a second end it. */
  void squeeze(Link link, long bytesPerSecond) {
    link.squeezedBytesPerSecond = bytesPerSecond;
    link.changedNanos = scheduler.nanos();
    if (!link.queue.isEmpty()) {
      leaveInTurn(link); // what is on its way into the link goes at the new width, too
    }
  }

  // ---------------------------------------------------------------- frames

  /** The bytes of all frames of a unit. */
  long bytes(Unit unit) {
    return bytesOf.getOrDefault(unit.number(), 0L);
  }

  void send(ReplicaId from, String to, Unit unit, Frame frame) {
    Link link = link(from.dc(), to);
    if (!link.up || (link.loss > 0 && random.nextDouble() < link.loss)) {
      return;
    }
    byte[] bytes = FrameCodec.encode(from, frame);
    FrameCheck.check(from, to, frame, bytes.length);
    simulation.trace().hash(bytes);
    bytesOf.merge(unit.number(), (long) bytes.length, Long::sum);
    deliver(link, from, unit, bytes, sabotage.extraDelayNanos(frame));
    if (link.duplicates > 0 && random.nextDouble() < link.duplicates) {
      deliver(link, from, unit, bytes, 0);
    }
  }

  private void deliver(Link link, ReplicaId from, Unit unit, byte[] bytes, long extraNanos) {
    if (link.carries() == 0 && link.queue.isEmpty()) {
      travel(link, from, unit, bytes, extraNanos);
      return;
    }
    link.queue.add(new Unsent(bytes.length, () -> travel(link, from, unit, bytes, extraNanos)));
    link.queuedBytes += bytes.length;
    noteBacklog(link);
    if (link.queue.size() == 1) {
      leaveInTurn(link);
    }
  }

  private void noteBacklog(Link link) {
    long backlog = link.backlogNanos();
    backlogNanosMax = Math.max(backlogNanosMax, backlog);
    if (backlog > BUSY_NANOS) {
      link.changedNanos = scheduler.nanos();
    }
  }

  /** Lets the first in the queue leave, and then the next, as fast as the link is by then. */
  private void leaveInTurn(Link link) {
    Unsent first = link.queue.peek();
    long begun = ++link.begun;
    long takes = link.carries() == 0 ? 0 : first.bytes * SECOND / link.carries();
    scheduler.in(
        takes,
        () -> {
          if (link.begun != begun || link.queue.peek() != first) {
            return; // it was begun anew, or the connection was lost, and the queue with it
          }
          link.queue.remove();
          link.queuedBytes -= first.bytes;
          noteBacklog(link);
          first.leaves.run();
          if (!link.queue.isEmpty()) {
            leaveInTurn(link);
          }
        });
  }

  private void travel(Link link, ReplicaId from, Unit unit, byte[] bytes, long extraNanos) {
    long now = scheduler.nanos();
    long jitter = link.jitterNanos == 0 ? 0 : (long) (random.nextDouble() * link.jitterNanos);
    long arrival = now + link.delayNanos + jitter + link.extraDelayNanos + extraNanos;
    if (link.reorderings > 0 && random.nextInt(4) == 0) {
      arrival += random.nextInt(OVERTAKE_MILLIS_MAX) * MILLI;
    } else if (link.reorderings == 0) {
      arrival = Math.max(arrival, link.lastArrivalNanos);
      link.lastArrivalNanos = arrival;
    }
    long connection = link.connection;
    scheduler.in(
        arrival - now,
        () -> {
          SimDc to = simulation.dc(link.to);
          if (link.connection - connection < (ghosts ? LOST : 1) && to.isUp()) {
            Frame frame = sabotage.frame(link.to, FrameCodec.decode(from, bytes));
            to.node(unit).received(new Input.FromPeer(from, frame));
          }
        });
  }

  /** The links that are not up. */
  List<Link> down() {
    List<Link> down = new ArrayList<>(links.values());
    down.removeIf(l -> l.up);
    return down;
  }
}
