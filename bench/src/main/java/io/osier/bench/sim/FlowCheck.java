package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.SimNetwork;
import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.SharedWindows;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import io.osier.propagation.wire.Shipment;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Flow control of the links, from what was sent and what was acknowledged: what all partitions have
 * under way to a peer is at most the link's window, beside a small share for each stream (the last
 * frame may go beyond either); what the windows count is what the streams have under way, always,
 * so that nothing is held for ever; and a partition that has something for a peer gets it there in
 * a bounded time, whatever the other partitions have.
 */
public final class FlowCheck {
  /** Within this time a round leaves, and a stream that was interrupted goes on. */
  private static final long GRANTED_NANOS = 30 * SECOND;

  /** Within this time a connection that hangs is noticed, and another one is dialled. */
  private static final long DIALLED_NANOS = 60 * SECOND;

  /**
   * In this time a process that has begun with nothing has all that the others had, and a stream
   * has caught up: each large state that is pulled takes a few ways there and back.
   */
  private static final long CAUGHT_UP_NANOS = 90 * SECOND;

  /** How a stream that has caught up is reported. */
  private static final String STREAMING = "streaming";

  /** One part of so many of the window is a stream's own. */
  private static final int OWN_SHARE = 16;

  private final Scheduler scheduler;
  private final SimNetwork network;
  private final List<Unit> units;
  private final Map<String, SimDc> dcs;
  private final SimHolders holders;
  private final long windowBytes;
  private final long objectBytesMax;
  private final IdentityHashMap<SimLink, Map<Integer, SentStream>> streams =
      new IdentityHashMap<>();
  private long mostBytes;
  private long full;

  /**
   * Makes the check of links that have carried nothing yet.
   *
   * @param windowBytes what the streams to one peer may have under way
   * @param objectBytesMax the largest that an object is when it is sent, about
   */
  FlowCheck(
      Scheduler scheduler,
      SimNetwork network,
      List<Unit> units,
      Map<String, SimDc> dcs,
      SimHolders holders,
      long windowBytes,
      long objectBytesMax) {
    this.scheduler = scheduler;
    this.network = network;
    this.units = units;
    this.dcs = dcs;
    this.holders = holders;
    this.windowBytes = windowBytes;
    this.objectBytesMax = objectBytesMax;
  }

  /** The most that was under way to one peer, in bytes. */
  long mostBytes() {
    return mostBytes;
  }

  /** How often a link's window was spent when something was sent. */
  long full() {
    return full;
  }

  private SentStream stream(String from, String to, Unit unit) {
    return streams
        .computeIfAbsent(network.link(from, to), link -> new HashMap<>())
        .computeIfAbsent(unit.number(), number -> new SentStream());
  }

  /** A partition has sent a frame. */
  public void sent(SimDc dc, String to, Unit unit, Frame frame) {
    if (!(frame instanceof Frame.Updates u)) {
      return;
    }
    SentStream stream = stream(dc.self().dc(), to, unit);
    // The first frame begins a stream: one that came in a receiver's place may count the same
    // epochs.
    if (u.epoch() != stream.epoch || u.sequence() == 1 || !dc.self().equals(stream.from)) {
      stream.begin(dc.self(), u.epoch());
    }
    long bytes = 0;
    for (Shipment s : u.shipments()) {
      bytes += FrameCodec.sizeOf(dc.replica(unit), s);
    }
    if (bytes == 0) {
      return;
    }
    if (stream.bytes >= windowBytes) {
      throw beyond(dc, unit, to, stream.bytes, dc.links().inFlightBytes().getOrDefault(to, 0L));
    }
    stream.unacknowledged.add(new SentStream.Sent(u.sequence(), bytes));
    stream.bytes += bytes;
  }

  /** Notes how much is under way to a peer, after more was sent. */
  private void note(SimDc dc, String to) {
    long underWay = dc.links().inFlightBytes().getOrDefault(to, 0L);
    mostBytes = Math.max(mostBytes, underWay);
    full += underWay >= windowBytes ? 1 : 0;
    if (underWay >= windowBytes / 2) {
      // Soon nothing goes before something was acknowledged: no bound holds for what waits.
      network.link(dc.self().dc(), to).isFull();
    }
  }

  private Violation beyond(SimDc dc, Unit unit, String to, long own, long all) {
    return new Violation(
        "",
        "%s/%s sends %s more with %d bytes under way, and %d of all partitions: the window has %d"
            + " bytes",
        dc.self(),
        unit,
        to,
        own,
        all,
        windowBytes);
  }

