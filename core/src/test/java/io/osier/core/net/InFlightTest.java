package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class InFlightTest {
  @Property
  void isAMap(@ForAll List<Long> numbers, @ForAll List<Long> removed) {
    InFlight<String> underWay = new InFlight<>();
    Map<Long, String> expected = new HashMap<>();
    for (long n : numbers) {
      if (expected.putIfAbsent(n, "of " + n) == null) {
        underWay.put(n, "of " + n);
      }
    }
    removed.addAll(numbers.subList(0, numbers.size() / 2));
    for (long n : removed) {
      assertThat(underWay.remove(n)).isEqualTo(expected.remove(n));
    }
    Map<Long, String> told = new HashMap<>();
    underWay.forEach((value, number) -> told.put(number, value));
    assertThat(told).isEqualTo(expected);
    assertThat(underWay.size()).isEqualTo(expected.size());
    assertThat(underWay.isEmpty()).isEqualTo(expected.isEmpty());
    assertThat(underWay.removeAll()).containsExactlyInAnyOrderElementsOf(expected.values());
    assertThat(underWay.isEmpty()).isTrue();
  }

  @Test
  void numbersInARow_comeBackAsTheyWere() {
    InFlight<Long> underWay = new InFlight<>();
    for (long n = 1; n <= 10_000; n++) {
      underWay.put(n, n);
      if (n > 256) {
        assertThat(underWay.remove(n - 256)).isEqualTo(n - 256);
      }
    }
    assertThat(underWay.size()).isEqualTo(256);
  }
}
