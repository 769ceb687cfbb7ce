package io.osier.datacenter.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import io.osier.testing.Faked;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A feed whose turns are taken by the test, in front of a partition that tells what it is told. */
final class KeyspaceFeedTest {
  private static final ReplicaId EU = new ReplicaId("eu", 5);
  private static final long LIFE = 7;
  private static final long BYTES = 20_000;

  private static final List<CrdtType> SEVERAL =
      List.of(CrdtType.PN_COUNTER, CrdtType.G_SET, CrdtType.AW_SET, CrdtType.RW_SET);

  /** Whether the partition tells at once. */
  private boolean tells = true;

  private final MemoryStore store = new MemoryStore();

  /** The same, for who wants to know what it is asked. */
  private ObjectStore asked = store;

  private final List<Reply> replies = new ArrayList<>();
  private final KeyspaceFeed feed =
      new KeyspaceFeed(
          EU, Partitioning.byKey(1), BYTES, Runnable::run, this::now, () -> LIFE, () -> {});
  private long now;
  private long updates;
  private boolean fails;
  private VersionVector forgotten = VersionVector.EMPTY;

  KeyspaceFeedTest() {
    feed.begin(
        List.of(
            new FeedSource() {
              @Override
              public ObjectStore store() {
                return asked;
              }

              @Override
              public Optional<VersionVector> forgotten() {
                if (fails) {
                  throw new IllegalStateException("as the test wants");
                }
                return Optional.of(forgotten);
              }

              @Override
              public boolean isReady() {
                return true;
              }

              @Override
              public void watched(long life) {
                if (tells) {
                  visible(List.of());
                }
              }
            }));
  }

  private long now() {
    return now;
  }

  private void visible(List<Effects.Change> changes) {
    updates += changes.size();
    VersionVector here = updates == 0 ? VersionVector.EMPTY : VersionVector.of(EU, updates);
    feed.ring(0).visible(new Effects.Visible(LIFE, changes, here, here, List.of(), Map.of()));
  }

  private void changed(String key) {
    ObjectId object = new ObjectId(Key.of(key), CrdtType.PN_COUNTER);
    visible(List.of(new Effects.Change(object, EU, true)));
  }

  private static WatchRequest ofKey(String key, List<WatchRequest.Place> places) {
    return new WatchRequest("shop", Optional.of(Key.of(key)), false, places, false, 1_000);
  }

  private static WatchRequest ofAll(List<WatchRequest.Place> places) {
    return new WatchRequest("shop", Optional.empty(), true, places, false, 1_000);
  }

  private void watch(WatchRequest request) {
    feed.watch(request, replies::add);
    feed.turn();
  }

  private Reply answer() {
    feed.turn();
    return replies.removeFirst();
  }

  /** Begins to watch a key; returns its position. */
  private List<WatchRequest.Place> begin(String key) {
    watch(ofKey(key, List.of()));
    return ((Reply.Changes) answer()).places();
  }

  /** So a client that asks for ever new keys takes no more than the budget. */
  @Test
  void keysThatAreWatched_takeAtMostHalfOfTheBudget_untilNobodyAsksForThem() {
    int watched = 0;
    Reply reply;
    do {
      watch(ofKey("key" + watched++, List.of()));
      reply = answer();
    } while (reply instanceof Reply.Changes && watched < 10_000);
    assertThat(((Reply.Failure) reply).code()).isEqualTo(ErrorCode.OVERLOADED);
    assertThat(((Reply.Failure) reply).message()).contains("osier.memory.changes");
    long ofKeys = feed.figures().keptBytes();
    assertThat(ofKeys).isBetween(BYTES / 4, BYTES / 2);
    assertThat(watched).isBetween(20, 80);
    for (int i = 0; i < 1_000; i++) {
      changed("key" + i);
    }
    assertThat(feed.figures().keptBytes()).as("no more is needed").isEqualTo(ofKeys);
    watch(ofAll(List.of()));
    answer();
    for (int i = 0; i < 1_000; i++) {
      changed("key" + i);
    }
    assertThat(feed.figures().keptBytes()).isBetween(BYTES / 2, BYTES);
    assertThat(begin("key1")).as("a known one").hasSize(1);
    now += 40_000_000_000L;
    feed.turn(); // nothing is swept on request
    assertThat(begin("new")).as("nobody asks for the former any more").hasSize(1);
    feed.turn();
    assertThat(feed.figures().keptBytes()).isLessThanOrEqualTo(BYTES);
  }

