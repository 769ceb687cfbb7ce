package io.osier.bench.soak;

import io.osier.bench.cluster.LocalCluster;
import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Assigns registers of 1 KB to 1 MB. Each has one writer, which makes one assignment of it at a
 * time, so what it must hold at the end is known: the last one that was acknowledged, or one after
 * it whose outcome is unknown.
 */
final class LargeLoad implements AutoCloseable {
  private static final int REGISTERS = 48;
  private static final int BYTES_MIN = 1_000;
  private static final int BYTES_MAX = 1_000_000;
  private static final int IN_FLIGHT = 4;

  /** Of one register: assignments that were acknowledged, and that were made, are up to here. */
  private record Written(long acknowledged, long made) {}

  private final List<OsierClient> clients = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Map<String, Written> written = new ConcurrentHashMap<>();
  private final Set<String> underWay = ConcurrentHashMap.newKeySet();
  private final LongAdder done = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private volatile boolean stopping;

  /**
   * Starts one thread for each of the datacenters.
   *
   * @param bytesPerSecond what each writes
   */
  LargeLoad(
      LocalCluster cluster, List<String> dcs, String keyspace, long bytesPerSecond, long seed) {
    for (String dc : dcs) {
      OsierClient client = cluster.client(dc);
      clients.add(client);
      Keyspace space = client.session().keyspace(keyspace);
      SplittableRandom random = new SplittableRandom(seed + clients.size());
      threads.add(
          Thread.ofPlatform()
              .name("large-" + dc)
              .daemon(true)
              .unstarted(() -> run(space, dc, random, bytesPerSecond)));
    }
    threads.forEach(Thread::start);
  }

  private void run(Keyspace space, String dc, SplittableRandom random, long bytesPerSecond) {
    Semaphore inFlight = new Semaphore(IN_FLIGHT);
    long next = System.nanoTime();
    while (!stopping) {
      inFlight.acquireUninterruptibly();
      String key = dc + ":" + random.nextInt(REGISTERS);
      if (!underWay.add(key)) {
        inFlight.release();
        LockSupport.parkNanos(1_000_000);
        continue;
      }
      int size = size(random);
      assign(space, key, size, random.nextLong(), inFlight);
      next =
          Math.max(next, System.nanoTime() - 1_000_000_000)
              + size * 1_000_000_000L / bytesPerSecond;
      LockSupport.parkNanos(Math.max(0, next - System.nanoTime()));
    }
    inFlight.acquireUninterruptibly(IN_FLIGHT);
  }

  /** Each order of magnitude as often as the others. */
  private static int size(SplittableRandom random) {
    double share = random.nextDouble();
    return (int) (BYTES_MIN * Math.pow((double) BYTES_MAX / BYTES_MIN, share));
  }

  private void assign(Keyspace space, String key, int size, long noise, Semaphore inFlight) {
    long number =
        written.merge(key, new Written(0, 1), (w, one) -> new Written(w.acknowledged, w.made + 1))
            .made;
    byte[] content = new byte[size];
    new SplittableRandom(noise).nextBytes(content); // nothing on the way can make it smaller
    ByteBuffer.wrap(content).putLong(number);
    var unused =
        space
            .register(key)
            .assignAsync(Value.of(content))
            .whenComplete(
                (r, error) -> {
                  if (error == null) {
                    written.computeIfPresent(key, (k, w) -> new Written(number, w.made));
                    done.increment();
                    bytes.add(size);
                    underWay.remove(key);
                  } else {
                    failed.increment(); // and no further one: it may be done yet, after that
                  }
                  inFlight.release();
                });
  }

  long done() {
    return done.sum();
  }

  long failures() {
    return failed.sum();
  }

  /** Bytes of the assignments that were acknowledged. */
  long bytes() {
    return bytes.sum();
  }

  /** Ends the load and waits for what is open. */
  void stop() {
    stopping = true;
    for (Thread thread : threads) {
      try {
        thread.join(15_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** How many registers of a datacenter hold something older than was acknowledged, or nothing. */
  long missing(List<Keyspace.Row> rows) {
    Map<String, Reading> there = new HashMap<>();
    rows.forEach(row -> there.put(row.key().toString(), row.value()));
    return written.entrySet().stream()
        .filter(
            e -> {
              long shown = number(there.get(e.getKey()));
              return shown < e.getValue().acknowledged || shown > e.getValue().made;
            })
        .count();
  }

  private static long number(@Nullable Reading reading) {
    return reading instanceof Reading.Single s && s.value().orElse(null) instanceof Value.Bytes b
        ? ByteBuffer.wrap(b.content()).getLong()
        : 0;
  }

  @Override
  public void close() {
    clients.forEach(OsierClient::close);
  }
}
