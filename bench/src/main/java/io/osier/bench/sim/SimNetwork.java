package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.MILLI;
import static io.osier.bench.sim.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.Input;
import io.osier.propagation.transport.PeerTransport;
import io.osier.propagation.transport.Traffic;
import io.osier.propagation.wire.Frame;
import java.net.ConnectException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The links between the datacenters, one for each way: short or long, wide or narrow, as the seed
 * draws them. Production's transport dials and greets over them, encodes, and gives up what is
 * silent; here is what TCP is to it ({@link SimConnection}). A link that is cut resets its
 * connection or goes dark: that is for the transport to notice. Faults of single frames (loss,
 * duplicates, order) are made behind the transport, where frames are handed to their partitions.
 */
final class SimNetwork {
  /** How long a side may take to notice that a link is gone. */
  private static final int NOTICE_MILLIS_MAX = 5_000;

  private static final int OVERTAKE_MILLIS_MAX = 200;
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

  /** By so much links and buffers are larger where values are huge. */
  private static final int HUGE_FACTOR = 8;

  /** A link on which frames wait for longer is busy: no bound holds for what comes behind them. */
  private static final long BUSY_NANOS = 100 * MILLI;

  /** So many bytes of what waits leave together: the other end hears that something comes. */
  private static final int PIECE_BYTES = 1_000;

  private static final int[] BUFFER_BYTES = {16 << 10, 64 << 10, 256 << 10, 256 << 10};

  /** Bytes that wait for their turn; none are the connection's end. */
  static final class Unsent {
    private final byte[] bytes;
    private int left;

    private Unsent(byte[] bytes) {
      this.bytes = bytes;
      this.left = bytes.length;
    }
  }

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

    /**
     * Who has something that waits, the first with a piece on its way into the link. The ways of
     * several connections take turns, as TCP shares a link: what is left of a connection that was
     * given up does not keep the next one from beginning.
     */
    private final ArrayDeque<SimConnection.Way> turns = new ArrayDeque<>();

    private long queuedBytes;

    /** Counts how often the first in the queue was begun, anew where the width has changed. */
    private long begun;

    private final int bufferBytes;
    private int cuts;

    /** How many faults keep everything from moving. */
    private int hangs;

    /** How many faults keep the other end from reading. */
    private int deafs;

    /** Whether the transport says that frames can be sent. */
    private boolean up;

    private long calmNanos;

    /** The last one that was opened; null before. */
    private @Nullable SimConnection connection;

    private double loss;
    private double duplicates;
    private int reorderings;
    private long extraDelayNanos;
    private long changedNanos;

    /** As the one before it, whether the link is busy or not. */
    private long faultNanos;

    private Link(
        String from,
        String to,
        long delayNanos,
        long jitterNanos,
        long bytesPerSecond,
        int bufferBytes) {
      this.bytesPerSecond = bytesPerSecond;
      this.bufferBytes = bufferBytes;
      this.from = from;
      this.to = to;
      this.delayNanos = delayNanos;
      this.jitterNanos = jitterNanos;
    }

    private void busy(long nanos) {
      changedNanos = nanos;
    }

    private void changed(long nanos) {
      changedNanos = nanos;
      faultNanos = nanos;
    }

    private boolean isHealthy() {
      return up
          && !isDark()
          && deafs == 0
          && loss == 0
          && duplicates == 0
          && reorderings == 0
          && extraDelayNanos == 0
          && squeezedBytesPerSecond == 0;
    }

    /** Since when every frame has come over it in its time, however many; else Long.MAX_VALUE. */
    long freeSinceNanos() {
      return isHealthy() ? faultNanos : Long.MAX_VALUE;
    }

    /** Bytes a second at present; 0 for any amount. */
    private long carries() {
      return squeezedBytesPerSecond > 0 ? squeezedBytesPerSecond : bytesPerSecond;
    }

    private long backlogNanos() {
      long unsent = connection == null ? 0 : connection.backlogBytes();
      return carries() == 0 ? 0 : (queuedBytes + unsent) * SECOND / carries();
    }

