package io.osier.datacenter.server;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Measures the phases of a start, so that the log explains a slow one. For the starting thread
 * only.
 */
public final class StartWatch {
  private final Map<String, Duration> phases = new LinkedHashMap<>();
  private long atNanos;

  /**
   * Begins the first phase.
   *
   * @param nowNanos the time of {@link System#nanoTime}
   */
  public StartWatch(long nowNanos) {
    this.atNanos = nowNanos;
  }

  /** Adds a phase that had ended before the watch began, and was measured otherwise. */
  public StartWatch before(String phase, Duration took) {
    phases.put(phase, took);
    return this;
  }

  /**
   * Ends a phase and begins the next one.
   *
   * @param phase the name of the ended phase, one word; times of the same name are added up
   */
  public void done(String phase, long nowNanos) {
    phases.merge(phase, Duration.ofNanos(nowNanos - atNanos), Duration::plus);
    atNanos = nowNanos;
  }

  /** Returns the sum of all phases. */
  public Duration total() {
    return phases.values().stream().reduce(Duration.ZERO, Duration::plus);
  }

  /** Returns one line: {@code 1.21 s (Java 0.40, configuration 0.12, …)}. */
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
