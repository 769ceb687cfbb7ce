package io.osier.datacenter.metrics.report;

import io.osier.datacenter.metrics.Snapshot;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of peers whose clocks are ahead of the one here: of concurrent updates of a register those
 * of the datacenter whose clock is ahead win. Takes one snapshot at a time; {@link #warnings} is
 * for any thread.
 */
public final class ClockWatch implements Consumer<Snapshot> {
  /** By how many milliseconds a peer's clock may be ahead; clocks that are kept by NTP are not. */
  static final long AHEAD_MILLIS_MAX = 500;

  private static final Logger LOG = LoggerFactory.getLogger(ClockWatch.class);

  private volatile Set<String> ahead = Set.of();

  @Override
  public void accept(Snapshot now) {
    TreeMap<String, Long> millis = new TreeMap<>();
    now.keyspaces()
        .forEach(
            keyspace ->
                keyspace
                    .peers()
                    .forEach(
                        (dc, streams) ->
                            streams.forEach(
                                p -> millis.merge(dc, p.from().aheadMillis(), Math::max))));
    look(millis);
  }

  /**
   * Takes what was measured.
   *
   * @param millis by how much the peers' clocks are ahead
   */
  void look(Map<String, Long> millis) {
    Set<String> found = new TreeSet<>();
    Set<String> before = ahead;
    millis.forEach(
        (dc, by) -> {
          boolean was = before.contains(dc);
          if (by > (was ? AHEAD_MILLIS_MAX / 2 : AHEAD_MILLIS_MAX)) {
            found.add(dc);
            if (!was) {
              LOG.warn("{}; it is {} ms at least", warning(dc), by);
            }
          } else if (was) {
            LOG.info("the clock of {} is not ahead of the one here any more", dc);
          }
        });
    ahead = Set.copyOf(found);
  }

  private static String warning(String dc) {
    return ("the clock of %1$s is more than %2$d ms ahead of the one here: of concurrent updates"
            + " those of %1$s win, and one of the two clocks is wrong")
        .formatted(dc, AHEAD_MILLIS_MAX);
  }

  /** Returns a warning, in words, for each peer whose clock is ahead. */
  List<String> warnings() {
    return ahead.stream().sorted().map(ClockWatch::warning).toList();
  }
}