    /** Whether nothing moves. */
    private boolean isDark() {
      return cuts > 0 || hangs > 0;
    }

    /** What a connection's buffers take, in bytes. */
    int bufferBytes() {
      return bufferBytes;
    }

    /** Since when nothing has kept bytes from moving; Long.MAX_VALUE while something does. */
    long calmSinceNanos() {
      return isDark() || deafs > 0 ? Long.MAX_VALUE : calmNanos;
    }

    /** Bytes a second that it carries for sure; 0 for any amount. */
    long bytesPerSecond() {
      return bytesPerSecond;
    }

    /**
     * Since when it has been down, as far as bytes could move since; Long.MAX_VALUE if it is up.
     */
    long downSinceNanos() {
      return up ? Long.MAX_VALUE : Math.max(faultNanos, calmSinceNanos());
    }

    /** Whether frames can be sent. */
    boolean isUp() {
      return up;
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
  private final List<SimConnection> connections = new ArrayList<>();
  private final Workload.Sizes sizes;
  private final Map<String, Link> links = new TreeMap<>();
  private final Map<Integer, Long> bytesOf = new HashMap<>();
  private final FlowCheck flow;
  private long backlogNanosMax;

  /**
   * A network without links.
   *
   * @param sizes of values: the load may need wider links
   */
  SimNetwork(Simulation simulation, Sabotage sabotage, Random random, Workload.Sizes sizes) {
    this.sizes = sizes;
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.sabotage = sabotage;
    this.random = random;
    this.flow = new FlowCheck(simulation);
  }

  void addLink(String from, String to) {
    int span = SHORT_MILLIS_MAX - SHORT_MILLIS_MIN;
    long delay = (SHORT_MILLIS_MIN + random.nextInt(span)) * MILLI;
    long jitter = random.nextInt(10) * MILLI;
    if (random.nextInt(4) == 0) {
      delay = (SHORT_MILLIS_MAX + random.nextInt(LONG_MILLIS_MAX - SHORT_MILLIS_MAX)) * MILLI;
    }
    long bytes = random.nextInt(4) == 0 ? narrow() : 0;
    int buffer =
        BUFFER_BYTES[random.nextInt(BUFFER_BYTES.length)]
            * (sizes == Workload.Sizes.HUGE ? HUGE_FACTOR : 1);
    Link link = new Link(from, to, delay, jitter, bytes, buffer);
    links.put(from + ">" + to, link);
    simulation.trace().note("link %s", link.inWords());
  }

  /** A bandwidth of a narrow link, the smaller ones as often as the larger ones. */
  private long narrow() {
    double share = random.nextDouble();
    return switch (sizes) {
      case SMALL ->
          (long) (NARROW_BYTES_MIN * Math.pow((double) NARROW_BYTES_MAX / NARROW_BYTES_MIN, share));
      case LARGE -> NARROW_BYTES_MAX;
      case HUGE -> HUGE_FACTOR * NARROW_BYTES_MAX;
    };
  }

  Link link(String from, String to) {
    return requireNonNull(links.get(from + ">" + to), "two datacenters of this run");
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

  /** Connects a process to a datacenter, if that can be. */
  void dial(
      SimSockets from,
      String to,
      int timeoutMillis,
      Consumer<SimChannel> opened,
      Consumer<Throwable> failed) {
    Link link = link(from.dc().self().dc(), to);
    scheduler.in(
        link.delayNanos,
        () -> {
          SimSockets there = simulation.dc(to).sockets();
          if (link.isDark() || from.isClosed()) {
            Throwable late = new ConnectException("connection timed out");
            scheduler.in(timeoutMillis * MILLI, () -> failed.accept(late));
          } else if (there == null || !there.isServed()) {
            scheduler.in(
                link.delayNanos, () -> failed.accept(new ConnectException("connection refused")));
          } else {
            connect(link, from, there, opened);
          }
        });
  }

  private void connect(Link link, SimSockets from, SimSockets to, Consumer<SimChannel> opened) {
    SimConnection connection = new SimConnection(this, link, from, to);
    connections.removeIf(SimConnection::isOver);
    connections.add(connection);
    link.connection = connection;
    to.accept(connection.accepted());
    from.inTime(
        link.delayNanos,
        () -> {
          opened.accept(connection.dialled());
          connection.deliver();
        });
  }

  /** Frames can be sent over a link from now on, or can no longer. */
  void isUp(String from, String to, boolean up) {
    Link link = link(from, to);
    link.up = up;
    link.changed(scheduler.nanos());
    simulation.trace().note("%s is %s", link, up ? "up" : "down");
  }

  /** An end hears that the connection is broken, unless it has closed it by then. */
  private void reset(SimChannel end, long nanos) {
    scheduler.in(nanos, () -> end.end(true));
  }

  private long notice() {
    return random.nextBoolean() ? 0 : random.nextInt(NOTICE_MILLIS_MAX) * MILLI;
  }

  /** Breaks a link's connections; each end notices at once, or later. */
  void flap(Link link) {
    for (SimConnection c : connections) {
      if (c.isOf(link)) {
        if (random.nextBoolean()) {
          c.loseAll();
        }
        reset(c.dialled(), notice());
        reset(c.accepted(), notice());
      }
    }
    link.changed(scheduler.nanos());
    link.calmNanos = scheduler.nanos();
  }

  /** Cuts a link: its connection is reset, or hears nothing any more. */
  void cut(Link link) {
    link.cuts++;
    if (random.nextBoolean()) {
      flap(link);
    }
    changed(link);
  }

  void heal(Link link) {
    link.cuts--;
    changed(link);
  }

  /** Nothing moves on a link until as many such faults have ended as began. */
  void hang(Link link, boolean begin) {
    link.hangs += begin ? 1 : -1;
    changed(link);
  }

  /** The other end reads nothing of what comes over a link. */
  void deafen(Link link, boolean begin) {
    link.deafs += begin ? 1 : -1;
    changed(link);
    List.copyOf(connections).forEach(SimConnection::deliver);
  }

  /** Whether the reader of a way does not read. */
  boolean isDeaf(SimConnection.Way way) {
    return way.takesTurns() && way.link().deafs > 0;
  }

  private void changed(Link link) {
    link.changed(scheduler.nanos());
    link.calmNanos = scheduler.nanos();
    if (!link.turns.isEmpty()) {
      leaveInTurn(link);
    }
  }

  /** A process has stopped or goes on, with all that its links carry. */
  void changed(String dc) {
    for (Link link : links.values()) {
      if (link.from.equals(dc) || link.to.equals(dc)) {
        link.changed(scheduler.nanos());
      }
    }
  }

  /** Loses all connections of a process that crashes; the others notice at once, or later. */
  void crashed(SimSockets process) {
    process.crash();
    for (SimConnection c : connections) {
      for (SimChannel end : List.of(c.dialled(), c.accepted())) {
        if (end.process() == process) {
          if (random.nextBoolean()) {
            c.loseAll();
          }
          reset(end == c.dialled() ? c.accepted() : c.dialled(), notice());
        }
      }
    }
    for (Link link : links.values()) {
      if (link.from.equals(process.dc().self().dc())) {
        link.up = false;
        flow.down(process.dc(), link.to);
      }
    }
    changed(process.dc().self().dc());
  }

  /** See {@link Sabotage#losesWhatIsApart}. */
  boolean losesWhatIsApart() {
    return sabotage.losesWhatIsApart();
  }

  long nanos() {
    return scheduler.nanos();
  }

  void fail(Violation violation) {
    scheduler.fail(violation);
  }

  // ---------------------------------------------------------------- faults of a connection

  void setLoss(Link link, double probability) {
    link.loss = probability;
    link.changed(scheduler.nanos());
  }

  void setDuplicates(Link link, double probability) {
    link.duplicates = probability;
    link.changed(scheduler.nanos());
  }

  void reorder(Link link, boolean begin) {
    link.reorderings += begin ? 1 : -1;
    link.changed(scheduler.nanos());
  }

  void setExtraDelay(Link link, long nanos) {
    link.extraDelayNanos = nanos;
    link.changed(scheduler.nanos());
  }

  /** Narrows a link; 0 bytes a second end it. */
  void squeeze(Link link, long bytesPerSecond) {
    link.squeezedBytesPerSecond =
        sizes == Workload.Sizes.HUGE ? HUGE_FACTOR * bytesPerSecond : bytesPerSecond;
    link.changed(scheduler.nanos());
    if (!link.turns.isEmpty()) {
      leaveInTurn(link); // what is on its way into the link goes at the new width, too
    }
  }

  // ---------------------------------------------------------------- bytes

  /** A connection's buffer is full: no bound holds for what waits behind it. */
  void isFull(Link link) {
    link.busy(scheduler.nanos());
    backlogNanosMax = Math.max(backlogNanosMax, BUSY_NANOS);
  }

  /** A datacenter decodes something large: what comes behind it waits. */
  void decodesApart(String dc) {
    for (Link link : links.values()) {
      if (link.to.equals(dc)) {
        isFull(link);
      }
    }
  }

  /** Bytes are given to a link, or to the way back of a connection; none are its end. */
  void enter(SimConnection.Way way, byte[] bytes) {
    simulation.trace().hash(bytes);
    if (way.isLost() || (bytes.length > 0 && !sabotage.carries(way, bytes))) {
      return;
    }
    Link link = way.link();
    boolean queues = way.takesTurns() && (link.carries() > 0 || !link.turns.isEmpty());
    if (!link.isDark() && !queues) {
      travel(way, bytes);
      return;
    }
    boolean begins = link.turns.isEmpty();
    if (way.unsent().isEmpty()) {
      link.turns.add(way);
    }
    way.unsent().add(new Unsent(bytes));
    link.queuedBytes += bytes.length;
    noteBacklog(link);
    if (begins) {
      leaveInTurn(link);
    }
  }

  private void noteBacklog(Link link) {
    long backlog = link.backlogNanos();
    backlogNanosMax = Math.max(backlogNanosMax, backlog);
    if (backlog > BUSY_NANOS) {
      link.busy(scheduler.nanos());
    }
  }

  /** Lets a piece of who is first leave, and then of the next, as fast as the link is by then. */
  private void leaveInTurn(Link link) {
    long begun = ++link.begun;
    if (link.isDark()) {
      return; // begun anew when it carries something again
    }
    letAnswersLeave(link);
    SimConnection.Way way = link.turns.peek();
    if (way == null) {
      return;
    }
    Unsent first = way.unsent().element();
    boolean wide = link.carries() == 0;
    long most = Math.max(PIECE_BYTES, link.carries() / 20); // as often as the other end looks
    int piece = wide ? first.left : (int) Math.min(first.left, most);
    scheduler.in(
        wide ? 0 : piece * SECOND / link.carries(),
        () -> {
          if (link.begun == begun) {
            leave(way, piece);
          }
        });
  }

  /** What went the other way while the link carried nothing waits for none of what queues here. */
  private void letAnswersLeave(Link link) {
    for (Iterator<SimConnection.Way> it = link.turns.iterator(); it.hasNext(); ) {
      SimConnection.Way way = it.next();
      if (!way.takesTurns()) {
        it.remove();
        List<Unsent> answers = List.copyOf(way.unsent());
        forget(way);
        answers.forEach(answer -> travel(way, answer.bytes));
      }
    }
  }

  private static void forget(SimConnection.Way way) {
    way.unsent().forEach(unsent -> way.link().queuedBytes -= unsent.left);
    way.unsent().clear();
  }

  private void leave(SimConnection.Way way, int piece) {
    Link link = way.link();
    link.turns.remove();
    Unsent first = way.unsent().element();
    int at = first.bytes.length - first.left;
    first.left -= piece;
    link.queuedBytes -= piece;
    if (first.left == 0) {
      way.unsent().remove();
    }
    if (!way.unsent().isEmpty()) {
      link.turns.add(way);
    }
    noteBacklog(link);
    boolean whole = piece == first.bytes.length;
    travel(way, whole ? first.bytes : Arrays.copyOfRange(first.bytes, at, at + piece));
    if (!link.turns.isEmpty()) {
      leaveInTurn(link);
    }
  }

  /**
   * Bytes have come to an end that is closed: TCP answers with a reset, and then the writer's
   * system drops what has not left. Otherwise the rest of a connection that was given up would fill
   * a narrow link for minutes.
   */
  void refused(SimConnection.Way way) {
    Link link = way.link();
    scheduler.in(
        link.delayNanos + link.extraDelayNanos,
        () -> {
          if (!link.isDark()) { // else bytes that come later are answered
            lose(way);
          }
        });
  }

  /** What a way carries comes to nobody, and what waits for its turn does not leave any more. */
  void lose(SimConnection.Way way) {
    way.lose();
    Link link = way.link();
    boolean isFirst = link.turns.peek() == way;
    link.turns.remove(way);
    forget(way);
    if (isFirst) {
      leaveInTurn(link);
    }
  }

  private void travel(SimConnection.Way way, byte[] bytes) {
    Link link = way.link();
    long now = scheduler.nanos();
    long jitter = link.jitterNanos == 0 ? 0 : (long) (random.nextDouble() * link.jitterNanos);
    long alone = now + link.delayNanos + jitter + link.extraDelayNanos;
    scheduler.in(way.arrivalNanos(alone) - now, () -> way.arrived(bytes));
  }

  // ---------------------------------------------------------------- frames

  /** The bytes of all frames of a unit. */
  long bytes(Unit unit) {
    return bytesOf.getOrDefault(unit.number(), 0L);
  }

  /** A partition sends a frame. */
  void send(SimNode node, String to, Frame frame) {
    SimDc dc = simulation.dc(node.self().dc());
    PeerTransport transport = dc.transport();
    if (transport == null || !node.isAlive()) {
      return; // before the transport is there
    }
    Traffic traffic = transport.traffic().get(to);
    if (traffic == null) {
      return; // no peer any more
    }
    long before = traffic.sentBytes();
    transport.send(to, node.unit().policy().name(), node.unit().partition(), frame);
    int bytes = (int) (traffic.sentBytes() - before);
    if (bytes > 0) {
      FrameCheck.check(node.self(), to, frame, bytes);
      bytesOf.merge(node.unit().number(), (long) bytes, Long::sum);
      flow.sent(dc, to, node.unit(), frame);
      SimConnection connection = link(node.self().dc(), to).connection;
      if (connection != null) {
        connection.dialled().run();
      }
    }
  }

  /** The transport has brought a frame, on a connection that has not lost any. */
  void received(SimDc dc, ReplicaId from, Unit unit, Frame frame) {
    Link link = link(from.dc(), dc.self().dc());
    if (sabotage.drops(unit, frame)) {
      return;
    }
    flow.received(dc, from, unit, frame);
    if (link.loss > 0 && random.nextDouble() < link.loss) {
      return;
    }
    bring(link, dc, from, unit, frame);
    if (link.duplicates > 0 && random.nextDouble() < link.duplicates) {
      bring(link, dc, from, unit, frame);
    }
  }

  private void bring(Link link, SimDc dc, ReplicaId from, Unit unit, Frame frame) {
    long later = sabotage.extraDelayNanos(frame);
    if (link.reorderings > 0 && random.nextInt(4) == 0) {
      later += random.nextInt(OVERTAKE_MILLIS_MAX) * MILLI;
    }
    Frame spoilt = sabotage.frame(dc.self().dc(), frame);
    if (later == 0) {
      dc.node(unit).received(new Input.FromPeer(from, spoilt));
      return;
    }
    long life = dc.life();
    scheduler.in(
        later,
        () -> {
          if (dc.isUp() && dc.life() == life) {
            dc.node(unit).received(new Input.FromPeer(from, spoilt));
          }
        });
  }

  FlowCheck flow() {
    return flow;
  }

  /** The links that are not up. */
  List<Link> down() {
    List<Link> down = new ArrayList<>(links.values());
    down.removeIf(l -> l.up);
    return down;
  }
}
