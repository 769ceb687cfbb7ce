package io.osier.datacenter.placement;

import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts the requests of this datacenter's clients for keyspaces whose holders follow their load,
 * wherever they are executed. Requests that others forward here were counted there. Thread-safe.
 */
public final class DemandCounters {
  /** The size of the answer is measured for one in this many reads; a power of two. */
  private static final int MEASURED = 16;

  private static final class Counter {
    final LongAdder reads = new LongAdder();
    final LongAdder updates = new LongAdder();
    final LongAdder measured = new LongAdder();
    final LongAdder measuredBytes = new LongAdder();

    /** Written once: if each read wrote it, threads would wait for each other. */
    private boolean begun;

    boolean isMeasured(IntSupplier draw) {
      boolean first = !begun;
      if (first) {
        begun = true;
      }
      return first || (draw.getAsInt() & (MEASURED - 1)) == 0;
    }

    void measured(int of, Reply answer) {
      if (!(answer instanceof Reply.Failure)) {
        measured.add(of);
        measuredBytes.add(MessageHeap.bytes(answer));
      }
    }
  }

  /**
   * The requests since the start.
   *
   * @param measured how many reads have a known size of their answers
   * @param measuredBytes the bytes of these answers
   */
  public record Counts(long reads, long updates, long measured, long measuredBytes) {
    /** Counts of nothing. */
    public static final Counts NONE = new Counts(0, 0, 0, 0);
  }

  private final IntSupplier draw;
  private volatile Map<String, Counter> counters = Map.of();

  public DemandCounters() {
    this(() -> ThreadLocalRandom.current().nextInt());
  }

  /**
   * For tests.
   *
   * @param draw draws which reads after the first are measured
   */
  public DemandCounters(IntSupplier draw) {
    this.draw = draw;
  }

  /** Counts these keyspaces from now on. Called by one thread. */
  public void follow(Collection<String> keyspaces) {
    Map<String, Counter> before = counters;
    if (before.size() != keyspaces.size() || !before.keySet().containsAll(keyspaces)) {
      Map<String, Counter> next = new HashMap<>();
      for (String name : keyspaces) {
        Counter there = before.get(name);
        next.put(name, there == null ? new Counter() : there);
      }
      counters = Map.copyOf(next);
    }
  }

  /** Returns whether nothing is counted. */
  public boolean isEmpty() {
    return counters.isEmpty();
  }

  /** Returns the counted keyspaces, in the order of their names. */
  public Collection<String> keyspaces() {
    return new TreeSet<>(counters.keySet());
  }

  /** Returns the counts of a keyspace. */
  public Counts of(String keyspace) {
    Counter of = counters.get(keyspace);
    return of == null
        ? Counts.NONE
        : new Counts(of.reads.sum(), of.updates.sum(), of.measured.sum(), of.measuredBytes.sum());
  }

  /**
   * Counts a request that is executed now, here or elsewhere.
   *
   * @return takes the answer to measure it; null if it is not measured
   */
  public @Nullable Consumer<Reply> counted(String keyspace, Request request) {
    Counter of = counters.isEmpty() ? null : counters.get(keyspace);
    if (of == null) {
      return null;
    }
    int updates = updates(request);
    if (updates > 0) {
      of.updates.add(updates);
    }
    int reads = reads(request);
    if (reads == 0) {
      return null;
    }
    of.reads.add(reads);
    return of.isMeasured(draw) ? answer -> of.measured(reads, answer) : null;
  }

  /** Counts an update that was acknowledged in front of its partition. */
  public void updated(String keyspace) {
    Counter of = counters.isEmpty() ? null : counters.get(keyspace);
    if (of != null) {
      of.updates.increment();
    }
  }

  private static int reads(Request request) {
    return switch (request) {
      case Request.Read r -> 1;
      case ScanRequest r -> 1;
      case Request.ReadAll r -> r.reads().size();
      case Request.Transact r -> r.reads().size();
      case Request.Evaluate r -> r.isUpdate() ? 0 : r.calls().size();
      default -> 0;
    };
  }

  private static int updates(Request request) {
    return switch (request) {
      case Request.Write r -> 1;
      case Request.WriteAll r -> r.updates().size();
      case Request.Transact r -> r.updates().size();
      case Request.Evaluate r -> r.isUpdate() ? r.calls().size() : 0;
      default -> 0;
    };
  }
}
