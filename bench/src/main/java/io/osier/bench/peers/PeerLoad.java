package io.osier.bench.peers;

import io.osier.bench.cluster.Zipf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The same load for every system: each thread calls one node (thread i node i modulo 3), on objects
 * drawn by Zipf's law with exponent 0.99; a set gets one of a fixed range of elements, so that no
 * system's sets grow for ever. All is drawn beforehand from the seed, so it is the same sequence
 * however fast a system is.
 *
 * <p>While it runs, probers measure how long an update takes to be seen: each has an object of its
 * own, updates it at the first node, asks the third node every millisecond until it shows, and
 * rests for a random time, so that it does not fall into step with a system that replicates
 * periodically.
 *
 * <p>It knows what was acknowledged, and so what every node must show in the end. Used by one
 * thread.
 */
final class PeerLoad {
  /** What is updated. */
  enum Kind {
    COUNTERS,
    SETS
  }

  /**
   * What is asked for.
   *
   * @param objects how many counters or sets
   * @param elements how many different elements a set gets
   * @param threads that update
   * @param probers that measure the delay
   */
  record Shape(Kind kind, int objects, int elements, int threads, int probers, long seed) {}

  /**
   * What a run did.
   *
   * @param updates acknowledged, those of the probers too
   * @param perSecond updates of the threads, per second
   * @param endedNanos when the last of their updates was acknowledged, by System.nanoTime()
   * @param delays until seen at the third node, in microseconds
   */
  record Outcome(long updates, double perSecond, long endedNanos, Histogram delays) {}

  private static final double EXPONENT = 0.99;

  /** Drawn by each thread; then it begins again. */
  private static final int DRAWN = 1 << 18;

  private static final long POLL_NANOS = 1_000_000;
  private static final int REST_MILLIS_MAX = 200;

  /** So many elements go into a prober's set before it takes another. */
  private static final int PROBES_OF_SET = 100;

  private static final int PROBE_SETS_MAX = 100;
  private static final long DELAY_MICROS_MAX = 60_000_000;

  private final Peer peer;
  private final Shape shape;
  private final List<Worker> workers = new ArrayList<>();
  private final List<Prober> probers = new ArrayList<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean probing;

  PeerLoad(Peer peer, Shape shape) {
    this.peer = peer;
    this.shape = shape;
    for (int i = 0; i < shape.threads; i++) {
      workers.add(new Worker(i));
    }
    for (int i = 0; i < shape.probers; i++) {
      probers.add(new Prober(i));
    }
  }

  /** So many updates are done between two looks at the clock. */
  private static final int BETWEEN_LOOKS = 64;

  /**
   * Does so many updates.
   *
   * @throws IllegalStateException if one failed
   */
  Outcome run(long updates) throws InterruptedException {
    return run(updates, Duration.ofDays(1));
  }

  /** Updates for so long; as the other one. */
  Outcome run(Duration atMost) throws InterruptedException {
    return run(Long.MAX_VALUE, atMost);
  }

