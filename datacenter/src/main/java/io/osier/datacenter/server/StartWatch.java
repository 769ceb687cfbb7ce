package io.osier.datacenter.server;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Says what took how long of a start, so that a slow one can be explained by its log. For one
 * thread, the one that starts.
 */
public final class StartWatch {
  private final Map<String, Duration> phases = new LinkedHashMap<>();
  private long atNanos;

  /**
   * Begins now.
   *
   * @param nowNanos as of {@link System#nanoTime}
   */
  public StartWatch(long nowNanos) {
    this.atNanos = nowNanos;
  }

  /** A phase that was over before the watch began, and was measured otherwise. */
  public StartWatch before(String phase, Duration took) {
    phases.put(phase, took);
    return this;
  }

  /**
   * A phase is over; the next one begins now.
   *
   * @param phase in a word; one of the same name goes on
   */
  public void done(String phase, long nowNanos) {
    phases.merge(phase, Duration.ofNanos(nowNanos - atNanos), Duration::plus);
    atNanos = nowNanos;
  }

  /** All phases together. */
  public Duration total() {
    return phases.values().stream().reduce(Duration.ZERO, Duration::plus);
  }

  /** In one line: {@code 1.21 s (Java 0.40, configuration 0.12, …)}. */
  @Override
  public String toString() {
    StringBuilder line = new StringBuilder(seconds(total())).append(" s (");
    phases.forEach(
        (phase, took) ->
            line.append(line.charAt(line.length() - 1) == '(' ? "" : ", ")
                .append(phase)
                .append(' ')
                .append(seconds(took)));
    return line.append(')').toString();
  }

  private static String seconds(Duration took) {
    return String.format(Locale.ROOT, "%.2f", took.toNanos() / 1e9);
  }
}