  /**
   * A datacenter's windows, as the streams of a unit see them: with a witness of what they take.
   */
  public LinkWindows witnessed(SimDc dc, Unit unit) {
    SharedWindows windows = dc.links();
    return to -> new Witnessed(dc, unit, to, windows.window(to));
  }

  private final class Witnessed implements LinkWindow {
    private final SimDc dc;
    private final Unit unit;
    private final String to;
    private final LinkWindow window;
    private long own;

    Witnessed(SimDc dc, Unit unit, String to, LinkWindow window) {
      this.dc = dc;
      this.unit = unit;
      this.to = to;
      this.window = window;
    }

    @Override
    public boolean isOpen() {
      return window.isOpen();
    }

    @Override
    public void take(long bytes) {
      if (bytes > 0
          && (own >= windowBytes || (own >= windowBytes / OWN_SHARE && !window.isOpen()))) {
        throw beyond(dc, unit, to, own, dc.links().inFlightBytes().getOrDefault(to, 0L));
      }
      own += bytes;
      window.take(bytes);
      note(dc, to);
    }

    @Override
    public void give(long bytes) {
      own -= bytes;
      window.give(bytes);
    }
  }

  /** A datacenter gets a frame. */
  public void received(SimDc dc, ReplicaId from, Unit unit, Frame frame) {
    if (!(frame instanceof Frame.Ack ack)) {
      return;
    }
    SentStream stream = stream(dc.self().dc(), from.dc(), unit);
    if (ack.epoch() != stream.epoch || !dc.self().equals(stream.from)) {
      return;
    }
    while (!stream.unacknowledged.isEmpty()
        && stream.unacknowledged.peek().sequence() <= ack.sequence()) {
      stream.bytes -= stream.unacknowledged.remove().bytes();
      stream.movedNanos = scheduler.nanos();
    }
  }

  /**
   * Nothing can be sent to a peer any more, and what was under way is not waited for. A process
   * that comes back after a crash may have its former name, and the peer may be a new process,
   * which numbers its epochs from the beginning: name and epoch do not tell the lives apart.
   */
  public void down(SimDc dc, String to) {
    parted(dc, to, unit -> true);
  }

  /** The same of some units alone. */
  public void parted(SimDc dc, String to, Predicate<Unit> which) {
    for (Unit unit : units.stream().filter(which).toList()) {
      SentStream stream = stream(dc.self().dc(), to, unit);
      stream.begin(dc.self(), 0);
      stream.caughtUpNanos = Long.MAX_VALUE;
    }
  }

  /**
   * Since when a stream is known to have caught up since its link came up; Long.MAX_VALUE if it has
   * not. What it lost when it began anew later it makes good beside its updates.
   */
  long caughtUpSinceNanos(String from, String to, Unit unit) {
    return stream(from, to, unit).caughtUpNanos;
  }

  // ---------------------------------------------------------------- now and then

  /** Looks at a datacenter's links, by what its partitions report. */
  void look(SimDc dc, Map<Unit, PartitionReport> reports) {
    Map<String, Long> counted = dc.links().inFlightBytes();
    Map<String, Long> underWay = new HashMap<>();
    reports.forEach(
        (unit, report) -> {
          checkCaughtUp(dc, unit);
          for (PartitionReport.Peer p : report.peers()) {
            checkDialled(dc, p.dc());
            underWay.merge(p.dc(), p.to().inFlightBytes(), Long::sum);
            checkProgress(dc, unit, p);
          }
        });
    underWay.forEach(
        (to, bytes) -> {
          if (counted.getOrDefault(to, 0L).longValue() != bytes) {
            throw new Violation(
                "",
                "the window of %s to %s counts %d bytes, and its streams have %d under way",
                dc.self(),
                to,
                counted.getOrDefault(to, 0L),
                bytes);
          }
        });
  }

  /** A peer that can be reached is dialled again and again until it is. */
  private void checkDialled(SimDc dc, String peer) {
    SimDc other = requireNonNull(dcs.get(peer), peer);
    SimLink link = network.link(dc.self().dc(), peer);
    long since =
        Math.max(link.downSinceNanos(), Math.max(servedSinceNanos(dc), servedSinceNanos(other)));
    long now = scheduler.nanos();
    if (since != Long.MAX_VALUE && now - since > DIALLED_NANOS) {
      throw new Violation(
          "", "%s could be connected for %d s, and is not", link, (now - since) / SECOND);
    }
  }

  private static long servedSinceNanos(SimDc dc) {
    SimSockets sockets = dc.sockets();
    return sockets == null
        ? Long.MAX_VALUE
        : Math.max(dc.steadySinceNanos(), sockets.servedSinceNanos());
  }

