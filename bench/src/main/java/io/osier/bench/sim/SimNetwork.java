package io.osier.bench.sim;

import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.Input;
import io.osier.propagation.Frame;
import io.osier.propagation.FrameCodec;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** The links between the datacenters. Every frame is encoded, delayed, and decoded. */
final class SimNetwork {
  private static final long MILLI = 1_000_000;

  /** How long a side may take to notice that a link is gone. */
  private static final int NOTICE_MILLIS_MAX = 5_000;

  /** One way from one datacenter to another. */
  private static final class Link {
    final String from;
    final String to;
    final long delayNanos;
    final long jitterNanos;
    boolean cut;
    boolean up;

    /** Counts connections: frames of an earlier one are lost. */
    long connection;

    long lastArrivalNanos;
    double loss;
    double duplicates;
    boolean reorder;

    Link(String from, String to, long delayNanos, long jitterNanos) {
      this.from = from;
      this.to = to;
      this.delayNanos = delayNanos;
      this.jitterNanos = jitterNanos;
    }
  }

  private final Simulation simulation;
  private final Random random;
  private final Map<String, Link> links = new TreeMap<>();
  private long delayNanosMax;

  SimNetwork(Simulation simulation, Random random) {
    this.simulation = simulation;
    this.random = random;
  }

  void addLink(String from, String to) {
    long delay = (5 + random.nextInt(75)) * MILLI;
    long jitter = random.nextInt(10) * MILLI;
    delayNanosMax = Math.max(delayNanosMax, delay + jitter);
    links.put(from + ">" + to, new Link(from, to, delay, jitter));
  }

  /** The longest way through any link. */
  long delayNanosMax() {
    return delayNanosMax;
  }

  /** Opens the connection of a link if both ends are there. */
  void connect(String from, String to) {
    Link link = links.get(from + ">" + to);
    SimDc a = simulation.dc(from);
    SimDc b = simulation.dc(to);
    if (link.cut || link.up || !a.isUp() || !b.isUp()) {
      return;
    }
    link.up = true;
    link.connection++;
    simulation.input(a, new Input.PeerUp(b.self()));
  }

  void connectAll() {
    links.values().forEach(l -> connect(l.from, l.to));
  }

  /** Loses a link's connection: what is under way is lost; the sender notices at once or later. */
  private void lose(Link link) {
    if (!link.up) {
      return;
    }
    link.up = false;
    long connection = ++link.connection;
    long notice = random.nextBoolean() ? 0 : random.nextInt(NOTICE_MILLIS_MAX) * MILLI;
    simulation.at(
        notice,
        () -> {
          SimDc from = simulation.dc(link.from);
          if (from.isUp() && (link.connection == connection || !link.up)) {
            simulation.input(from, new Input.PeerDown(link.to));
          }
        });
  }

  void cut(String from, String to) {
    Link link = links.get(from + ">" + to);
    link.cut = true;
    lose(link);
  }

  void heal(String from, String to) {
    Link link = links.get(from + ">" + to);
    link.cut = false;
    reconnectLater(link);
  }

  private void reconnectLater(Link link) {
    // A dialler notices first that the old connection is gone, then opens a new one.
    simulation.at(
        (10 + random.nextInt(NOTICE_MILLIS_MAX)) * MILLI + NOTICE_MILLIS_MAX * MILLI,
        () -> connect(link.from, link.to));
  }

  /** Loses all connections of a datacenter that crashes. */
  void crash(String dc) {
    for (Link link : links.values()) {
      if (link.from.equals(dc)) {
        link.up = false;
        link.connection++;
      } else if (link.to.equals(dc)) {
        lose(link);
      }
    }
  }

  /** Connects a datacenter that has started again. */
  void restart(String dc) {
    for (Link link : links.values()) {
      if (link.from.equals(dc) || link.to.equals(dc)) {
        reconnectLater(link);
      }
    }
  }

  /** Breaks a connection and lets it be opened again. */
  void flap(String from, String to) {
    Link link = links.get(from + ">" + to);
    lose(link);
    reconnectLater(link);
  }

  void setLoss(String from, String to, double probability) {
    links.get(from + ">" + to).loss = probability;
  }

  void setDuplicates(String from, String to, double probability) {
    links.get(from + ">" + to).duplicates = probability;
  }

  void setReorder(String from, String to, boolean reorder) {
    links.get(from + ">" + to).reorder = reorder;
  }

  /** Ends every fault of the network. */
  void calm() {
    for (Link link : links.values()) {
      link.loss = 0;
      link.duplicates = 0;
      link.reorder = false;
      if (link.cut) {
        heal(link.from, link.to);
      }
    }
  }

  void send(ReplicaId from, String to, int keyspace, Frame frame) {
    Link link = links.get(from.dc() + ">" + to);
    if (!link.up || (link.loss > 0 && random.nextDouble() < link.loss)) {
      return;
    }
    byte[] bytes = FrameCodec.encode(from, frame);
    deliver(link, from, keyspace, bytes);
    if (link.duplicates > 0 && random.nextDouble() < link.duplicates) {
      deliver(link, from, keyspace, bytes);
    }
  }

  private void deliver(Link link, ReplicaId from, int keyspace, byte[] bytes) {
    long jitter = link.jitterNanos == 0 ? 0 : (long) (random.nextDouble() * link.jitterNanos);
    long arrival = simulation.nanos() + link.delayNanos + jitter;
    if (link.reorder && random.nextInt(4) == 0) {
      arrival += random.nextInt(200) * MILLI;
    } else if (!link.reorder) {
      arrival = Math.max(arrival, link.lastArrivalNanos);
      link.lastArrivalNanos = arrival;
    }
    long connection = link.connection;
    simulation.at(
        arrival - simulation.nanos(),
        () -> {
          SimDc to = simulation.dc(link.to);
          if (link.connection == connection && to.isUp()) {
            simulation.input(
                to, keyspace, new Input.FromPeer(from, FrameCodec.decode(from, bytes)));
          }
        });
  }

  /** The ends of every link, in a fixed order. */
  Map<String, String[]> ends() {
    Map<String, String[]> ends = new TreeMap<>();
    links.forEach((name, l) -> ends.put(name, new String[] {l.from, l.to}));
    return ends;
  }

  /** How many links are not up. */
  int down() {
    Map<Boolean, Integer> counts = new HashMap<>();
    links.values().forEach(l -> counts.merge(l.up, 1, Integer::sum));
    return counts.getOrDefault(false, 0);
  }
}