  /** The partition has not told where it is when the first watcher comes, who asks not to wait. */
  @Test
  void firstWatcher_waitsUntilThePartitionTells_butNotForEver() {
    WatchRequest first =
        new WatchRequest("shop", Optional.of(Key.of("a")), false, List.of(), false, 0);
    tells = false;
    watch(first);
    now += 500_000_000;
    feed.turn();
    assertThat(replies).isEmpty();
    visible(List.of());
    assertThat(answer()).isInstanceOf(Reply.Changes.class);
    feed.ring(0).stop();
    watch(first);
    now += 1_100_000_000;
    assertThat(((Reply.Failure) answer()).code()).isEqualTo(ErrorCode.UNAVAILABLE);
  }

  /** What was visible before somebody watched may be anything: nothing goes on from there. */
  @Test
  void changesOfTheStepInWhichItBegins_areBehindNoPosition() {
    ChangeRing ring = feed.ring(0);
    ring.begin(LIFE);
    ring.keep();
    updates = 10;
    changed("a");
    assertThat(ring.behind(VersionVector.EMPTY)).isEqualTo(-1);
    assertThat(ring.behind(VersionVector.of(EU, 3))).isEqualTo(-1);
    long end = ring.state().orElseThrow().end();
    assertThat(ring.behind(VersionVector.of(EU, 11))).isEqualTo(end);
    changed("b");
    assertThat(ring.behind(VersionVector.of(EU, 10))).isEqualTo(-1);
    assertThat(ring.behind(VersionVector.of(EU, 11))).isEqualTo(end);
  }

  @Test
  void keysThatAreWaitedFor_stay() {
    List<WatchRequest.Place> place = begin("a");
    watch(ofKey("a", place));
    now += 500_000_000;
    feed.turn();
    for (int i = 0; i < 10_000; i++) {
      try {
        feed.ring(0).look(Key.of("k" + i), now);
      } catch (OsierException e) {
        break;
      }
    }
    assertThatThrownBy(() -> feed.ring(0).look(Key.of("one more"), now))
        .isInstanceOf(OsierException.class);
    changed("a");
    Reply.Changes told = (Reply.Changes) answer();
    assertThat(told.changes()).hasSize(1);
  }

  /** Hears of everything, and says so. */
  private static final class Hears implements ChangeListener {
    final List<String> heard = new ArrayList<>();
    boolean wants = true;

    @Override
    public boolean isWanted() {
      return wants;
    }

    @Override
    public void missed() {
      heard.add("missed");
    }

    @Override
    public void changed(List<Changed> keys) {
      keys.forEach(k -> heard.add(k.key() + " by " + k.author()));
    }
  }

  @Test
  void listener_hearsOfAllAtOnce_withWhoMadeIt_andIsToldWhereItCouldNot() {
    Hears hears = new Hears();
    changed("before");
    assertThat(feed.listen(hears)).isFalse();
    feed.turn();
    assertThat(hears.heard).containsExactly("missed");
    assertThat(feed.listen(hears)).isTrue();
    ObjectId object = new ObjectId(Key.of("a"), CrdtType.PN_COUNTER);
    ObjectId over = new ObjectId(Key.of("over"), CrdtType.PN_COUNTER);
    VersionVector here = VersionVector.of(EU, ++updates);
    List<Effects.Change> three =
        List.of(
            new Effects.Change(object, EU, true, 3),
            new Effects.Change(object, EU, true, 4),
            new Effects.Change(object, null, true));
    feed.ring(0)
        .visible(
            new Effects.Visible(LIFE, three, here, here, List.of(over), Map.of(3L, 7L, 0L, 9L)));
    assertThat(hears.heard).containsExactly("missed", "a by 7", "a by 0", "a by 0", "over by 0");
    now += 3 * WatchedPartitions.LEASE_NANOS;
    feed.turn();
    changed("b");
    assertThat(hears.heard).as("as long as it wants").endsWith("b by 0");
    hears.heard.clear();
    hears.wants = false;
    changed("c");
    now += WatchedPartitions.LEASE_NANOS + 1;
    feed.turn();
    assertThat(feed.isInUse()).as("nobody wants to hear").isFalse();
    hears.wants = true;
    assertThat(feed.isInUse()).isTrue();
    feed.turn();
    assertThat(hears.heard).containsExactly("missed");
    feed.close(new Reply.Failure(ErrorCode.SHUTTING_DOWN, "as the test wants"));
    feed.turn();
    assertThat(hears.heard).containsExactly("missed", "missed");
    assertThat(feed.listen(hears)).isFalse();
  }

  /** They are kept while somebody may come back for them, and no longer. */
  @Test
  void changesAreKept_whileMoreThanAKeyIsWatched() {
    changed("before");
    watch(ofAll(List.of()));
    List<WatchRequest.Place> place = ((Reply.Changes) answer()).places();
    changed("a");
    changed("b");
    watch(ofAll(place));
    Reply.Changes told = (Reply.Changes) answer();
    assertThat(told.changes())
        .extracting(Reply.Change::key)
        .containsExactly(Key.of("a"), Key.of("b"));
    now += WatchedPartitions.LEASE_NANOS / 2;
    begin("a");
    changed("c");
    now += WatchedPartitions.LEASE_NANOS / 2 + 1;
    feed.turn();
    changed("d");
    watch(ofAll(told.places()));
    assertThat(((Reply.Failure) answer()).code()).isEqualTo(ErrorCode.WATCHER_TOO_SLOW);
  }

