package io.osier.bench.experiment;

import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Topology;
import io.osier.bench.cluster.Zipf;
import io.osier.core.Value;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Reads and updates of sets in a closed loop, from one client at each datacenter. A read asks for
 * an element; an update adds an element that is there already, which renews its dot, so that the
 * objects keep their size. The objects are drawn by Zipf's law with exponent 0.99. Used by one
 * thread.
 */
final class SetLoad implements AutoCloseable {
  private static final int SESSIONS = 8;
  private static final double EXPONENT = 0.99;
  private static final int UNDER_WAY_BYTES = 500_000;

  /**
   * What is asked for.
   *
   * @param objects how many sets
   * @param elements how many in each set
   * @param elementBytes bytes of each element
   * @param updatePercent which part of the operations are updates
   * @param inFlight operations under way at each datacenter
   */
  record Shape(int objects, int elements, int elementBytes, int updatePercent, int inFlight) {}

  private final Shape shape;
  private final Zipf zipf;
  private final List<OsierClient> clients = new ArrayList<>();
  private final LongAdder done = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final AtomicInteger shift = new AtomicInteger();

  SetLoad(LocalCluster cluster, Shape shape) {
    this.shape = shape;
    this.zipf = new Zipf(shape.objects, EXPONENT);
    Topology.DCS.forEach(dc -> clients.add(cluster.client(dc)));
  }

  /** The name of the object that is drawn with this rank at present, 0 the hottest. */
  String key(int rank) {
    return "o" + (rank + shift.get()) % shape.objects;
  }

  /** Makes other objects hot, at once: the ranks move on by so many. */
  void shift(int by) {
    shift.addAndGet(by);
  }

  /** Operations acknowledged since the beginning. */
  long done() {
    return done.sum();
  }

  /** Operations refused or unknown since the beginning. */
  long failed() {
    return failed.sum();
  }

  private Value element(int i) {
    String name = "e" + i + "-";
    return Value.of(name + "x".repeat(Math.max(0, shape.elementBytes - name.length())));
  }

  /** Makes the objects of a keyspace at the first datacenter. */
  void fill(String keyspace) {
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < shape.elements; i++) {
      elements.add(element(i));
    }
    Keyspace at = clients.getFirst().session().keyspace(keyspace);
    // What is under way, and what is in one request, is bounded by bytes.
    int batch = Math.clamp(UNDER_WAY_BYTES / (shape.elements * (long) shape.elementBytes), 1, 200);
    int part = Math.max(1, UNDER_WAY_BYTES / shape.elementBytes);
    List<CompletableFuture<Void>> open = new ArrayList<>();
    for (int i = 0; i < shape.objects; i++) {
      for (int from = 0; from < shape.elements; from += part) {
        int to = Math.min(from + part, shape.elements);
        open.add(at.set("o" + i).addAsync(elements.subList(from, to)));
        if (open.size() >= batch) {
          open.forEach(CompletableFuture::join);
          open.clear();
        }
      }
    }
    open.forEach(CompletableFuture::join);
  }

  /** Runs for so long. */
  void run(String keyspace, double seconds, long seed) throws InterruptedException {
    for (Thread thread : start(keyspace, seconds, seed)) {
      thread.join();
    }
  }

  /** Starts to run for so long; a thread for each datacenter. */
  List<Thread> start(String keyspace, double seconds, long seed) {
    long until = System.nanoTime() + (long) (seconds * 1e9);
    List<Thread> threads = new ArrayList<>();
    for (OsierClient client : clients) {
      SplittableRandom random = new SplittableRandom(seed * 31 + threads.size());
      threads.add(Thread.ofPlatform().start(() -> drive(client, keyspace, random, until)));
    }
    return threads;
  }

  private void drive(OsierClient client, String keyspace, SplittableRandom random, long until) {
    Semaphore room = new Semaphore(shape.inFlight);
    List<Keyspace> sessions = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      sessions.add(client.session().keyspace(keyspace));
    }
    List<Value> elements = new ArrayList<>();
    for (int i = 0; i < shape.elements; i++) {
      elements.add(element(i));
    }
    int next = 0;
    while (System.nanoTime() < until) {
      room.acquireUninterruptibly();
      Keyspace session = sessions.get(next++ % SESSIONS);
      String key = key(zipf.next(random));
      Value element = elements.get(random.nextInt(shape.elements));
      CompletableFuture<?> reply =
          random.nextInt(100) < shape.updatePercent
              ? session.set(key).addAsync(List.of(element))
              : session.set(key).containsAsync(element);
      var unused =
          reply.whenComplete(
              (value, error) -> {
                room.release();
                (error == null ? done : failed).increment();
              });
    }
    room.acquireUninterruptibly(shape.inFlight);
  }

  @Override
  public void close() {
    clients.forEach(OsierClient::close);
  }
}
