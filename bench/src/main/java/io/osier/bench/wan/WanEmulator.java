package io.osier.bench.wan;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.osier.bench.wan.WanLink.Direction;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Named {@linkplain WanLink links} in one process, on one daemon thread. They are emulated in user
 * space, since many machines lack the kernel's netem. Each link's seed is made of the emulator's
 * and the link's name, so that links do not disturb each other's jitter. Thread-safe.
 *
 * <pre>
 * {@code try (WanEmulator wan = new WanEmulator(1)) { WanQuality quality = new WanQuality(40, 3, 0); int port = wan.open("eu-us", 0, us, quality, quality).port(); // eu connects here wan.link("eu-us").cut(); wan.link("eu-us").heal(); } }
 * </pre>
 */
public final class WanEmulator implements AutoCloseable {
  private final long seed;
  private final String host;
  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("wan", true), NioIoHandler.newFactory());
  private final Map<String, WanLink> links = new ConcurrentSkipListMap<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * Creates an emulator without links, for this machine alone.
   *
   * @param seed of all jitter
   */
  public WanEmulator(long seed) {
    this(seed, "127.0.0.1");
  }

  /**
   * Creates an emulator without links.
   *
   * @param seed of all jitter
   * @param host the address on which its links listen; 0.0.0.0 lets other machines in
   */
  public WanEmulator(long seed, String host) {
    this.seed = seed;
    this.host = host;
  }

  /**
   * Opens a link.
   *
   * @param name not used by another link
   * @param listenPort the port at which the link listens; 0 for any free one
   * @param target the address to which the link leads, which need not listen yet; an unresolved
   *     name is looked up for each connection
   * @throws IllegalArgumentException if the name is taken
   */
  public WanLink open(
      String name, int listenPort, InetSocketAddress target, WanQuality forth, WanQuality back) {
    if (links.containsKey(name)) {
      throw new IllegalArgumentException("there is a link '" + name + "' already");
    }
    WanLink link =
        new WanLink(
            loops.next(),
            new InetSocketAddress(host, listenPort),
            target,
            forth,
            back,
            seed * 31 + name.hashCode());
    if (links.putIfAbsent(name, link) != null) {
      link.close();
      throw new IllegalArgumentException("there is a link '" + name + "' already");
    }
    return link;
  }

  /**
   * Returns the link with a name.
   *
   * @throws IllegalArgumentException if there is none
   */
  public WanLink link(String name) {
    WanLink link = links.get(name);
    if (link == null) {
      throw new IllegalArgumentException(
          "there is no link '" + name + "'; there are " + links.keySet());
    }
    return link;
  }

  public Set<String> names() {
    return Set.copyOf(links.keySet());
  }

  /** Returns the bytes delivered so far on all links, both ways. */
  public long bytes() {
    return links.values().stream()
        .mapToLong(link -> link.bytes(Direction.FORTH) + link.bytes(Direction.BACK))
        .sum();
  }

  /** Closes all links and their connections; a second call does nothing. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      links.values().forEach(WanLink::close);
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }
}