  /**
   * What others had forgotten before this datacenter got back what it had lost is not among its
   * changes, though they reach back to when it had nothing.
   */
  @Test
  void positionOfBeforeWhatOthersForgot_isRefused_alsoWhereTheChangesReachBackFurther() {
    watch(ofAll(List.of()));
    answer();
    changed("a");
    forgotten = VersionVector.of(new ReplicaId("us", 1), 9);
    for (long seen : new long[] {8, 9}) {
      VersionVector vector = VersionVector.of(new ReplicaId("us", 1), seen);
      watch(ofAll(List.of(new WatchRequest.Place(99, 1, vector, Optional.empty()))));
      Reply reply = answer();
      if (seen == 8) {
        assertThat(((Reply.Failure) reply).code()).isEqualTo(ErrorCode.HISTORY_TOO_SHORT);
      } else {
        assertThat(((Reply.Changes) reply).changes()).hasSize(1);
      }
    }
  }

  /** Datacenters may create a key with several types at once; a walk's page may end within it. */
  @Test
  void walk_tellsOfAllTypesOfEachKey_whereverItsPagesEnd() {
    List<Reply.Change> expected = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      Key key = Key.of("k%04d".formatted(i));
      for (CrdtType type : i % 3 == 0 ? SEVERAL : List.of(CrdtType.G_SET)) {
        put(key, type);
        expected.add(new Reply.Change(key, Optional.of(type), Optional.empty()));
      }
    }
    List<Reply.Change> told = new ArrayList<>();
    List<WatchRequest.Place> places = List.of();
    do {
      feed.watch(
          new WatchRequest("shop", Optional.empty(), true, places, true, 1_000), replies::add);
      Reply.Changes some = (Reply.Changes) answer();
      told.addAll(some.changes());
      places = some.places();
    } while (places.getFirst().next().isPresent());
    assertThat(told).containsExactlyElementsOf(expected);
  }

  /** What lies behind the prefix may be the tombstones of a million keys. */
  @Test
  void walk_tellsTheStoreWhereItsPrefixEnds() {
    put(Key.of("k1"), CrdtType.G_SET);
    put(Key.of("l1"), CrdtType.G_SET);
    List<Object> ends = new ArrayList<>();
    asked =
        Faked.of(
            ObjectStore.class,
            (proxy, method, arguments) -> {
              if (method.getName().equals("pageDurable")) {
                ends.add(arguments[1]);
              }
              return method.invoke(store, arguments);
            });
    feed.watch(
        new WatchRequest("shop", Optional.of(Key.of("k")), true, List.of(), true, 1_000),
        replies::add);
    Reply.Changes told = (Reply.Changes) answer();
    assertThat(told.changes()).extracting(Reply.Change::key).containsExactly(Key.of("k1"));
    assertThat(ends).isNotEmpty().containsOnly(Optional.of(Key.of("l")));
  }

  private void put(Key key, CrdtType type) {
    Operation operation =
        type == CrdtType.PN_COUNTER ? new Operation.Increment(1) : new Operation.Add(Value.of("v"));
    long number = ++updates;
    CrdtState none = CrdtState.bottom(type);
    store.put(
        new ObjectId(key, type), none.join(none.prepare(operation, EU, number, 0, number, 0)));
  }

  @Test
  void release_answersAllThatWait_withWhatThereIs() {
    List<WatchRequest.Place> place = begin("b");
    watch(ofKey("b", place));
    assertThat(replies).isEmpty();
    feed.release();
    assertThat(((Reply.Changes) answer()).changes()).isEmpty();
  }

  /** A fault that one request meets is told to who asked, and the others are answered. */
  @Test
  void faultOfOnePoll_isToldToItsWatcher_andHarmsNoOther() {
    List<WatchRequest.Place> place = begin("b");
    fails = true;
    WatchRequest.Place other = new WatchRequest.Place(99, 1, VersionVector.EMPTY, Optional.empty());
    feed.watch(
        new WatchRequest("shop", Optional.empty(), true, List.of(other), true, 1_000),
        replies::add);
    feed.watch(ofKey("b", place), replies::add);
    feed.turn();
    assertThat(((Reply.Failure) replies.removeFirst()).code()).isEqualTo(ErrorCode.INTERNAL);
    changed("b");
    Reply.Changes told = (Reply.Changes) answer();
    assertThat(told.changes()).extracting(Reply.Change::key).containsExactly(Key.of("b"));
  }
}
