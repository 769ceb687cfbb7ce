package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.osier.bench.wan.WanEmulator;
import io.osier.bench.wan.WanQuality;
import io.osier.core.net.Ports;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/**
 * Three nodes of a system in this process, each called through the system's own API. The API blocks
 * or limits the calls in flight, so load.threads must be 1 or more, and each thread has its own
 * {@link Calls}. Each node announces the port of a forwarder as its address, so that all bytes
 * between nodes are counted in the same way for every system. Forwarders add no delay and no
 * bandwidth limit.
 */
abstract class PeerTarget implements Target {
  static final int NODES = 3;

  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);
  private static final WanQuality PLAIN = new WanQuality(0, 0, 0);

  private final WanEmulator links = new WanEmulator(1);
  private final int[] ports = new int[NODES];
  private final String settings;

  /**
   * Opens the forwarders.
   *
   * @param settings what a reader of the figures must know
   */
  PeerTarget(String settings) {
    this.settings = settings;
    for (int node = 0; node < NODES; node++) {
      ports[node] = Ports.free();
      InetSocketAddress target = new InetSocketAddress("127.0.0.1", ports[node]);
      links.open(Integer.toString(node), 0, target, PLAIN, PLAIN);
    }
  }

  /** Returns the port of 127.0.0.1 at which a node must listen. */
  final int listen(int node) {
    return ports[node];
  }

  /** Returns the port of 127.0.0.1 at which others reach a node. */
  final int announced(int node) {
    return links.link(Integer.toString(node)).port();
  }

  /** Waits until the nodes have found each other, a minute at most. */
  final void await(BooleanSupplier found) {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!found.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        close();
        throw new IllegalStateException("the nodes did not find each other in 60 s");
      }
      LockSupport.parkNanos(10_000_000);
    }
  }

  /** Ends the nodes at once. */
  abstract void closeNodes();

  @Override
  public final int nodes() {
    return NODES;
  }

  @Override
  public final long linkBytes() {
    return links.bytes();
  }

  @Override
  public final String notes() {
    return settings;
  }

  @Override
  public final void close() {
    closeNodes();
    links.close();
  }

  /** Returns the object with a number, after making all objects up to it that are not there yet. */
  static <T> T made(List<T> made, int number, IntFunction<T> make) {
    while (made.size() <= number) {
      made.add(make.apply(made.size()));
    }
    return made.get(number);
  }

  /** Calls of one thread at one node. A failed call throws an exception of the system. */
  abstract static class PeerCalls implements Calls {
    private final int elements;

    PeerCalls(Config load) {
      elements = load.getInt("elements");
    }

    /** Adds one to a counter; may return earlier, if the calls in flight are limited. */
    abstract void increment(int counter);

    /** Adds an element to a set; as {@link #increment}. */
    void add(int set, int element) {
      throw Calls.unsupported("the operation add");
    }

    @Override
    public final Call call(String operation) {
      return switch (operation) {
        case "increment" ->
            (key, number) -> {
              increment(key);
              return DONE;
            };
        case "add" ->
            (key, number) -> {
              add(key, OsierCalls.elementOf(number, elements));
              return DONE;
            };
        default -> throw Calls.unsupported("the operation " + operation);
      };
    }

    @Override
    public void close() {
      // Calls block, so none is in flight.
    }
  }
}
