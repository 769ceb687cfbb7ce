package io.osier.datacenter.metrics;

import io.osier.propagation.host.DelayHistogram;
import java.util.List;
import java.util.Locale;

/**
 * A metric: its name, its meaning, and how it is read from a snapshot.
 *
 * @param name the name, with the unit at its end, without the {@code _total} that exporters add to
 *     a counter
 * @param type the type
 * @param labels the labels' names, in the order of their values
 * @param help the meaning, a sentence without its full stop
 * @param values reads the values
 */
public record Metric(String name, Type type, List<String> labels, String help, Values values) {
  /** The type of a metric. */
  public enum Type {
    /** Grows only, while the process runs. */
    COUNTER,
    /** Goes up and down. */
    GAUGE,
    /** Counts of times in ranges with fixed bounds. */
    HISTOGRAM;

    /** Returns the type's name in lower case. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Reads a metric's values from a snapshot. */
  @FunctionalInterface
  public interface Values {
    /** Passes all values to a sink, each with the values of its labels. */
    void read(Snapshot from, Sink to);
  }

  /** Takes a metric's values. */
  public interface Sink {
    /** Takes a value of a counter or a gauge. */
    void number(double value, String... labels);

    /** Takes a value of a histogram. */
    void times(DelayHistogram times, String... labels);
  }
}
