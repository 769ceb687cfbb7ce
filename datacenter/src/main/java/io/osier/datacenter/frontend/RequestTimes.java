package io.osier.datacenter.frontend;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.datacenter.forward.DelayCounts;
import io.osier.propagation.host.DelayHistogram;
import io.osier.protocol.Request;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** How long clients' requests took, by kind, and why some failed. Thread-safe, and cheap. */
final class RequestTimes {
  /** What a request is, for metrics and the slow log. */
  enum Kind {
    READ,
    WRITE,
    SCAN,
    TRANSACT,
    PROGRAM,
    THROUGH,
    WATCH,
    INSPECT,
    ADMIN,
    OTHER;

    static Kind of(Request request) {
      return switch (request) {
        case Request.Read r -> READ;
        case Request.Write r -> WRITE;
        case Request.ReadAll r -> READ;
        case Request.WriteAll r -> WRITE;
        case Request.Scan r -> SCAN;
        case Request.Transact r -> TRANSACT;
        case Request.Evaluate r -> PROGRAM;
        case Request.Repeat r -> TRANSACT;
        case Request.Through r -> THROUGH;
        case Request.Watch r -> WATCH;
        case Request.Inspect r -> INSPECT;
        case Request.Administer r -> ADMIN;
        default -> OTHER;
      };
    }

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final long[] BOUNDS_MICROS = {
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000
  };

  private final Map<Kind, DelayCounts> byKind = new EnumMap<>(Kind.class);
  private final LongAdder[] failures = new LongAdder[ErrorCode.values().length];

  RequestTimes() {
    for (Kind kind : Kind.values()) {
      byKind.put(kind, new DelayCounts(BOUNDS_MICROS));
    }
    for (int i = 0; i < failures.length; i++) {
      failures[i] = new LongAdder();
    }
  }

  /** A request was answered after so many nanoseconds. */
  void answered(Kind kind, long nanos) {
    requireNonNull(byKind.get(kind), "every kind is counted").add(nanos);
  }

  void failed(ErrorCode code) {
    failures[code.ordinal()].increment();
  }

  /** By kind, how long requests took: a copy. */
  Map<String, DelayHistogram> times() {
    Map<String, DelayHistogram> times = new TreeMap<>();
    byKind.forEach((kind, cells) -> times.put(kind.label(), cells.figures()));
    return times;
  }

  /** By reason, how many failed, if any did: a copy. */
  Map<ErrorCode, Long> failures() {
    Map<ErrorCode, Long> counts = new EnumMap<>(ErrorCode.class);
    for (ErrorCode code : ErrorCode.values()) {
      long count = failures[code.ordinal()].sum();
      if (count > 0) {
        counts.put(code, count);
      }
    }
    return counts;
  }
}
