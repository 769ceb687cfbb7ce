package io.osier.datacenter.store.objects;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.testing.Patience;
import io.osier.testing.ScaledTries;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What other threads do with a table while objects are loaded into it. */
@Timeout(
    value = 2 * Patience.SECONDS,
    unit = TimeUnit.SECONDS,
    threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ObjectTableLoadTest {
  private static final Key KEY = Key.of("key");

  /** With so many keys some are in each segment. */
  private static final int OTHERS = 200;

  private final ObjectTable table =
      new ObjectTable(KeyedHash.of(() -> 7), 1 << 20, Long.MAX_VALUE, (key, objects) -> {});
  private final AtomicInteger loads = new AtomicInteger();
  private final ExecutorService others = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    others.shutdownNow();
  }

  private void elsewhere(Callable<?> what) {
    end(others.submit(what));
  }

  private static <T> T end(Future<T> future) {
    try {
      return future.get();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private KeyObjects load(long value) {
    loads.incrementAndGet();
    return ObjectTableTest.counter(value);
  }

  /** Loads the key's first value, and another one if it is loaded again, with something between. */
  private long valueLoaded(Runnable between) {
    return ObjectTableTest.value(
        table.get(
            KEY,
            key -> {
              if (loads.get() > 0) {
                return load(3);
              }
              KeyObjects first = load(1);
              elsewhere(Executors.callable(between));
              return first;
            }));
  }

  private void evictAll() {
    for (int i = 0; i < 2; i++) { // the first time they may have been used
      table.setBytesMax(0);
      table.setBytesMax(Long.MAX_VALUE);
    }
    assertThat(table.size()).isZero();
  }

  private void assertNothingIsLeft() {
    table.remove(KEY);
    assertThat(table.size()).isZero();
    assertThat(table.heapBytes()).isZero();
  }

  @Test
  void whileAKeyIsLoaded_allOthersAreUsed() {
    long found =
        valueLoaded(
            () -> {
              for (int i = 0; i < OTHERS; i++) {
                Key other = Key.of("other" + i);
                table.put(other, ObjectTableTest.counter(1));
                table.put(other, ObjectTableTest.counter(2));
                assertThat(ObjectTableTest.value(requireNonNull(table.get(other)))).isEqualTo(2);
                assertThat(table.remove(other)).isTrue();
                assertThat(ObjectTableTest.value(table.get(other, k -> ObjectTableTest.counter(5))))
                    .isEqualTo(5);
              }
              evictAll();
            });
    assertThat(found).isEqualTo(1);
    assertThat(loads).hasValue(1);
    assertThat(table.size()).isEqualTo(1);
    assertNothingIsLeft();
  }

  @Test
  void keyThatIsLoaded_isNotThereYet() {
    valueLoaded(
        () -> {
          assertThat(table.contains(KEY)).isFalse();
          assertThat(table.get(KEY)).isNull();
          assertThat(table.size()).isZero();
          assertThat(table.heapBytes()).isZero();
        });
    assertThat(table.contains(KEY)).isTrue();
    assertThat(table.heapBytes()).isPositive();
  }

  @Test
  void keyThatIsPutMeanwhile_keepsWhatWasPut() {
    long found = valueLoaded(() -> assertThat(table.put(KEY, ObjectTableTest.counter(2))).isTrue());
    assertThat(found).isEqualTo(2);
    assertThat(ObjectTableTest.value(requireNonNull(table.get(KEY)))).isEqualTo(2);
    assertThat(loads).hasValue(1);
    assertThat(table.size()).isEqualTo(1);
    assertNothingIsLeft();
  }

  /** Nothing tells then that there was something newer. */
  @Test
  void keyThatIsPutMeanwhile_andEvicted_isLoadedAgain() {
    long found =
        valueLoaded(
            () -> {
              table.put(KEY, ObjectTableTest.counter(2));
              evictAll();
            });
    assertThat(found).isEqualTo(3);
    assertThat(ObjectTableTest.value(requireNonNull(table.get(KEY)))).isEqualTo(3);
    assertNothingIsLeft();
  }

  /** The place is taken again, by one who reads what is newer: it is not the first one's. */
  @Test
  void keyThatIsPutMeanwhile_evicted_andBeingLoadedAgain_isLeftToTheLaterOne() {
    Thread first = Thread.currentThread();
    AtomicBoolean goesOn = new AtomicBoolean();
    CountDownLatch hasBegun = new CountDownLatch(1);
    List<Future<KeyObjects>> later = new ArrayList<>();
    KeyObjects found =
        table.get(
            KEY,
            key -> {
              elsewhere(() -> table.put(KEY, ObjectTableTest.counter(2)));
              evictAll();
              later.add(
                  others.submit(
                      () ->
                          table.get(
                              KEY,
                              k -> {
                                hasBegun.countDown();
                                await().until(() -> goesOn.get() && isWaiting(first));
                                return load(4);
                              })));
              elsewhere(() -> hasBegun.await(Patience.SECONDS, TimeUnit.SECONDS));
              goesOn.set(true);
              return load(1);
            });
    assertThat(ObjectTableTest.value(found)).isEqualTo(4);
    assertThat(ObjectTableTest.value(end(later.getFirst()))).isEqualTo(4);
    assertThat(ObjectTableTest.value(requireNonNull(table.get(KEY)))).isEqualTo(4);
    assertNothingIsLeft();
  }

  @Test
  void keyThatIsRemovedMeanwhile_isLoadedAgain() {
    long found = valueLoaded(() -> assertThat(table.remove(KEY)).isFalse());
    assertThat(found).isEqualTo(3);
    assertThat(loads).hasValue(2);
    assertNothingIsLeft();
  }

  @Test
  void segmentThatIsDividedMeanwhile_hasTheKey() {
    int many = 20 * SegmentTable.SEGMENT_SLOTS_MAX;
    valueLoaded(
        () -> {
          for (int i = 0; i < many; i++) {
            table.put(Key.of("other" + i), ObjectTableTest.counter(1));
          }
        });
    assertThat(loads).hasValue(1);
    assertThat(ObjectTableTest.value(requireNonNull(table.get(KEY)))).isEqualTo(1);
    assertThat(table.size()).isEqualTo(many + 1);
  }

  @Test
  void loadThatFails_leavesNothing() {
    assertThatThrownBy(
            () ->
                table.get(
                    KEY,
                    key -> {
                      throw new IllegalStateException("damaged");
                    }))
        .hasMessage("damaged");
    assertNothingIsLeft();
    assertThat(valueLoaded(() -> {})).isEqualTo(1);
  }

  // ---------------------------------------------------------------- several who want one key

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.WAITING;
  }

  /** One more who wants the key, and waits. */
  private Future<Long> waiter() {
    FutureTask<Long> task =
        new FutureTask<>(() -> ObjectTableTest.value(table.get(KEY, key -> load(9))));
    Thread thread = Thread.ofPlatform().daemon().start(task);
    await().until(() -> isWaiting(thread));
    return task;
  }

  @Test
  void severalWhoWantAKey_loadItOnce() {
    List<Future<Long>> waiters = new ArrayList<>();
    table.setBytesMax(0); // what one has loaded is gone before others could look
    valueLoaded(
        () -> {
          waiters.add(waiter());
          waiters.add(waiter());
        });
    assertThat(waiters).allSatisfy(waiter -> assertThat(end(waiter)).isEqualTo(1));
    assertThat(loads).hasValue(1);
  }

  @Test
  void whoWaitsForALoadThatFails_loads() {
    List<Future<Long>> waiters = new ArrayList<>();
    assertThatThrownBy(
            () ->
                table.get(
                    KEY,
                    key -> {
                      waiters.add(waiter());
                      throw new IllegalStateException("damaged");
                    }))
        .hasMessage("damaged");
    assertThat(end(waiters.getFirst())).isEqualTo(9);
    assertThat(ObjectTableTest.value(requireNonNull(table.get(KEY)))).isEqualTo(9);
    assertNothingIsLeft();
  }

  @Test
  void whoWaitsForAKeyThatIsPut_goesOnBeforeItIsLoaded() {
    valueLoaded(
        () -> {
          Future<Long> waiter = waiter();
          table.put(KEY, ObjectTableTest.counter(2));
          assertThat(end(waiter)).isEqualTo(2);
        });
    assertNothingIsLeft();
  }

  @Test
  void whoWaitsForAKeyThatIsRemoved_loadsItAnew() {
    long found =
        valueLoaded(
            () -> {
              Future<Long> waiter = waiter();
              table.remove(KEY);
              assertThat(end(waiter)).isEqualTo(9);
            });
    assertThat(found).as("it has found that").isEqualTo(9);
    assertNothingIsLeft();
  }

  // ---------------------------------------------------------------- many at random

  /**
   * Who writes does so on the disk first and then in the table, which has room for few: nobody gets
   * less than was in the table when it began, nor other than is on the disk at the end.
   */
  @Test
  void whateverIsPutAndEvictedMeanwhile_nobodyGetsWhatIsOlder() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    int keys = 40;
    AtomicLongArray disk = new AtomicLongArray(keys);
    AtomicLongArray known = new AtomicLongArray(keys);
    for (int k = 0; k < keys; k++) {
      disk.set(k, 1);
    }
    table.setBytesMax(3_000);
    AtomicBoolean done = new AtomicBoolean();
    List<Future<?>> readers = new ArrayList<>();
    for (int r = 1; r <= 2; r++) {
      Random random = new Random(seed + r);
      readers.add(
          others.submit(
              () -> {
                while (!done.get()) {
                  int k = random.nextInt(keys);
                  long least = known.get(k);
                  assertThat(valueOf(k, disk)).as("seed %d", seed).isGreaterThanOrEqualTo(least);
                }
              }));
    }
    Random random = new Random(seed);
    int last = ScaledTries.scaled(200_000);
    for (int i = 2; i < last && readers.stream().noneMatch(Future::isDone); i++) {
      int k = random.nextInt(keys);
      disk.set(k, i);
      table.put(Key.of("key" + k), ObjectTableTest.counter(i));
      known.set(k, i);
      if (random.nextInt(8) == 0) {
        table.remove(Key.of("key" + random.nextInt(keys)));
      }
    }
    done.set(true);
    readers.forEach(ObjectTableLoadTest::end);
    for (int k = 0; k < keys; k++) {
      assertThat(valueOf(k, disk)).as("seed %d", seed).isEqualTo(disk.get(k));
      table.remove(Key.of("key" + k));
    }
    assertNothingIsLeft();
  }

  private long valueOf(int k, AtomicLongArray disk) {
    return ObjectTableTest.value(
        table.get(Key.of("key" + k), key -> ObjectTableTest.counter(disk.get(k))));
  }
}
