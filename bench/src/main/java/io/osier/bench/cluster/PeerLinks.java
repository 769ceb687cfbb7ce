package io.osier.bench.cluster;

import static java.util.Objects.requireNonNull;

import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanLink;
import io.osier.bench.wan.WanQuality;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/** Emulated links to datacenters, one from beside each to each. Thread-safe. */
public class PeerLinks implements AutoCloseable {
  /** The quality of a narrow link: 1 Mbit/s, 500 ms. */
  private static final WanQuality NARROW = new WanQuality(500, 50, 125_000);

  private final WanEmulator wan;
  private final BiFunction<String, String, WanQuality> usual;

  /**
   * Opens the links.
   *
   * @param dcs the datacenters; there is a link from each to each, also to itself
   * @param ports the port of 127.0.0.1 at which each datacenter listens
   * @param usual returns the quality of the link from one datacenter to another
   * @param seed of the jitter
   */
  PeerLinks(
      List<String> dcs,
      Map<String, Integer> ports,
      BiFunction<String, String, WanQuality> usual,
      long seed) {
    this.wan = new WanEmulator(seed);
    this.usual = usual;
    for (String one : dcs) {
      for (String to : dcs) {
        WanQuality quality = usual.apply(one, to);
        int port = requireNonNull(ports.get(to), to);
        InetSocketAddress target = new InetSocketAddress("127.0.0.1", port);
        wan.open(one + "-" + to, 0, target, quality, quality);
      }
    }
  }

  /** Returns the link from beside one datacenter to another or the same. */
  public final WanLink link(String from, String to) {
    return wan.link(from + "-" + to);
  }

  /** Returns the port at which a link listens. */
  final int port(String from, String to) {
    return link(from, to).port();
  }

  /** Makes both links between two datacenters narrow: 1 Mbit/s, 500 ms. */
  public final void narrow(String one, String two) {
    link(one, two).become(NARROW);
    link(two, one).become(NARROW);
  }

  /** Ends {@link #narrow}. */
  public final void widen(String one, String two) {
    link(one, two).become(usual.apply(one, two));
    link(two, one).become(usual.apply(two, one));
  }

  /** Cuts both links between two datacenters, both ways. */
  public final void cut(String one, String two) {
    link(one, two).cut();
    link(two, one).cut();
  }

  /** Heals both links between two datacenters. */
  public final void heal(String one, String two) {
    link(one, two).heal();
    link(two, one).heal();
  }

  /** Returns the bytes on all links, both ways. */
  final long bytes() {
    return wan.bytes();
  }

  @Override
  public final void close() {
    wan.close();
  }
}
