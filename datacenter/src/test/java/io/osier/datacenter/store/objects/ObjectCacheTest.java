package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyedHash;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.StoredKey;
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.testing.Faked;
import io.osier.testing.Patience;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Neither a disk that is slow nor making room delays others, and nothing newer is covered. */
@Timeout(
    value = Patience.SECONDS,
    unit = TimeUnit.SECONDS,
    threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ObjectCacheTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final ObjectId COLD = new ObjectId(Key.of("cold"), CrdtType.G_SET);

  /** So many that each segment of the table has some. */
  private static final int OTHERS = 200;

  private final MemoryVersions versions = new MemoryVersions();
  private final ExecutorService others = Executors.newCachedThreadPool();

  /** What another thread does after the disk was read, and before the reader has it; once. */
  private Runnable whileRead = () -> {};

  /** What another thread does while something is evicted. */
  private Runnable whileEvicted = () -> {};

  private final ObjectCache cache =
      new ObjectCache(
          slow(),
          KeyedHash.of(() -> 7),
          1 << 20,
          (key, objects) -> {
            elsewhere(whileEvicted);
            return () -> {};
          });

  private VersionStore slow() {
    return Faked.of(
        VersionStore.class,
        (proxy, method, arguments) -> {
          Object result = method.invoke(versions, arguments);
          Runnable first = whileRead;
          whileRead = () -> {};
          elsewhere(first);
          return result;
        });
  }

  private void elsewhere(Runnable what) {
    try {
      others.submit(what).get();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void end() {
    others.shutdownNow();
  }

  private static CrdtState state(int value) {
    return CrdtState.bottom(CrdtType.G_SET)
        .prepare(new Operation.Add(Value.of(value)), SELF, 1, 0, 1, 0);
  }

  private static ObjectId other(int i) {
    return new ObjectId(Key.of("other" + i), CrdtType.G_SET);
  }

  /** Executes an update, and writes it. */
  private void update(ObjectId object, int value, long group) {
    cache.put(object.key(), KeyObjects.NOTHING.with(state(value), group));
    VersionVector at = VersionVector.EMPTY.with(SELF, group);
    versions.write(List.of(new Change.PutSnapshot(object, at, state(value))));
    cache.becameDurable(List.of(object.key()), group);
  }

  private void evictAll() {
    for (int i = 0; i < 2; i++) { // the first time they may have been used
      cache.setBytesMax(0);
      cache.setBytesMax(1 << 20);
    }
    assertThat(cache.size()).isZero();
  }

  @Test
  void whileAKeyIsRead_othersBecomeDurable_andAreShown() {
    whileRead =
        () -> {
          for (int i = 0; i < OTHERS; i++) {
            update(other(i), i, i + 1);
            assertThat(cache.durablyStored(other(i).key()).map(StoredKey::states))
                .contains(List.of(state(i)));
          }
        };
    assertThat(cache.get(COLD.key()).states()).isEmpty();
    assertThat(cache.size()).isEqualTo(OTHERS + 1);
  }

  /** A reader that was late has put the older state back, for everybody. */
  @Test
  void keyThatIsChangedWhileItIsReadAhead_andEvicted_isAsItWasChanged() {
    update(COLD, 1, 1);
    evictAll();
    whileRead =
        () -> {
          update(COLD, 2, 2);
          evictAll();
        };
    cache.prefetch(COLD.key());
    assertThat(cache.durablyStored(COLD.key()).map(StoredKey::states)).contains(List.of(state(2)));
    assertThat(cache.get(COLD.key()).states()).containsExactly(state(2));
  }

  /** Until it is durable only the partition sees it; then everybody does. */
  @Test
  void keyThatIsChangedWhileItIsReadAhead_isShownOnceThatIsDurable() {
    update(COLD, 1, 1);
    evictAll();
    whileRead = () -> cache.put(COLD.key(), KeyObjects.NOTHING.with(state(2), 2));
    cache.prefetch(COLD.key());
    assertThat(cache.durablyStored(COLD.key())).isEmpty();
    assertThat(cache.readDurably(COLD.key()).states()).containsExactly(state(1));
    assertThat(cache.get(COLD.key()).states()).containsExactly(state(2));
    cache.becameDurable(List.of(COLD.key()), 2);
    assertThat(cache.readDurably(COLD.key()).states()).containsExactly(state(2));
    assertThat(cache.durablyStored(COLD.key()).map(StoredKey::states)).contains(List.of(state(2)));
  }

  @Test
  void whileRoomIsMadeForWhatIsDurable_othersAreShown() {
    update(COLD, 1, 1);
    AtomicInteger shown = new AtomicInteger();
    whileEvicted =
        () -> {
          cache.durablyStored(COLD.key());
          shown.incrementAndGet();
        };
    for (int i = 0; shown.get() == 0; i++) {
      update(other(i), i, i + 2);
    }
    assertThat(cache.heapBytes()).isLessThanOrEqualTo(1 << 20);
  }
}
