package io.osier.bench.demo;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.core.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The values written to last-writer-wins registers, each value once. A write that was called more
 * than {@link #TOLERANCE_NANOS} after another one was acknowledged must win, since all datacenters
 * use one machine's clock; of other writes any may win. Thread-safe.
 */
final class LastWrites {
  static final long TOLERANCE_NANOS = 1_000_000_000;

  /**
   * A write that may be the last.
   *
   * @param endedNanos when the write was acknowledged; Long.MAX_VALUE if it may still be done
   */
  private record Write(Value value, long endedNanos) {}

  /** The writes to one register that may be its last. */
  private static final class Register {
    final List<Write> candidates = new ArrayList<>();

    /** When the latest of the acknowledged writes was called. */
    long calledNanos;

    boolean isWritten;

    synchronized void add(Write write, boolean isAcknowledged, long called) {
      candidates.add(write);
      if (isAcknowledged) {
        calledNanos = isWritten ? Math.max(calledNanos, called) : called;
        isWritten = true;
      }
      if (isWritten) {
        candidates.removeIf(w -> w.endedNanos < calledNanos - TOLERANCE_NANOS);
      }
    }

    synchronized Audit audit(Optional<Value> shown) {
      boolean isOne =
          shown.isPresent() && candidates.stream().anyMatch(w -> shown.get().equals(w.value));
      if (isOne || (shown.isEmpty() && !isWritten)) {
        return Audit.RIGHT;
      }
      return isWritten ? new Audit(1, 0) : new Audit(0, 1);
    }
  }

  private final Map<String, Register> registers = new ConcurrentHashMap<>();

  private Register of(String register) {
    return registers.computeIfAbsent(register, r -> new Register());
  }

  /**
   * Notes a write that was called at {@code calledNanos} and acknowledged at {@code nowNanos}; both
   * times are of one clock and not negative.
   */
  void acknowledged(String register, Value value, long calledNanos, long nowNanos) {
    of(register).add(new Write(value, nowNanos), true, calledNanos);
  }

  /** Notes a write that may be done, now or later. */
  void unknown(String register, Value value) {
    of(register).add(new Write(value, Long.MAX_VALUE), false, 0);
  }

  /**
   * Compares registers with the acknowledged writes. A register that shows an older write or
   * nothing lacks its last write; one that shows a value nobody wrote is surplus.
   */
  Audit audit(Function<String, Optional<Value>> shown, Iterable<String> strangers) {
    Audit all = Audit.strangers(strangers, registers.keySet());
    for (Map.Entry<String, Register> each : registers.entrySet()) {
      all = all.plus(each.getValue().audit(shown.apply(each.getKey())));
    }
    return all;
  }
}
