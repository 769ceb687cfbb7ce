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
import io.osier.datacenter.store.VersionStore;
import io.osier.datacenter.store.memory.MemoryVersions;
import io.osier.propagation.host.StoredObjects;
import io.osier.testing.Faked;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** What catching up reads is read by others: the partition is woken, and sees the present. */
final class ReadAheadTest {
  private static final ReplicaId SELF = new ReplicaId("eu", 1);
  private static final int OBJECTS = 20;

  private final MemoryVersions versions = new MemoryVersions();
  private final List<Runnable> readings = new ArrayList<>();
  private final ObjectCache cache =
      new ObjectCache(versions, KeyedHash.of(() -> 7), 1 << 20, (k, o) -> () -> {});
  private final StoreScan scan = new StoreScan(versions, cache);
  private final ReadAhead ahead = new ReadAhead(scan, cache, readings::add);
  private int wakes;

  ReadAheadTest() {
    ahead.attach(() -> wakes++);
    for (int i = 0; i < OBJECTS; i++) {
      versions.write(
          List.of(new Change.PutSnapshot(object(i), VersionVector.EMPTY.with(SELF, 1), state(i))));
    }
  }

  private static ObjectId object(int i) {
    return new ObjectId(Key.of("k" + (char) ('a' + i)), CrdtType.G_SET);
  }

  private static CrdtState state(int value) {
    return CrdtState.bottom(CrdtType.G_SET)
        .prepare(new Operation.Add(Value.of(value)), SELF, 1, 0, 1, 0);
  }

  private void readAll() {
    List<Runnable> some = List.copyOf(readings);
    readings.clear();
    some.forEach(Runnable::run);
  }

  private StoredObjects.Page page(Optional<ObjectId> after, int limit, long bytesMax) {
    assertThat(ahead.page(after, limit, bytesMax)).as("nothing is read here").isEmpty();
    int before = wakes;
    readAll();
    assertThat(wakes).isEqualTo(before + 1);
    return ahead.page(after, limit, bytesMax).orElseThrow();
  }

  private static List<ObjectId> objects(StoredObjects.Page page) {
    return page.entries().stream().map(StoredObjects.Entry::object).toList();
  }

  @Test
  void pages_areReadByOthers_andGoThroughAllObjects() {
    List<ObjectId> found = new ArrayList<>();
    Optional<ObjectId> after = Optional.empty();
    StoredObjects.Page page;
    do {
      page = page(after, 7, 1 << 20);
      found.addAll(objects(page));
      after = Optional.of(found.getLast());
    } while (!page.end());
    assertThat(found).isEqualTo(versions.objects(Optional.empty(), 1_000)).hasSize(OBJECTS);
    assertThat(cache.misses()).as("a scan takes no place in the cache").isZero();
    assertThat(objects(page(Optional.empty(), 7, 1))).as("a page of few bytes").hasSize(1);
  }

  @Test
  void whatWasChangedWhileAPageWasRead_isShownAsItIsNow() {
    ahead.page(Optional.empty(), 100, 1 << 20);
    readAll();
    cache.put(object(3).key(), KeyObjects.NOTHING.with(state(99), 1)); // pending
    ahead.changed(object(3).key());
    cache.putWithout(object(5).key(), KeyObjects.NOTHING); // dropped
    ahead.changed(object(5).key());
    ObjectId fresh = new ObjectId(Key.of("kaa"), CrdtType.G_SET);
    cache.put(fresh.key(), KeyObjects.NOTHING.with(state(7), 1));
    ahead.changed(fresh.key());
    StoredObjects.Page page = ahead.page(Optional.empty(), 100, 1 << 20).orElseThrow();
    assertThat(page.end()).isTrue();
    assertThat(objects(page)).hasSize(OBJECTS).contains(fresh).doesNotContain(object(5));
    assertThat(page.entries())
        .contains(new StoredObjects.Entry(object(3), state(99)))
        .contains(new StoredObjects.Entry(object(4), state(4)));
  }

  /** It was in neither the page nor what waits for the disk: 5 datacenters, seed 60. */
  @Test
  void objectThatWasMadeSinceAPageWasRead_andIsOnTheDisk_isInIt_ifItIsOfItsRange() {
    ahead.page(Optional.empty(), 3, 1 << 20); // ka, kb, kc
    readAll();
    for (String key : List.of("kaa", "kd0")) {
      ObjectId fresh = new ObjectId(Key.of(key), CrdtType.G_SET);
      versions.write(
          List.of(new Change.PutSnapshot(fresh, VersionVector.EMPTY.with(SELF, 2), state(7))));
      ahead.changed(fresh.key());
    }
    StoredObjects.Page page = ahead.page(Optional.empty(), 3, 1 << 20).orElseThrow();
    ObjectId within = new ObjectId(Key.of("kaa"), CrdtType.G_SET);
    assertThat(objects(page)).containsExactly(object(0), within, object(1), object(2));
  }

