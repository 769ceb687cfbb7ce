package io.osier.datacenter.frontend;

import io.osier.core.Value;
import io.osier.datacenter.forward.Forwardable;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Request;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Logs requests that took long, with what they waited for most, and the parts of their time: {@code
 * read}, until the object was read from the disk; {@code queue}, until the partition took the
 * request; {@code past} and {@code rights}, until updates or rights that it needs had come from
 * other datacenters; {@code execute}, until its batch was executed; {@code durable}, until its
 * records were on the disk and the answer could leave. At most {@link #LINES_MAX} lines a second;
 * the next line says how many were left out. Thread-safe.
 */
public final class SlowLog {
  private static final Logger LOG = LoggerFactory.getLogger("io.osier.slow");

  /** The most lines a second, since what makes one request slow makes thousands slow. */
  static final int LINES_MAX = 10;

  private final long thresholdNanos;
  private final LineLimit lines = new LineLimit(LINES_MAX);

  /**
   * @param thresholdNanos the time from which on a request is slow; 0 for never
   */
  public SlowLog(long thresholdNanos) {
    this.thresholdNanos = thresholdNanos;
  }

  /**
   * The times of a request's phases, by the monotonic clock.
   *
   * @param takenNanos when its partition took it; 0 if it needed none
   * @param executedNanos when its batch was executed; 0 if it was in none
   * @param waited what else it waited for
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

    /** Returns what the request waited for most, and the parts of its time. */
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

  /** Returns whether a request that took so long is slow. */
  boolean isSlow(long nanos) {
    return thresholdNanos > 0 && nanos >= thresholdNanos;
  }

  /** Logs a slow request. */
  void answered(Request request, Phases phases, Object client) {
    if (!lines.tryPass(phases.answeredNanos)) {
      return;
    }
    // Clients may name a keyspace that does not exist, with a line end in its name.
    String keyspace =
        Value.printable(Forwardable.keyspace(request).orElse("").getBytes(StandardCharsets.UTF_8));
    int others = lines.takeLeftOut();
    try (MDC.MDCCloseable named = MDC.putCloseable("keyspace", keyspace)) {
      LOG.warn(
          "slow {} of {} in '{}' took {} ms: {}; client {}{}",
          RequestWatch.Kind.of(request).label(),
          objectOf(request),
          keyspace,
          Math.round(phases.nanos() / 1e6),
          phases,
          client,
          others == 0 ? "" : " (and " + others + " others since the last such line)");
    }
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
      case AdminRequest.Administer r -> r.toString();
      default -> "many objects";
    };
  }

  private static String parts(Request.Transact step) {
    return step.updates().size() + " updates and " + step.reads().size() + " reads";
  }
}
