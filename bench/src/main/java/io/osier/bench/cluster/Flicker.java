package io.osier.bench.cluster;

import io.osier.bench.wan.WanLink.Direction;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Cuts single directions of the links between datacenters, for tenths of a second or now and then
 * for seconds, and resets some of their connections. When it is closed all links are healed.
 */
public final class Flicker implements AutoCloseable {
  private static final int LONG_ONE_IN = 4;

  private final PeerLinks links;
  private final List<String> dcs;
  private final LongAdder cuts = new LongAdder();
  private final Workers workers;
  private volatile boolean closed;

  /** Begins at once, and cuts one of the links of each datacenter at a time. */
  public Flicker(PeerLinks links, List<String> dcs, long seed, Consumer<String> broken) {
    this.workers = new Workers(broken);
    this.links = links;
    this.dcs = dcs;
    SplittableRandom seeds = new SplittableRandom(seed);
    for (String dc : dcs) {
      SplittableRandom random = seeds.split();
      workers.start("flicker-" + dc, () -> run(dc, random));
    }
  }

  private void run(String from, SplittableRandom random) {
    List<String> others = dcs.stream().filter(dc -> !dc.equals(from)).toList();
    while (!closed) {
      String to = others.get(random.nextInt(others.size()));
      Direction way = Direction.values()[random.nextInt(2)];
      links.link(from, to).cut(way);
      cuts.increment();
      pause(random, random.nextInt(LONG_ONE_IN) == 0 ? 3_000 : 400);
      if (random.nextBoolean()) {
        links.link(from, to).reset();
      }
      links.link(from, to).heal(way);
      pause(random, 400);
    }
  }

  private static void pause(SplittableRandom random, int millisMax) {
    LockSupport.parkNanos((50 + random.nextInt(millisMax)) * 1_000_000L);
  }

  public long cuts() {
    return cuts.sum();
  }

  /** Heals all links, and ends the threads. */
  @Override
  public void close() {
    closed = true;
    workers.join();
  }
}
