package io.osier.bench.history;

import io.osier.bench.cluster.ClientLinks;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Workers;
import io.osier.bench.wan.WanLink;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Makes several faults at once: kills or stops datacenters and starts them again, makes links
 * between datacenters narrow and long, cuts them and links to clients, and resets clients'
 * connections. At least one datacenter is always up.
 */
public final class Disturbances {
  private final LocalCluster cluster;
  private final ClientLinks links;
  private final Consumer<String> broken;
  private final List<String> dcs;

  /** The datacenters and links that are disturbed, each by one fault at a time. */
  private final Set<String> disturbed = ConcurrentHashMap.newKeySet();

  private final Semaphore down;
  private final LongAdder done = new LongAdder();

  /**
   * Makes no fault yet.
   *
   * @param broken is given a line for each fault that could not be undone
   */
  public Disturbances(LocalCluster cluster, ClientLinks links, Consumer<String> broken) {
    this.cluster = cluster;
    this.links = links;
    this.broken = broken;
    this.dcs = cluster.dcs();
    this.down = new Semaphore(dcs.size() - 1);
  }

  /** Returns how many faults there were. */
  public long done() {
    return done.sum();
  }

  /**
   * Makes faults for a time, and undoes them all at the end.
   *
   * @param faults how many faults at once
   */
  public void run(int faults, Duration time, Random random) {
    long end = System.nanoTime() + time.toNanos();
    Workers workers = new Workers(broken);
    for (int i = 0; i < faults; i++) {
      Random draws = new Random(random.nextLong());
      workers.start("fault-" + i, () -> disturb(end, draws));
    }
    while (System.nanoTime() < end) {
      LockSupport.parkNanos(100_000_000);
    }
    workers.join();
  }

  private void disturb(long end, Random random) {
    while (System.nanoTime() < end) {
      LockSupport.parkNanos((200L + random.nextInt(1_000)) * 1_000_000);
      one(random);
    }
  }

  private void one(Random random) {
    int i = random.nextInt(dcs.size());
    String dc = dcs.get(i);
    String other = dcs.get((i + 1 + random.nextInt(dcs.size() - 1)) % dcs.size());
    switch (random.nextInt(8)) {
      case 0, 1 -> once(dc, () -> restart(dc, true, random));
      case 2 -> once(dc, () -> restart(dc, false, random));
      case 3, 4 ->
          once(dc.compareTo(other) < 0 ? dc + other : other + dc, () -> cut(dc, other, random));
      case 5 -> {
        String to = random.nextBoolean() ? dc : other;
        once("client" + dc + to, () -> cutClient(dc, to, random));
      }
      case 6 ->
          once(dc.compareTo(other) < 0 ? dc + other : other + dc, () -> narrow(dc, other, random));
      default -> {
        System.out.println("resetting clients' connections from " + dc);
        dcs.forEach(to -> links.link(dc, to).reset());
      }
    }
  }

  /** Makes a fault, unless another fault disturbs the same thing. */
  private void once(String what, Runnable fault) {
    if (disturbed.add(what)) {
      try {
        fault.run();
        done.increment();
      } finally {
        disturbed.remove(what);
      }
    }
  }

  private static void pause(int fromMillis, int moreMillis, Random random) {
    LockSupport.parkNanos((fromMillis + random.nextInt(moreMillis)) * 1_000_000L);
  }

  private void restart(String dc, boolean kill, Random random) {
    if (!down.tryAcquire()) {
      return;
    }
    try {
      System.out.println((kill ? "killing " : "stopping ") + dc);
      if (kill) {
        cluster.kill(dc);
      } else {
        cluster.stop(dc);
      }
      pause(0, 1_000, random);
      cluster.start(dc);
      cluster.awaitReady(dc, Duration.ofSeconds(60));
    } finally {
      down.release();
    }
  }

  private void cut(String dc, String other, Random random) {
    System.out.println("cutting " + dc + " and " + other);
    cluster.links().cut(dc, other);
    pause(500, 3_000, random);
    cluster.links().heal(dc, other);
  }

  private void narrow(String dc, String other, Random random) {
    System.out.println("between " + dc + " and " + other + " 1 Mbit/s and 500 ms");
    cluster.links().narrow(dc, other);
    pause(1_000, 5_000, random);
    cluster.links().widen(dc, other);
  }

  private void cutClient(String beside, String to, Random random) {
    System.out.println("cutting clients beside " + beside + " from " + to);
    WanLink link = links.link(beside, to);
    link.cut();
    pause(300, 3_000, random);
    if (random.nextBoolean()) {
      link.reset();
    }
    link.heal();
  }
}
