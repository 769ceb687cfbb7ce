package io.osier.bench.sim.world;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Workload;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The links between the datacenters, one for each way, and the connections over them. Production's
 * transport dials and greets over them, encodes, and gives up what is silent; here is what TCP is
 * to it ({@link SimConnection}). A link that is cut resets its connection or goes dark: that is for
 * the transport to notice. Used by the simulation's thread.
 */
public final class SimNetwork {
  /** The longest time until an end notices that its connection is gone. */
  private static final int NOTICE_MILLIS_MAX = 5_000;

  private final Scheduler scheduler;
  private final Trace trace;
  private final Function<String, @Nullable SimSockets> processes;
  private final Sabotage sabotage;
  private final Random random;
  private final List<SimConnection> connections = new ArrayList<>();
  private final Workload.Sizes sizes;

  /** In the order of the names of both ends. */
  private final List<SimLink> links = new ArrayList<>();

  /**
   * A network without links.
   *
   * @param processes the datacenters' present ones, by their names; null before the first start
   * @param sizes of values: the load may need wider links
   */
  public SimNetwork(
      Scheduler scheduler,
      Trace trace,
      Function<String, @Nullable SimSockets> processes,
      Sabotage sabotage,
      Random random,
      Workload.Sizes sizes) {
    this.sizes = sizes;
    this.scheduler = scheduler;
    this.trace = trace;
    this.processes = processes;
    this.sabotage = sabotage;
    this.random = random;
  }

  public void addLink(String from, String to) {
    SimLink link = new SimLink(from, to, scheduler, random, sizes);
    links.add(link);
    trace.note("link %s", link.inWords());
  }

  public SimLink link(String from, String to) {
    return requireNonNull(find(from, to), "two datacenters of this run");
  }

  private @Nullable SimLink find(String from, String to) {
    for (SimLink link : links) {
      if (link.from.equals(from) && link.to.equals(to)) {
        return link;
      }
    }
    return null;
  }

  /** All links, in a fixed order. */
  public List<SimLink> links() {
    return Collections.unmodifiableList(links);
  }

  /** The links that are not up. */
  public List<SimLink> down() {
    return links.stream().filter(l -> !l.isUp()).toList();
  }

  /**
   * Whether a bound can be kept from the first moment on, when half of it is set aside for a way
   * that has not been measured yet, and a tenth for what else may be late: an update may depend on
   * another one that a third datacenter got earlier than it comes here itself.
   */
  public boolean allows(long slaNanos) {
    return backlogNanosMax() < SimLink.BUSY_NANOS
        && links.stream()
            .allMatch(l -> l.delayNanosMax() <= slaNanos / 2 && overtaking(l) <= slaNanos / 10);
  }

  /**
   * By how much a frame that goes over a third datacenter can be earlier than one over this link.
   */
  private long overtaking(SimLink link) {
    long most = 0;
    for (SimLink first : links) {
      SimLink second = find(first.to, link.to);
      if (first.from.equals(link.from) && second != null) {
        most = Math.max(most, link.delayNanosMax() - first.delayNanos - second.delayNanos);
      }
    }
    return most;
  }

  /** The longest that anything has waited for its turn on a link. */
  public long backlogNanosMax() {
    return links.stream().mapToLong(SimLink::backlogNanosMax).max().orElse(0);
  }

  // ---------------------------------------------------------------- connections

  /** Connects a process to a datacenter, or tells why that fails. */
  public void dial(
      SimSockets from,
      String to,
      int timeoutMillis,
      Consumer<SimChannel> opened,
      Consumer<Throwable> failed) {
    SimLink link = link(from.self().dc(), to);
    scheduler.in(
        link.delayNanos,
        () -> {
          SimSockets there = processes.apply(to);
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

  private void connect(SimLink link, SimSockets from, SimSockets to, Consumer<SimChannel> opened) {
    SimConnection connection =
        new SimConnection(scheduler, trace, sabotage, link, from.channel(), to.channel());
    connections.removeIf(SimConnection::isOver);
    connections.add(connection);
    link.opened(connection);
    to.accept(connection.accepted());
    from.inTime(
        link.delayNanos,
        () -> {
          opened.accept(connection.dialled());
          connection.deliver();
        });
  }

  /**
   * The connection of a link to which the transport gives what it is to send: it says nobody which
   * of them it is.
   *
   * @return null if it gives it to none
   */
  public @Nullable SimConnection takes(SimLink link, Runnable sends) {
    IdentityHashMap<SimConnection, Long> written = new IdentityHashMap<>();
    for (SimConnection c : connections) {
      if (c.isOf(link)) {
        written.put(c, c.writtenBytes());
      }
    }
    sends.run();
    for (Map.Entry<SimConnection, Long> before : written.entrySet()) {
      if (before.getKey().writtenBytes() != before.getValue()) {
        return before.getKey();
      }
    }
    return null;
  }

  /** Frames can be sent over a link from now on, or can no longer. */
  public void isUp(String from, String to, boolean up) {
    SimLink link = link(from, to);
    link.setUp(up);
    link.carriedBy(null); // until the transport has sent something
    trace.note("%s is %s", link, up ? "up" : "down");
  }

  /** A datacenter decodes a large frame in a thread of its own: later frames wait. */
  void decodesApart(String dc) {
    for (SimLink link : links) {
      if (link.to.equals(dc)) {
        link.isFull();
      }
    }
  }

  /** See {@link Sabotage#losesWhatIsApart}. */
  boolean losesWhatIsApart() {
    return sabotage.losesWhatIsApart();
  }

  // ---------------------------------------------------------------- faults of connections

  /** An end hears that the connection is broken, unless it has closed it by then. */
  private void reset(SimChannel end, long nanos) {
    scheduler.in(nanos, () -> end.end(true));
  }

  private long notice() {
    return random.nextBoolean() ? 0 : random.nextInt(NOTICE_MILLIS_MAX) * MILLI;
  }

  /** Breaks a link's connections; each end notices at once, or later. */
  public void flap(SimLink link) {
    for (SimConnection c : connections) {
      if (c.isOf(link)) {
        if (random.nextBoolean()) {
          c.loseAll();
        }
        reset(c.dialled(), notice());
        reset(c.accepted(), notice());
      }
    }
    link.disturbed();
  }

  /** Cuts a link: its connection is reset, or hears nothing any more. */
  public void cut(SimLink link) {
    link.hang(true);
    if (random.nextBoolean()) {
      flap(link);
    }
  }

  public void heal(SimLink link) {
    link.hang(false);
  }

  /** The other end reads nothing of what comes over a link, or reads again. */
  public void deafen(SimLink link, boolean begin) {
    link.deafen(begin);
    List.copyOf(connections).forEach(SimConnection::deliver);
  }

  /** A process has stopped or goes on, and its links with it. */
  public void changed(String dc) {
    for (SimLink link : links) {
      if (link.from.equals(dc) || link.to.equals(dc)) {
        link.changed();
      }
    }
  }

  /** Loses all connections of a process that crashes; the others notice at once, or later. */
  public void crashed(SimSockets process) {
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
    for (SimLink link : links) {
      if (link.from.equals(process.self().dc())) {
        link.setUp(false);
      }
    }
    changed(process.self().dc());
  }
}