  /**
   * It was not in the store when that was read, and no longer in what waits for the disk when that
   * was looked through: a peer that was given such a scan lacked it for ever.
   */
  @Test
  void objectThatBecomesDurableWhileAPageIsRead_isInIt() {
    ObjectId fresh = new ObjectId(Key.of("kaa"), CrdtType.G_SET);
    cache.put(fresh.key(), KeyObjects.NOTHING.with(state(7), 1));
    VersionStore slow =
        afterObjectsAreRead(
            () -> {
              versions.write(
                  List.of(
                      new Change.PutSnapshot(fresh, VersionVector.EMPTY.with(SELF, 2), state(7))));
              cache.becameDurable(List.of(fresh.key()), 1);
            });
    ReadAhead behind = new ReadAhead(new StoreScan(slow, cache), cache, readings::add);
    behind.page(Optional.empty(), 100, 1 << 20);
    readAll();
    assertThat(cache.pending()).as("durable before anybody looks at the page").isEmpty();
    assertThat(objects(behind.page(Optional.empty(), 100, 1 << 20).orElseThrow()))
        .hasSize(OBJECTS + 1)
        .contains(fresh);
  }

  /** Event loops run partitions, too. */
  @Test
  void missOfAPartition_isOneThatIsWaitedFor_whoeverRunsIt() {
    cache.prefetch(object(1).key());
    assertThat(cache.misses()).isEqualTo(1);
    assertThat(cache.slowMisses()).as("was read ahead").isZero();
    cache.get(object(1).key());
    assertThat(cache.misses()).isEqualTo(1);
    cache.get(object(2).key());
    assertThat(cache.misses()).isEqualTo(2);
    assertThat(cache.slowMisses()).isEqualTo(1);
  }

  /** The store, during whose walks something else happens. */
  private VersionStore afterObjectsAreRead(Runnable then) {
    return Faked.of(
        VersionStore.class,
        (proxy, method, arguments) -> {
          Object result = method.invoke(versions, arguments);
          if (method.getName().equals("objects")) {
            then.run();
          }
          return result;
        });
  }

  @Test
  void pageOfWhichEverythingWasDropped_isNotEmpty() {
    ahead.page(Optional.empty(), 2, 1 << 20);
    readAll();
    for (int i = 0; i < 3; i++) {
      cache.putWithout(object(i).key(), KeyObjects.NOTHING);
      ahead.changed(object(i).key());
    }
    StoredObjects.Page page = ahead.page(Optional.empty(), 2, 1 << 20).orElseThrow();
    assertThat(objects(page)).containsExactly(object(3));
  }

  @Test
  void objects_areBroughtOnce_andReadInPlaceIfTheyAreGoneAgain() {
    List<ObjectId> wanted = List.of(object(1), object(2));
    assertThat(ahead.areAtHand(wanted)).isFalse();
    assertThat(ahead.areAtHand(List.of(object(9)))).as("one after the other").isFalse();
    readAll();
    assertThat(wakes).isEqualTo(1);
    assertThat(ahead.areAtHand(wanted)).isTrue();
    assertThat(cache.isCached(object(2).key())).isTrue();
    ObjectCache tiny = new ObjectCache(versions, KeyedHash.of(() -> 7), 0, (k, o) -> () -> {});
    ReadAhead inVain = new ReadAhead(new StoreScan(versions, tiny), tiny, readings::add);
    assertThat(inVain.areAtHand(wanted)).isFalse();
    readAll();
    assertThat(tiny.isCached(object(1).key())).isFalse();
    assertThat(inVain.areAtHand(wanted)).isTrue();
  }

  @Test
  void whenNobodyReadsAnyMore_thePartitionDoes() {
    ReadAhead alone =
        new ReadAhead(
            scan,
            cache,
            r -> {
              throw new RejectedExecutionException();
            });
    assertThat(alone.areAtHand(List.of(object(1)))).isTrue();
    assertThat(alone.page(Optional.empty(), 100, 1 << 20).orElseThrow().entries()).hasSize(OBJECTS);
  }
}
