package io.osier.bench.sim.world;

import io.osier.bench.sim.plan.Unit;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What happened, formatted only when it is needed: the last events of each object and the last
 * common ones; and a hash over everything that was sent, asked and answered, by which two runs are
 * compared. Events cost time, so they are kept on demand: whoever wants to know why a seed fails
 * runs it once more.
 */
public final class Trace {
  private static final int KEPT_OBJECT = 60;
  private static final int KEPT_COMMON = 60;

  private record Line(long nanos, long order, String format, Object[] arguments) {
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT, "%12.6f s  %s", nanos / 1e9, String.format(Locale.ROOT, format, arguments));
    }
  }

  private final Scheduler scheduler;
  private final boolean keepsEvents;
  private final @Nullable PrintStream all;
  private final ArrayDeque<Line> common = new ArrayDeque<>(KEPT_COMMON);
  private final Map<String, ArrayDeque<Line>> objects = new HashMap<>();
  private long order;
  private long hash = 1;

  /** A trace that is a hash only. */
  public Trace(Scheduler scheduler) {
    this.scheduler = scheduler;
    this.keepsEvents = false;
    this.all = null;
  }

  /** A trace that keeps events and, if {@code all} is not null, prints every line. */
  public Trace(Scheduler scheduler, @Nullable PrintStream all) {
    this.scheduler = scheduler;
    this.keepsEvents = true;
    this.all = all;
  }

  /** Whether events are kept: only then their arguments need be made. */
  public boolean keepsEvents() {
    return keepsEvents;
  }

  /** Notes an event that concerns no single object, such as a fault. */
  public void note(String format, Object... arguments) {
    if (keepsEvents) {
      add(common, KEPT_COMMON, format, arguments);
    }
  }

  /** Notes an event of one object of a unit. */
  public void about(Unit unit, Object object, String format, Object... arguments) {
    if (keepsEvents) {
      add(
          objects.computeIfAbsent(unit + "/" + object, o -> new ArrayDeque<>()),
          KEPT_OBJECT,
          format,
          arguments);
    }
  }

  private void add(ArrayDeque<Line> to, int kept, String format, Object... arguments) {
    Line line = new Line(scheduler.nanos(), ++order, format, arguments);
    if (all != null) {
      all.println(line);
    }
    if (to.size() == kept) {
      to.poll();
    }
    to.add(line);
  }

  /** Takes bytes that were sent into the hash. */
  public void hash(byte[] bytes) {
    hash = (hash * 31 + scheduler.nanos()) * 31 + Arrays.hashCode(bytes);
  }

  /** Takes a number into the hash that stands for a message. */
  public void hash(long what) {
    hash = (hash * 31 + scheduler.nanos()) * 31 + what;
  }

  /** Two runs of one seed have the same. */
  public long hash() {
    return hash;
  }

  /** The last lines about an object, among the last common ones. */
  public String last(String object) {
    List<Line> lines = new ArrayList<>(common);
    lines.addAll(objects.getOrDefault(object, new ArrayDeque<>()));
    lines.sort(Comparator.comparingLong(Line::order));
    StringBuilder text = new StringBuilder();
    lines.forEach(l -> text.append("    ").append(l).append('\n'));
    return text.toString();
  }
}
