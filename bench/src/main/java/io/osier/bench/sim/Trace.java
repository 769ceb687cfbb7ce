package io.osier.bench.sim;

import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.Locale;

/** The last events of a simulation, formatted only when they are needed; and a hash over all. */
final class Trace {
  private static final int KEPT = 400;

  private record Line(long nanos, String format, Object[] arguments) {
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT, "%12.6f s  %s", nanos / 1e9, String.format(Locale.ROOT, format, arguments));
    }
  }

  private final ArrayDeque<Line> last = new ArrayDeque<>(KEPT);
  private final PrintStream all;
  private long hash = 1;

  /** A trace that also prints every line, if {@code all} is not null. */
  Trace(PrintStream all) {
    this.all = all;
  }

  void add(long nanos, String format, Object... arguments) {
    Line line = new Line(nanos, format, arguments);
    hash = hash * 31 + nanos;
    hash = hash * 31 + format.hashCode();
    if (all != null) {
      all.println(line);
    }
    if (last.size() == KEPT) {
      last.poll();
    }
    last.add(line);
  }

  /** Two runs of one seed have the same. */
  long hash() {
    return hash;
  }

  /** The last lines that mention a word, and the others near the end. */
  String about(String word) {
    StringBuilder text = new StringBuilder();
    for (Line line : last) {
      String formatted = line.toString();
      if (word.isEmpty() || formatted.contains(word) || formatted.contains("fault")) {
        text.append("    ").append(formatted).append('\n');
      }
    }
    return text.toString();
  }
}
