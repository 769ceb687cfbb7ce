package io.osier.datacenter.cli.session;

import java.util.Collection;
import java.util.List;
import java.util.Locale;

/** Renders times and numbers for people. Pure. */
final class Durations {
  private Durations() {}

  /** Returns for example {@code 340 ms}, {@code 39 s}, {@code 1 h 5 min}. */
  static String text(long millis) {
    if (millis < 1_000) {
      return millis + " ms";
    }
    long seconds = millis / 1_000;
    if (seconds < 10) {
      return String.format(Locale.ROOT, millis % 1_000 < 50 ? "%.0f s" : "%.1f s", millis / 1e3);
    }
    if (seconds < 120) {
      return seconds + " s";
    }
    long minutes = seconds / 60;
    return minutes < 120 ? minutes + " min" : minutes / 60 + " h " + minutes % 60 + " min";
  }

  /** Returns a number with separated thousands. */
  static String number(long n) {
    return String.format(Locale.ROOT, "%,d", n);
  }

  /** Returns for example {@code 1,200 updates}. */
  static String updates(long n) {
    return number(n) + (n == 1 ? " update" : " updates");
  }

  /** Returns for example {@code a, b and c}. */
  static String listed(Collection<String> names) {
    List<String> all = List.copyOf(names);
    return all.size() < 2
        ? String.join("", all)
        : String.join(", ", all.subList(0, all.size() - 1)) + " and " + all.getLast();
  }
}
