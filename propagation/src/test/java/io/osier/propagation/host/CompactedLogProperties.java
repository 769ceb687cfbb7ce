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
  /** Each number touches the thing of its name; every third one removes it for good. */
  @Property
  void trail_isAMapByTick_andTakesRoomForWhatIsInIt(
      @ForAll @Size(max = 300) List<@IntRange(max = 60) Integer> touched,
      @ForAll @LongRange(max = 1_000) long last) {
    CompactedLog<Integer> trail = new CompactedLog<>(last);
    TreeMap<Long, Integer> expected = new TreeMap<>();
    for (int thing : touched) {
      expected
          .entrySet()
          .removeIf(
              e -> {
                boolean same = e.getValue() == thing;
                if (same) {
                  trail.remove(e.getKey());
                }
                return same;
              });
      if (thing % 3 > 0) {
        long tick = trail.add(thing);
        assertThat(tick).isEqualTo(trail.last()).isGreaterThan(last);
        expected.put(tick, thing);
      }
      assertThat(trail.size()).isEqualTo(expected.size());
      assertThat(trail.capacity()).isLessThanOrEqualTo(Math.max(32, 8 * (trail.size() + 1)));
    }
    for (long after = 0; after <= trail.last(); after++) {
      var next = expected.higherEntry(after);
      assertThat(trail.next(after)).isEqualTo(next == null ? 0 : next.getKey());
      if (next != null) {
        assertThat(trail.get(next.getKey())).isEqualTo(next.getValue());
      }
    }
  }
}
