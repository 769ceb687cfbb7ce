package io.osier.bench.cluster;

import static java.util.Objects.requireNonNull;

import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanLink.Direction;
import io.osier.bench.wan.WanQuality;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;

/** The emulated links between a cluster's datacenters, one for each direction. Thread-safe. */
final class PeerLinks implements AutoCloseable {
  /** Decides what the link from one datacenter to another is like. */
  interface Qualities {
    WanQuality of(String from, String to);
  }

  /** A bad day: 1 Mbit/s, 500 ms. */
  private static final WanQuality NARROW = new WanQuality(500, 50, 125_000);

  private final WanEmulator wan;
  private final Qualities usual;

  /**
   * Opens a link from each to each.
   *
   * @param peerPorts where each datacenter listens for the others
   * @param seed of the jitter
   */
  PeerLinks(List<String> dcs, Map<String, Integer> peerPorts, Qualities usual, long seed) {
    this.wan = new WanEmulator(seed);
    this.usual = usual;
    for (String from : dcs) {
      for (String to : dcs) {
        if (!from.equals(to)) {
          WanQuality quality = usual.of(from, to);
          int port = requireNonNull(peerPorts.get(to), to);
          InetSocketAddress target = new InetSocketAddress("127.0.0.1", port);
          wan.open(name(from, to), 0, target, quality, quality);
        }
      }
    }
  }

  private static String name(String from, String to) {
    return from + "-" + to;
  }

  /** The port on which one datacenter reaches another. */
  int port(String from, String to) {
    return wan.link(name(from, to)).port();
  }

  void narrow(String one, String two) {
    become(one, two, NARROW);
  }

  void widen(String one, String two) {
    become(one, two, usual.of(one, two));
  }

  private void become(String one, String two, WanQuality quality) {
    wan.link(name(one, two)).become(quality);
    wan.link(name(two, one)).become(quality);
  }

  void cut(String one, String two) {
    wan.cut(name(one, two));
    wan.cut(name(two, one));
  }

  void heal(String one, String two) {
    wan.heal(name(one, two));
    wan.heal(name(two, one));
  }

  void cut(String from, String to, Direction way) {
    wan.link(name(from, to)).cut(way);
  }

  void heal(String from, String to, Direction way) {
    wan.link(name(from, to)).heal(way);
  }

  /** Breaks the connections of one link. */
  void reset(String from, String to) {
    wan.link(name(from, to)).reset();
  }

  /** Bytes on all links, both ways. */
  long bytes() {
    return wan.bytes();
  }

  @Override
  public void close() {
    wan.close();
  }
}