  private Outcome run(long updates, Duration atMost) throws InterruptedException {
    Histogram delays = new Histogram(DELAY_MICROS_MAX, 3);
    long probesBefore = probes();
    probing = true;
    List<Thread> watching = new ArrayList<>();
    for (Prober prober : probers) {
      watching.add(start(() -> prober.run(delays)));
    }
    long before = workers.stream().mapToLong(w -> w.done).sum();
    long began = System.nanoTime();
    long until = began + atMost.toNanos();
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < workers.size(); i++) {
      Worker worker = workers.get(i);
      long share = updates / workers.size() + (i < updates % workers.size() ? 1 : 0);
      running.add(start(() -> worker.run(share, until)));
    }
    for (Thread thread : running) {
      thread.join();
    }
    long ended = System.nanoTime();
    double seconds = (ended - began) / 1e9;
    probing = false;
    for (Thread thread : watching) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException("an update failed: " + failure.get(), failure.get());
    }
    long done = workers.stream().mapToLong(w -> w.done).sum() - before;
    return new Outcome(done + probes() - probesBefore, done / seconds, ended, delays);
  }

  private Thread start(Runnable task) {
    return Thread.ofPlatform()
        .start(
            () -> {
              try {
                task.run();
              } catch (RuntimeException | Error e) {
                failure.compareAndSet(null, e);
              }
            });
  }

  private long probes() {
    return probers.stream().mapToLong(p -> p.done).sum();
  }

  /**
   * Waits until every node shows exactly what was acknowledged.
   *
   * @return what is wrong, for the first few objects; empty if nothing is
   */
  List<String> awaitConverged(long atMostMillis) {
    long deadline = System.nanoTime() + atMostMillis * 1_000_000;
    List<String> wrong = new ArrayList<>();
    for (int node = 0; node < Peer.NODES; node++) {
      Peer.Caller caller = peer.caller(node);
      for (int object = 0; object < objects(); object++) {
        Object expected = expected(object);
        Object seen = seen(caller, object);
        while (!seen.equals(expected) && System.nanoTime() < deadline) {
          LockSupport.parkNanos(POLL_NANOS);
          seen = seen(caller, object);
        }
        if (!seen.equals(expected)) {
          wrong.add("node %d, object %d: %s, not %s".formatted(node, object, seen, expected));
        }
      }
    }
    return wrong.size() <= 5 ? wrong : wrong.subList(0, 5);
  }

  /** With those of the probers, which come after the others. */
  private int objects() {
    int last = shape.objects;
    for (Prober prober : probers) {
      last = Math.max(last, prober.done == 0 ? 0 : prober.object(prober.done - 1) + 1);
    }
    return last;
  }

  private Object seen(Peer.Caller caller, int object) {
    return shape.kind == Kind.COUNTERS ? (Object) caller.count(object) : caller.elements(object);
  }

  /** What an object must be: a Long or a BitSet. */
  private Object expected(int object) {
    long count = 0;
    BitSet elements = new BitSet();
    if (object < shape.objects) {
      for (Worker worker : workers) {
        if (shape.kind == Kind.COUNTERS) {
          count += worker.counts[object];
        } else {
          elements.or(worker.elements[object]);
        }
      }
    } else {
      Prober prober = probers.get((object - shape.objects) % probers.size());
      for (long probe = 0; probe < prober.done; probe++) {
        if (prober.object(probe) == object) {
          count++;
          elements.set(prober.element(probe));
        }
      }
    }
    return shape.kind == Kind.COUNTERS ? (Object) count : elements;
  }

  /** One thread's updates, and what they come to. */
  private final class Worker {
    private final Peer.Caller caller;
    private final short[] objects = new short[DRAWN];
    private final short[] chosen = new short[DRAWN];
    private final long[] counts;
    private final BitSet[] elements;
    private int next;
    private long done;

    Worker(int index) {
      this.caller = peer.caller(index % Peer.NODES);
      Zipf zipf = new Zipf(shape.objects, EXPONENT);
      SplittableRandom random = new SplittableRandom(shape.seed * 31 + index);
      for (int i = 0; i < DRAWN; i++) {
        objects[i] = (short) zipf.next(random);
        chosen[i] = (short) random.nextInt(shape.elements);
      }
      counts = new long[shape.objects];
      elements = new BitSet[shape.objects];
      for (int i = 0; i < elements.length; i++) {
        elements[i] = new BitSet();
      }
    }

    void run(long updates, long until) {
      for (long i = 0; i < updates; i++) {
        if (i % BETWEEN_LOOKS == 0 && System.nanoTime() - until > 0) {
          break;
        }
        done++;
        int object = objects[next];
        if (shape.kind == Kind.COUNTERS) {
          caller.increment(object);
          counts[object]++;
        } else {
          caller.add(object, chosen[next]);
          elements[object].set(chosen[next]);
        }
        next = (next + 1) % DRAWN;
      }
      // What is counted above and was not acknowledged fails here, and with it the whole run.
      caller.finish();
    }
  }

  /** Measures how long an update takes to the third node. */
  private final class Prober {
    private final Peer.Caller writer = peer.caller(0);
    private final Peer.Caller reader = peer.caller(Peer.NODES - 1);
    private final SplittableRandom random;
    private final int index;
    private long done;

    Prober(int index) {
      this.index = index;
      this.random = new SplittableRandom(shape.seed * 31 + ~index);
    }

    /** Each prober's sets are its own. */
    int object(long probe) {
      long set = shape.kind == Kind.COUNTERS ? 0 : probe / PROBES_OF_SET;
      return (int) (shape.objects + set * shape.probers + index);
    }

    int element(long probe) {
      return (int) (probe % PROBES_OF_SET);
    }

    void run(Histogram delays) {
      while (probing && done < PROBES_OF_SET * PROBE_SETS_MAX) {
        LockSupport.parkNanos(random.nextInt(REST_MILLIS_MAX) * 1_000_000L);
        if (!probing) {
          return;
        }
        long began = System.nanoTime();
        if (shape.kind == Kind.COUNTERS) {
          writer.increment(object(done));
        } else {
          writer.add(object(done), element(done));
        }
        writer.finish();
        done++;
        while (!isSeen()) {
          if (System.nanoTime() - began > DELAY_MICROS_MAX * 1_000) {
            throw new IllegalStateException("an update was not seen within a minute");
          }
          LockSupport.parkNanos(POLL_NANOS);
        }
        long micros = (System.nanoTime() - began) / 1_000;
        synchronized (delays) {
          delays.recordValue(Math.min(micros, DELAY_MICROS_MAX));
        }
      }
    }

    private boolean isSeen() {
      return shape.kind == Kind.COUNTERS
          ? reader.count(object(done - 1)) == done
          : reader.contains(object(done - 1), element(done - 1));
    }
  }
}
