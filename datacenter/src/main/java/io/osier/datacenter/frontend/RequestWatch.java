package io.osier.datacenter.frontend;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.datacenter.forward.DelayCounts;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.host.DelayHistogram;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.protocol.WatchRequest;
import java.net.SocketAddress;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Measures clients' requests: how long they took, by kind, and why some failed. Passes slow
 * requests to the {@link SlowLog}, and traced ones to the {@link Traces}. Thread-safe, and cheap.
 */
public final class RequestWatch {
  /** The kind of a request, in metrics and in the logs. */
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

    /** Returns the kind of a request. */
    static Kind of(Request request) {
      return switch (request) {
        case Request.Read r -> READ;
        case Request.Write r -> WRITE;
        case Request.ReadAll r -> READ;
        case Request.WriteAll r -> WRITE;
        case ScanRequest r -> SCAN;
        case Request.Transact r -> TRANSACT;
        case Request.Evaluate r -> PROGRAM;
        case Request.Repeat r -> TRANSACT;
        case ProgressRequest.Through r -> THROUGH;
        case WatchRequest r -> WATCH;
        case AdminRequest.Inspect r -> INSPECT;
        case AdminRequest.Administer r -> ADMIN;
        default -> OTHER;
      };
    }

    /** Returns the name of the kind in metrics and logs. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The upper ends of the ranges of times, in microseconds. */
  private static final long[] BOUNDS_MICROS = {
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000
  };

  private final SlowLog slow;
  private final Traces traces;
  private final LongSupplier nanoTime;
  private final Map<Kind, DelayCounts> times = new EnumMap<>(Kind.class);
  private final LongAdder[] failures = new LongAdder[ErrorCode.values().length];
  private final LongAdder malformed = new LongAdder();

  /**
   * @param nanoTime a monotonic clock, the one by which partitions measure phases
   */
  public RequestWatch(SlowLog slow, Traces traces, LongSupplier nanoTime) {
    this.slow = slow;
    this.traces = traces;
    this.nanoTime = nanoTime;
    for (Kind kind : Kind.values()) {
      times.put(kind, new DelayCounts(BOUNDS_MICROS));
    }
    Arrays.setAll(failures, code -> new LongAdder());
  }

  long nanos() {
    return nanoTime.getAsLong();
  }

  /** Notes that a request was answered after so many nanoseconds. */
  void took(Request request, long nanos) {
    requireNonNull(times.get(Kind.of(request)), "every kind is counted").add(nanos);
  }

  /** Returns how long requests took, by the label of their kind: a copy. */
  Map<String, DelayHistogram> times() {
    Map<String, DelayHistogram> all = new TreeMap<>();
    times.forEach((kind, counts) -> all.put(kind.label(), counts.figures()));
    return all;
  }

  /** Returns how many requests failed, by reason, without reasons that never occurred: a copy. */
  Map<ErrorCode, Long> failures() {
    Map<ErrorCode, Long> all = new EnumMap<>(ErrorCode.class);
    for (ErrorCode code : ErrorCode.values()) {
      long count = failures[code.ordinal()].sum();
      if (count > 0) {
        all.put(code, count);
      }
    }
    return all;
  }

  /** Notes a message that could not be read. */
  public void malformed() {
    malformed.increment();
  }

  /** Returns how many messages could not be read. */
  long malformedCount() {
    return malformed.sum();
  }

  /**
   * Returns whether a request waits on purpose: a watcher for changes, others for other
   * datacenters.
   */
  private static boolean waits(Request request) {
    return request instanceof WatchRequest
        || request instanceof ProgressRequest.Spread
        || (request instanceof AdminRequest.Administer a && a.asksWhy());
  }

  /** Notes that a request was answered with an error. */
  public void failed(ErrorCode code) {
    failures[code.ordinal()].increment();
  }

  /** Returns whether {@link #answered} is to be told of a request that took so long. */
  boolean listens(long nanos) {
    return traces.isOn() || slow.isSlow(nanos);
  }

  /**
   * Passes an answered request to the traces, and to the slow log if it was slow.
   *
   * @param client the address of the client
   */
  void answered(Request request, Reply reply, SlowLog.Phases phases, SocketAddress client) {
    if (traces.isOn()) {
      traces.answered(
          request,
          reply,
          phases.beganNanos(),
          phases.takenNanos(),
          phases.executedNanos(),
          phases.answeredNanos());
    }
    if (!waits(request) && slow.isSlow(phases.nanos())) {
      slow.answered(request, phases, client);
    }
  }
}
