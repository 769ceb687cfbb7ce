package io.osier.datacenter.metrics;

import io.osier.propagation.host.DelayHistogram;
import java.util.List;
import java.util.Locale;

/**
 * A metric: what it is called, what it means, and how it is read off a snapshot. Its name is
 * without the {@code _total} that a counter gets where it is shown.
 *
 * @param name with the unit at its end
 * @param type what may be done with it
 * @param labels their names, in the order of the values
 * @param help what it means, a sentence without its full stop
 */
public record Metric(String name, Type type, List<String> labels, String help, Values values) {
  /** What a metric is. */
  public enum Type {
    /** Grows only, while the process runs. */
    COUNTER,
    /** Goes up and down. */
    GAUGE,
    /** How many of some times were up to each of some bounds. */
    HISTOGRAM;

    /** The word for people. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Reads a metric's values off a snapshot. */
  @FunctionalInterface
  public interface Values {
    /** Gives all values, each with the values of its labels. */
    void read(Snapshot from, Sink to);
  }

  /** Takes a metric's values. */
  public interface Sink {
    /** A counter's or a gauge's. */
    void number(double value, String... labels);

    /** A histogram's. */
    void times(DelayHistogram times, String... labels);
  }
}
