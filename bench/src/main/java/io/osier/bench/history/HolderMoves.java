package io.osier.bench.history;

import io.osier.bench.cluster.Holdings;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Changes the holders of the registers again and again, by an operator's commands: the second of
 * three datacenters always is one, and the first or the third or both are. At the end all three
 * are.
 */
public final class HolderMoves implements AutoCloseable {
  /** The datacenter that always holds the registers. */
  public static final String STAYS = "us";

  private static final List<String> SETS = List.of("ap,eu,us", "ap,us", "ap,eu,us", "eu,us");
  private static final String ALL = SETS.getFirst();

  private final LocalCluster cluster;
  private final Random random;
  private final LongAdder done = new LongAdder();
  private final Thread mover = new Thread(this::move, "moves");
  private volatile boolean running = true;

  /** Begins; the registers are held by the replicas of {@link HistoryLoad#MOVING}. */
  public HolderMoves(LocalCluster cluster, Random random) {
    this.cluster = cluster;
    this.random = random;
    mover.start();
  }

  /** Returns how many moves have ended so far. */
  public long done() {
    return done.sum();
  }

  private void move() {
    for (int next = 0; running; ) {
      LockSupport.parkNanos((100L + random.nextInt(400)) * 1_000_000);
      if (alter(SETS.get(next % SETS.size()), () -> running)) {
        next++;
      }
    }
  }

  /**
   * Changes the holders, and waits until the change is done.
   *
   * @param goesOn whether to wait any longer
   * @return whether these datacenters hold the registers now, and no others
   */
  private boolean alter(String replicas, BooleanSupplier goesOn) {
    List<String> dcs = cluster.running();
    if (dcs.isEmpty()) {
      return false;
    }
    try (OsierClient client = cluster.only(dcs.get(random.nextInt(dcs.size())))) {
      client.admin().alterKeyspaceAsync(Registers.KEYSPACE, Map.of("replicas", replicas)).join();
      while (goesOn.getAsBoolean()) {
        Holdings now = Holdings.of(client);
        boolean isDone =
            now.isWell() && String.join(",", now.holders(Registers.KEYSPACE)).equals(replicas);
        if (isDone) {
          done.increment();
          System.out.println(Registers.KEYSPACE + " is held by " + replicas);
          return true;
        }
        LockSupport.parkNanos(100_000_000);
      }
      System.out.println("not held by " + replicas + " yet: " + Holdings.of(client).states());
    } catch (OsierException | CompletionException e) {
      return false; // a datacenter is down, or another move is in progress: tried again
    }
    return false;
  }

  /**
   * Ends the moves, and makes all datacenters holders.
   *
   * @return whether all hold the registers in time
   */
  public boolean end(Duration atMost) {
    close();
    long deadline = System.nanoTime() + atMost.toNanos();
    BooleanSupplier inTime = () -> deadline - System.nanoTime() > 0;
    while (inTime.getAsBoolean()) {
      if (alter(ALL, inTime)) {
        return true;
      }
      LockSupport.parkNanos(200_000_000);
    }
    return false;
  }

  @Override
  public void close() {
    running = false;
    try {
      mover.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
