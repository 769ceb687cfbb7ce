package io.osier.propagation.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

final class CompactedLogProperties {
  /** Each number adds or moves the element of its name; every third one removes it for good. */
  @Property
  void log_isAMapByTick_andTakesRoomForWhatIsInIt(
      @ForAll @Size(max = 300) List<@IntRange(max = 60) Integer> touched,
      @ForAll @LongRange(max = 1_000) long last) {
    CompactedLog<Integer> log = new CompactedLog<>(last);
    TreeMap<Long, Integer> expected = new TreeMap<>();
    for (int thing : touched) {
      expected
          .entrySet()
          .removeIf(
              e -> {
                boolean same = e.getValue() == thing;
                if (same) {
                  log.remove(e.getKey());
                }
                return same;
              });
      if (thing % 3 > 0) {
        long tick = log.add(thing);
        assertThat(tick).isEqualTo(log.last()).isGreaterThan(last);
        expected.put(tick, thing);
      }
      assertThat(log.size()).isEqualTo(expected.size());
      assertThat(log.capacity()).isLessThanOrEqualTo(Math.max(32, 8 * (log.size() + 1)));
    }
    for (long after = 0; after <= log.last(); after++) {
      var next = expected.higherEntry(after);
      assertThat(log.next(after)).isEqualTo(next == null ? 0 : next.getKey());
      if (next != null) {
        assertThat(log.get(next.getKey())).isEqualTo(next.getValue());
      }
    }
  }
}