  private void checkCaughtUp(SimDc dc, Unit unit) {
    if (dc.node(unit).isReady() || (unit.hasLittleMemory() && unit.isCausal())) {
      return;
    }
    long since = Long.MIN_VALUE;
    long queues = 0;
    for (SimDc other : holders.of(unit)) {
      since = Math.max(since, other.steadySinceNanos());
      if (other != dc) {
        SimLink there = network.link(dc.self().dc(), other.self().dc());
        SimLink back = network.link(other.self().dc(), dc.self().dc());
        since = Math.max(since, Math.max(there.freeSinceNanos(), back.freeSinceNanos()));
        queues += queueNanos(there) + queueNanos(back);
      }
    }
    long now = scheduler.nanos();
    if (since != Long.MAX_VALUE && now - since > CAUGHT_UP_NANOS + queues) {
      throw new Violation(
          "",
          "%s/%s could have caught up for %d s, and has not",
          dc.self(),
          unit,
          (now - since) / SECOND);
    }
  }

  private void checkProgress(SimDc dc, Unit unit, PartitionReport.Peer peer) {
    SentStream stream = stream(dc.self().dc(), peer.dc(), unit);
    long now = scheduler.nanos();
    if (peer.stream().equals(STREAMING)) {
      stream.caughtUpNanos = Math.min(stream.caughtUpNanos, now);
    }
    SimLink there = network.link(dc.self().dc(), peer.dc());
    SimLink back = network.link(peer.dc(), dc.self().dc());
    SimDc other = requireNonNull(dcs.get(peer.dc()), peer.dc());
    long healthy =
        Math.max(
            Math.max(there.freeSinceNanos(), back.freeSinceNanos()),
            Math.max(dc.steadySinceNanos(), other.steadySinceNanos()));
    if (peer.to().lagUpdates() == 0 && peer.to().inFlightBytes() == 0) {
      stream.movedNanos = now;
    }
    if (healthy == Long.MAX_VALUE || (unit.hasLittleMemory() && unit.isCausal())) {
      return; // the peer may hold the stream back on purpose
    }
    // A window that holds no whole state lets through less than clients may write.
    boolean mayNeverCatchUp = objectBytesMax > windowBytes;
    long roomy = mayNeverCatchUp ? Math.max(healthy, there.healthySinceNanos()) : healthy;
    if (stream.caughtUpNanos == Long.MAX_VALUE
        && now - roomy > CAUGHT_UP_NANOS + queueNanos(there) + queueNanos(back)) {
      throw new Violation(
          "",
          "%s/%s could have caught %s up for %d s, and has not: %s",
          dc.self(),
          unit,
          peer.dc(),
          (now - roomy) / SECOND,
          peer);
    }
    long since = Math.max(stream.movedNanos, healthy);
    if (now - since > GRANTED_NANOS + queueNanos(there) + queueNanos(back)) {
      throw new Violation(
          "",
          "%s/%s has %d updates and %d bytes under way for %s, of which nothing was acknowledged"
              + " for %d s: %s",
          dc.self(),
          unit,
          peer.to().lagUpdates(),
          peer.to().inFlightBytes(),
          peer.dc(),
          (now - since) / SECOND,
          peer);
    }
  }

  /** How long a frame may wait behind what the others have under way. */
  private long queueNanos(SimLink link) {
    return link.bytesPerSecond() == 0
        ? 0
        : (3L * windowBytes / 2 + objectBytesMax) * SECOND / link.bytesPerSecond();
  }

  private static PeerTransport transport(SimDc dc) {
    return requireNonNull(dc.transport(), "it has been started");
  }

  /** Whether nothing waits to leave a datacenter. */
  static boolean isEmpty(SimDc dc) {
    return transport(dc).buffered().values().stream().allMatch(bytes -> bytes == 0);
  }

  /** At the end nothing is under way, and nothing waits to leave. */
  void ended(SimDc dc) {
    dc.links()
        .inFlightBytes()
        .forEach((to, bytes) -> require(bytes == 0, dc, to, bytes, "in its window"));
    transport(dc)
        .buffered()
        .forEach((to, bytes) -> require(bytes == 0, dc, to, bytes, "that have not left"));
  }

  private static void require(boolean holds, SimDc dc, String to, long bytes, String where) {
    if (!holds) {
      throw new Violation(
          "", "at the end %s holds %d bytes for %s %s", dc.self(), bytes, to, where);
    }
  }
}
