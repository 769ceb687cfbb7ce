package io.osier.datacenter.placement;

import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
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
 * What clients of this datacenter ask of keyspaces whose holders follow that, wherever it is done.
 * What is forwarded here by others was counted there. Thread-safe.
 */
public final class DemandCounters {
  /** Of one in so many reads the answer is measured; a power of two. */
  private static final int MEASURED = 16;

  private static final class Counter {
    final LongAdder reads = new LongAdder();
    final LongAdder updates = new LongAdder();
    final LongAdder measured = new LongAdder();
    final LongAdder measuredBytes = new LongAdder();

    /** Written once: threads would wait for each other where each read writes. */
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
   * What was asked since the start.
   *
   * @param measured reads of whose answers the size is known
   * @param measuredBytes of these
   */
  public record Counts(long reads, long updates, long measured, long measuredBytes) {
    /** Nothing. */
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
   * @param draw says of all reads but the first which are measured
   */
  public DemandCounters(IntSupplier draw) {
    this.draw = draw;
  }

  /** From now on these keyspaces are counted. By one thread. */
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

  /** Whether nothing is counted. */
  public boolean isEmpty() {
    return counters.isEmpty();
  }

  /** Those that are counted, in the order of their names. */
  public Collection<String> keyspaces() {
    return new TreeSet<>(counters.keySet());
  }

  /** What was asked of a keyspace. */
  public Counts of(String keyspace) {
    Counter of = counters.get(keyspace);
    return of == null
        ? Counts.NONE
        : new Counts(of.reads.sum(), of.updates.sum(), of.measured.sum(), of.measuredBytes.sum());
  }

  /**
   * Counts a request that is done now, here or elsewhere.
   *
   * @return what is to be shown its answer; null if that is not measured
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
      case Request.Scan r -> 1;
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
