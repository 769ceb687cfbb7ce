package io.osier.datacenter.redis.cursor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Numbers for places of walks. */
final class CursorTableTest {
  private final AtomicLong millis = new AtomicLong(1_000);

  @Test
  void put_place_isFoundByItsNumberForTenMinutes() {
    CursorTable table = new CursorTable(millis::get, new Random(1)::nextLong);
    long number = table.put(new byte[] {1, 2});
    assertThat(table.get(number)).contains(new byte[] {1, 2});
    assertThat(table.get(number)).contains(new byte[] {1, 2}); // a client may ask again
    assertThat(table.get(number + 1)).isEmpty();
    millis.addAndGet(CursorTable.MILLIS - 1);
    assertThat(table.get(number)).isPresent();
    millis.addAndGet(1);
    assertThat(table.get(number)).isEmpty();
  }

  @Test
  void put_oneTooMany_forgetsTheOldest() {
    CursorTable table = new CursorTable(millis::get, new Random(1)::nextLong);
    long first = table.put(new byte[] {0});
    long second = table.put(new byte[] {1});
    for (int i = 2; i < CursorTable.PLACES; i++) {
      table.put(new byte[] {2});
    }
    assertThat(table.get(first)).isPresent();
    long last = table.put(new byte[] {3});
    assertThat(table.get(first)).isEmpty();
    assertThat(table.get(second)).isPresent();
    assertThat(table.get(last)).isPresent();
  }

  @Test
  void put_largePlaces_forgetsTheOldest_andKeepsTheLastHoweverLargeItIs() {
    CursorTable table = new CursorTable(millis::get, new Random(1)::nextLong);
    long first = table.put(new byte[(int) CursorTable.BYTES_MAX / 2]);
    long second = table.put(new byte[(int) CursorTable.BYTES_MAX / 2]);
    assertThat(table.get(first)).isPresent();
    long third = table.put(new byte[1]);
    assertThat(table.get(first)).isEmpty();
    assertThat(table.get(second)).isPresent();
    long larger = table.put(new byte[(int) CursorTable.BYTES_MAX + 1]);
    assertThat(table.get(second)).isEmpty();
    assertThat(table.get(third)).isEmpty();
    assertThat(table.get(larger)).isPresent();
    long last = table.put(new byte[1]);
    assertThat(table.get(larger)).isEmpty();
    assertThat(table.get(last)).isPresent();
  }

  @Test
  void put_numbersDrawnTwiceOrWrong_areDrawnAgain() {
    long[] drawn = {0, Long.MIN_VALUE, 7, 7, -9};
    int[] next = {0};
    CursorTable table = new CursorTable(millis::get, () -> drawn[next[0]++]);
    Set<Long> numbers = new HashSet<>();
    numbers.add(table.put(new byte[] {1}));
    numbers.add(table.put(new byte[] {2}));
    assertThat(numbers).containsExactlyInAnyOrder(7L, -9 & Long.MAX_VALUE);
  }
}
