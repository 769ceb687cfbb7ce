package io.osier.bench.storage;

import io.osier.bench.cluster.Zipf;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Reads and increments counters with so many requests in flight, as fast as they are answered. */
final class Driver {
  /**
   * What a run gave.
   *
   * @param readMicros latencies of reads
   * @param updateMicros latencies of updates
   */
  record Outcome(
      double operationsPerSecond, long failures, Histogram readMicros, Histogram updateMicros) {}

  private static final int THREADS = 2;
  private static final long MICROS_MAX = 60_000_000;

  private final OsierClient client;
  private final int inFlight;
  private final int updatePercent;
  private final Zipf zipf;

  Driver(OsierClient client, int inFlight, int keys, int updatePercent, double exponent) {
    this.client = client;
    this.inFlight = inFlight;
    this.updatePercent = updatePercent;
    this.zipf = new Zipf(keys, exponent);
  }

  Outcome run(double seconds, long seed) throws InterruptedException {
    Histogram reads = new ConcurrentHistogram(MICROS_MAX, 2);
    Histogram updates = new ConcurrentHistogram(MICROS_MAX, 2);
    LongAdder done = new LongAdder();
    LongAdder failures = new LongAdder();
    long began = System.nanoTime();
    long until = began + (long) (seconds * 1e9);
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      SplittableRandom random = new SplittableRandom(seed + t);
      threads.add(
          Thread.ofPlatform()
              .name("driver-" + t)
              .start(() -> drive(random, until, reads, updates, done, failures)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    double elapsed = (System.nanoTime() - began) / 1e9;
    return new Outcome(done.sum() / elapsed, failures.sum(), reads, updates);
  }

  private void drive(
      SplittableRandom random,
      long until,
      Histogram reads,
      Histogram updates,
      LongAdder done,
      LongAdder failures) {
    Semaphore room = new Semaphore(inFlight / THREADS);
    // A session's requests keep their order, so several share the load.
    List<Keyspace> sessions = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      sessions.add(client.session().keyspace("bench"));
    }
    int next = 0;
    while (System.nanoTime() < until) {
      room.acquireUninterruptibly();
      boolean update = random.nextInt(100) < updatePercent;
      Keyspace session = sessions.get(next++ & 7);
      String key = "k" + zipf.next(random);
      long sent = System.nanoTime();
      var reply =
          update
              ? session.counter(key).incrementAsync(1).thenApply(v -> 0L)
              : session.counter(key).getAsync();
      var unused =
          reply.whenComplete(
              (value, error) -> {
                room.release();
                if (error != null) {
                  failures.increment();
                } else {
                  done.increment();
                  (update ? updates : reads)
                      .recordValue(Math.max(1, (System.nanoTime() - sent) / 1_000));
                }
              });
    }
    room.acquireUninterruptibly(inFlight / THREADS);
  }
}
