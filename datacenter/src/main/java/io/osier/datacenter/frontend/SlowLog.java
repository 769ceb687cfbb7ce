package io.osier.datacenter.frontend;

import io.osier.core.Value;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.protocol.Request;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Names requests that took long, with what they waited for most, and the parts of their time:
 * {@code read}, until the disk had given the object; {@code queue}, until the partition took it;
 * {@code past} and {@code rights}, until what it needs had come from other datacenters; {@code
 * execute}, until its batch was through; {@code durable}, until the disk had it and the answer
 * could leave. At most {@link #LINES_MAX} lines a second; how many were left out is said with the
 * next one. Thread-safe.
 */
public final class SlowLog {
  private static final Logger LOG = LoggerFactory.getLogger("io.osier.slow");
  private static final long SECOND_NANOS = 1_000_000_000;

  /** So many lines a second at most: what makes one request slow makes thousands slow. */
  static final int LINES_MAX = 10;

  private final long thresholdNanos;
  private final AtomicLong secondBeganNanos = new AtomicLong(Long.MIN_VALUE);
  private final AtomicInteger lines = new AtomicInteger();
  private final AtomicInteger leftOut = new AtomicInteger();

  /**
   * @param thresholdNanos 0 for never
   */
  public SlowLog(long thresholdNanos) {
    this.thresholdNanos = thresholdNanos;
  }

  /**
   * When what was done with a request, by the monotonic clock.
   *
   * @param takenNanos when its partition took it; 0 if none had to
   * @param executedNanos when its batch was through; 0 if it was in none
   * @param waited what it waited for besides
   */
  record Phases(
      long beganNanos,
      long takenNanos,
      long executedNanos,
      long answeredNanos,
      List<Waited> waited) {
    private record Part(String label, String words, long nanos) {}

    long nanos() {
      return answeredNanos - beganNanos;
    }

    private List<Part> parts() {
      if (takenNanos == 0) {
        return List.of();
      }
      long executed = executedNanos == 0 ? answeredNanos : executedNanos;
      long read = 0;
      long inside = 0;
      List<Part> parts = new ArrayList<>();
      for (Waited w : waited) {
        String words = w.what().words() + (w.details().isEmpty() ? "" : ": " + w.details());
        parts.add(new Part(w.what().label(), words, w.nanos()));
        read += w.what() == Waited.For.READ ? w.nanos() : 0;
        inside += w.what() == Waited.For.READ ? 0 : w.nanos();
      }
      parts.add(
          new Part(
              "queue",
              "its turn: its partition was busy with other requests",
              takenNanos - beganNanos - read));
      parts.add(
          new Part(
              "execute", "the execution of its partition's batch", executed - takenNanos - inside));
      parts.add(
          new Part(
              "durable",
              "the disk, to write and sync the log, or for its long answer to be built",
              answeredNanos - executed));
      return parts;
    }

    /** What it waited for most, and how long for what. */
    @Override
    public String toString() {
      List<Part> parts = parts();
      return parts.isEmpty()
          ? "it needed no partition, so the time is not divided"
          : "it waited for "
              + Collections.max(parts, Comparator.comparingLong(Part::nanos)).words
              + " ("
              + parts.stream()
                  .map(p -> "%s %.1f ms".formatted(p.label, Math.max(0, p.nanos) / 1e6))
                  .collect(Collectors.joining(", "))
              + ")";
    }
  }

  /** Whether what took so long is to be named. */
  boolean isSlow(long nanos) {
    return thresholdNanos > 0 && nanos >= thresholdNanos;
  }

  void answered(Request request, Phases phases, Object client) {
    if (!hasRoom(phases.answeredNanos)) {
      leftOut.incrementAndGet();
      return;
    }
    // Whoever asks may name one that there is not, with a line end in it.
    String keyspace = Value.printable(keyspaceOf(request).getBytes(StandardCharsets.UTF_8));
    int others = leftOut.getAndSet(0);
    try (MDC.MDCCloseable named = MDC.putCloseable("keyspace", keyspace)) {
      LOG.warn(
          "slow {} of {} in '{}' took {} ms: {}; client {}{}",
          RequestTimes.Kind.of(request).label(),
          objectOf(request),
          keyspace,
          Math.round(phases.nanos() / 1e6),
          phases,
          client,
          others == 0 ? "" : " (and " + others + " others since the last such line)");
    }
  }

  private boolean hasRoom(long nowNanos) {
    long began = secondBeganNanos.get();
    boolean over = began == Long.MIN_VALUE || nowNanos - began >= SECOND_NANOS;
    if (over && secondBeganNanos.compareAndSet(began, nowNanos)) {
      lines.set(0);
    }
    return lines.incrementAndGet() <= LINES_MAX;
  }

  private static String keyspaceOf(Request request) {
    return switch (request) {
      case Request.Read r -> r.keyspace();
      case Request.Write r -> r.keyspace();
      case Request.ReadAll r -> r.keyspace();
      case Request.WriteAll r -> r.keyspace();
      case Request.Evaluate r -> r.keyspace();
      case Request.Scan r -> r.keyspace();
      case Request.Transact r -> r.keyspace();
      case Request.Repeat r -> r.step().keyspace();
      case Request.Through r -> r.keyspace();
      default -> "";
    };
  }

  private static String objectOf(Request request) {
    return switch (request) {
      case Request.Read r -> "'" + r.key() + "'";
      case Request.Write r -> "'" + r.key() + "'";
      case Request.ReadAll r -> r.reads().size() + " objects";
      case Request.WriteAll r -> r.updates().size() + " objects";
      case Request.Evaluate r -> r.calls().size() + " calls";
      case Request.Transact r -> parts(r);
      case Request.Repeat r -> parts(r.step());
      case Request.Administer r -> r.toString();
      default -> "many objects";
    };
  }

  private static String parts(Request.Transact step) {
    return step.updates().size() + " updates and " + step.reads().size() + " reads";
  }
}
