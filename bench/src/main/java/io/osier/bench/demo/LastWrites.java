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
 * What was written to registers of which the last writer wins, each value once. The order of two
 * writes is known if one was called after the other was acknowledged, and certain if more than
 * {@link #TOLERANCE_NANOS} were between, since all datacenters go by one machine's clock; of others
 * any may win. Thread-safe.
 */
final class LastWrites {
  static final long TOLERANCE_NANOS = 1_000_000_000;

  /**
   * One that may be the last.
   *
   * @param endedNanos when it was acknowledged; Long.MAX_VALUE if it may still be done
   */
  private record Write(Value value, long endedNanos) {}

  /** What is known of one register. */
  private static final class Register {
    final List<Write> candidates = new ArrayList<>();

    /** When the latest write that was acknowledged was called. */
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

  /** A write was acknowledged now that was called then. Times are of one clock, not negative. */
  void acknowledged(String register, Value value, long calledNanos, long nowNanos) {
    of(register).add(new Write(value, nowNanos), true, calledNanos);
  }

  /** A write may be done, now or later. */
  void unknown(String register, Value value) {
    of(register).add(new Write(value, Long.MAX_VALUE), false, 0);
  }

  /**
   * Holds the registers against what was acknowledged. Missing is the last write of a register that
   * shows an older one or nothing; surplus what was never to be written.
   */
  Audit audit(Function<String, Optional<Value>> shown, Iterable<String> strangers) {
    Audit all = Audit.strangers(strangers, registers.keySet());
    for (Map.Entry<String, Register> each : registers.entrySet()) {
      all = all.plus(each.getValue().audit(shown.apply(each.getKey())));
    }
    return all;
  }
}
