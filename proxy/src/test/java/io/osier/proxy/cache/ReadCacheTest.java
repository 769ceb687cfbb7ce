package io.osier.proxy.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class ReadCacheTest {
  private static final Key KEY = Key.of("k");
  private static final Key OTHER = Key.of("other");
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final VersionVector ONE = VersionVector.of(EU, 1);
  private static final long SECOND = 1_000_000_000L;
  private static final int SILENCE_SECONDS = 4;

  private final AtomicLong nanos = new AtomicLong();
  private final FollowedKeys keys =
      new FollowedKeys(
          FollowedPrefix.of("s", "", Duration.ofMinutes(1)), 500, SILENCE_SECONDS * SECOND);
  private final ReadCache cache = cache(List.of());
  private final ReadCache following = cache(List.of(keys));
  private long tick;

  private ReadCache cache(List<FollowedKeys> followed) {
    return new ReadCache(
        new CacheSettings(Duration.ofSeconds(2), 10, List.of()), followed, nanos::get);
  }

  private ReadCache.Slot slot() {
    return cache.slot("s", KEY, Optional.empty(), new Query.Whole());
  }

  private ReadCache.Slot followed() {
    return following.slot("s", KEY, Optional.empty(), new Query.Whole());
  }

  private static Reply.Answer answer() {
    return answer(VersionVector.EMPTY);
  }

  private static Reply.Answer answer(VersionVector seen) {
    return new Reply.Answer(Optional.empty(), Optional.empty(), false, seen);
  }

  private void pass(long seconds) {
    nanos.addAndGet(seconds * SECOND);
  }

  // ---------------------------------------------------------------- what is followed

  private void tell(ReplicaId by, Key... changed) {
    tell(by, 1, changed);
  }

  private void tell(ReplicaId by, long life, Key... changed) {
    keys.ask(by, nanos.get());
    tick += changed.length;
    List<Reply.Change> changes =
        List.of(changed).stream()
            .map(k -> new Reply.Change(k, Optional.empty(), Optional.empty()))
            .toList();
    WatchRequest.Place place =
        new WatchRequest.Place(life, tick, VersionVector.EMPTY, Optional.empty());
    keys.answered(new Reply.Changes(changes, List.of(place), true));
  }

  /** An answer that is kept on the word of eu's changes, and whose object does not expire. */
  private void keep() {
    following.clear();
    tell(EU);
    followed().put(answer(ONE), EU);
    lives(-1);
  }

  private void lives(long millis) {
    ReadCache.Slot slot = followed();
    slot.get();
    ReadCache.Lifetime lifetime = slot.unasked();
    assertThat(lifetime).isNotNull();
    lifetime.told(
        new Reply.Answer(Optional.empty(), Optional.of(new Reading.Count(millis)), true, ONE),
        nanos.get());
  }

  /** Half a minute of news of nothing, or of other keys. */
  private void passWithNews() {
    for (int i = 0; i < 15; i++) {
      pass(2);
      tell(EU, OTHER);
    }
  }

  private void assertKept() {
    assertThat(followed().get()).isNotNull();
  }

  private void assertNotKept() {
    assertThat(followed().get()).isNull();
  }

  @Test
  void whatIsFollowed_isKeptUntilItChanges_orItsTimeIsOver() {
    keep();
    passWithNews();
    assertKept();
    tell(EU, KEY);
    assertNotKept();
    followed().put(answer(ONE), EU);
    lives(-1);
    passWithNews();
    passWithNews();
    assertThat(followed().get()).as("a minute").isNull();
  }

  @Test
  void changeBetweenQuestionAndAnswer_isNotLost() {
    tell(EU);
    ReadCache.Slot asked = followed();
    tell(EU, KEY);
    asked.put(answer(ONE), EU);
    assertNotKept();
  }

  @Test
  void changeThatIsTold_dropsAnswersWithinThePlainStaleness_too() {
    followed().put(answer(), EU); // nothing is followed yet
    assertKept();
    tell(EU);
    tell(EU, KEY);
    assertNotKept();
  }

  @Test
  void askedBeforeTheChangesWereFollowed_isKeptAsOthers() {
    ReadCache.Slot asked = followed();
    tell(EU);
    asked.put(answer(ONE), EU);
    pass(1);
    tell(EU);
    assertKept();
    assertThat(followed().unasked()).isNull();
    pass(1);
    tell(EU);
    assertNotKept();
  }

  @Test
  void answerOfAnotherDatacenter_isKeptAsOthers() {
    tell(EU);
    followed().put(answer(ONE), US);
    assertKept();
    pass(2);
    tell(EU);
    assertNotKept();
  }

  @Test
  void silence_letsNothingHold_untilNewsComes() {
    keep();
    pass(SILENCE_SECONDS);
    assertKept();
    pass(1);
    assertNotKept();
    tell(EU);
    assertThat(followed().get()).as("nothing was missed").isNotNull();
    keys.unanswered();
    assertNotKept();
    tell(EU, OTHER);
    assertKept();
    keys.unanswered();
    tell(EU, KEY);
    assertThat(followed().get()).as("missed for a while").isNull();
  }

  /** What matters is when the question was asked: an answer may have been on its way for long. */
  @Test
  void newsThatWasLongOnItsWay_isNoNewsOfNow() {
    keep();
    keys.ask(EU, nanos.get());
    pass(SILENCE_SECONDS + 1);
    keys.answered(
        new Reply.Changes(
            List.of(),
            List.of(new WatchRequest.Place(1, tick, VersionVector.EMPTY, Optional.empty())),
            true));
    assertNotKept();
    tell(EU);
    assertKept();
  }

  /** The first part of many changes does not say that the key is not among the others. */
  @Test
  void partOfManyChanges_isNoNewsOfNow() {
    keep();
    for (int i = 0; i < 3; i++) {
      pass(2);
      tick += 20_000;
      tell(EU, OTHER);
    }
    assertNotKept();
    tell(EU);
    assertKept();
  }

  @Test
  void gap_dropsAll() {
    keep();
    pass(3);
    tell(EU);
    assertKept();
    keys.end(); // too slow
    assertNotKept();
    tell(EU);
    assertNotKept();
    keep();
    pass(3);
    tell(US); // moved
    tell(US);
    assertNotKept();
    tell(EU);
    assertNotKept();
    keep();
    pass(3);
    tell(EU, 2); // started again
    tell(EU, 2);
    assertNotKept();
  }

  @Test
  void lifetime_isAskedForOnce_andBoundsWhatIsKept() {
    tell(EU);
    followed().put(answer(ONE), EU);
    pass(3);
    tell(EU);
    ReadCache.Slot first = followed();
    assertThat(first.get()).as("it may have expired").isNull();
    assertThat(first.unasked()).isNotNull();
    ReadCache.Slot second = followed();
    second.get();
    assertThat(second.unasked()).isNull();
    first.unasked().untold();
    lives(16_000);
    assertKept();
    for (int i = 0; i < 7; i++) {
      pass(2);
      tell(EU);
      assertKept();
    }
    pass(1);
    assertThat(followed().get()).as("clocks may differ").isNull();
    followed().put(answer(ONE), EU);
    assertThat(followed().get()).as("as others").isNotNull();
  }

  @Test
  void lifetimeOfAnotherVersion_isNotTaken() {
    tell(EU);
    followed().put(answer(VersionVector.of(EU, 2)), EU);
    lives(-1);
    pass(3);
    tell(EU);
    assertNotKept();
  }

  @Test
  void ownWrite_dropsWhatIsFollowed_too() {
    keep();
    following.invalidate("s", KEY);
    assertNotKept();
    keep();
    following.clear();
    assertNotKept();
  }

  // ---------------------------------------------------------------- what is not

  @Test
  void answer_isForgottenAfterTheBound() {
    slot().put(answer(), EU);
    nanos.addAndGet(1_999_000_000L);
    assertThat(slot().get()).isNotNull();
    nanos.addAndGet(2_000_000L);
    assertThat(slot().get()).isNull();
  }

  /** Another question about the same version makes it no younger: it may have expired. */
  @Test
  void answer_isAsOldAsItsQuestion() {
    ReadCache.Slot asked = slot();
    pass(1);
    asked.put(answer(), EU);
    cache.slot("s", KEY, Optional.empty(), new Query.Exists()).put(answer(), EU);
    assertThat(slot().get()).isNotNull();
    pass(1);
    assertThat(slot().get()).isNull();
  }

  @Test
  void answerToAReadBeforeAWrite_isNotKept() {
    ReadCache.Slot asked = slot();
    cache.invalidate("s", KEY); // the write overtakes the answer
    asked.put(answer(), EU);
    assertThat(slot().get()).isNull();
  }

  /** Then it has no version any more, as if it had never been. */
  @Test
  void objectThatWasRemovedAndForgotten_doesNotComeBack() {
    slot().put(answer(ONE), EU);
    ReadCache.Slot other = cache.slot("s", KEY, Optional.empty(), new Query.Exists());
    assertThat(other.get()).isNull();
    other.put(answer(), EU);
    assertThat(slot().get()).isNull();
  }

  /** It may be older than what is kept, or newer: nobody can tell. */
  @Test
  void answerOfLess_isNotKept() {
    slot().put(answer(VersionVector.of(EU, 2)), EU);
    ReadCache.Slot late = slot();
    late.put(answer(ONE), EU);
    assertThat(slot().get()).isNull();
    slot().put(answer(VersionVector.of(EU, 2)), EU);
    slot().put(answer(VersionVector.of(EU, 3)), EU);
    assertThat(slot().get()).isEqualTo(answer(VersionVector.of(EU, 3)));
  }

  /** Two reads were on their way for long: the second one must not find nothing to compare with. */
  @Test
  void answersOfLess_areNotKeptOneAfterTheOther() {
    ReadCache.Slot late = slot();
    ReadCache.Slot later = slot();
    slot().put(answer(VersionVector.of(EU, 2)), EU);
    late.put(answer(ONE), EU);
    later.put(answer(ONE), EU);
    assertThat(slot().get()).isNull();
    slot().put(answer(VersionVector.of(EU, 2)), EU);
    assertThat(slot().get()).isNotNull();
  }

  @Test
  void move_forgetsEverything() {
    ReadCache.Slot asked = slot();
    slot().put(answer(), EU);
    cache.clear();
    assertThat(slot().get()).isNull();
    asked.put(answer(), EU);
    assertThat(slot().get()).as("asked at the former datacenter").isNull();
  }
}
