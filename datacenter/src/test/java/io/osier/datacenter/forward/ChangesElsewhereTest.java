package io.osier.datacenter.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is heard of the changes that holders tell, in virtual time. */
final class ChangesElsewhereTest extends ForwarderFixture {
  private final ChangesElsewhere changes = new ChangesElsewhere(forwarder, world);

  /** What was heard: keys, and "?" for all of them. */
  private final List<String> heard = new ArrayList<>();

  private boolean wanted = true;

  private final ChangeListener hears =
      new ChangeListener() {
        @Override
        public boolean isWanted() {
          return wanted;
        }

        @Override
        public void missed() {
          heard.add("?");
        }

        @Override
        public void changed(List<Changed> keys) {
          keys.forEach(each -> heard.add(each.key().toString()));
        }
      };

  ChangesElsewhereTest() {
    forwarder.tell(changes);
  }

  private static Reply told(String... keys) {
    return new Reply.Changes(
        List.of(keys).stream()
            .map(key -> new Reply.Change(Key.of(key), Optional.empty(), Optional.empty()))
            .toList(),
        List.of(new WatchRequest.Place(1, 7, VersionVector.EMPTY, Optional.empty())),
        true);
  }

  private List<String> takeHeard() {
    List<String> all = List.copyOf(heard);
    heard.clear();
    return all;
  }

  private void forwardRead() {
    forwarder.forward(
        read(VersionVector.EMPTY), new Object(), "ann", reply -> heard.add("answered"));
  }

  private WatchRequest watch(Sent sent) {
    assertThat(sent.head().user()).as("the datacenter asks for itself").isEmpty();
    return (WatchRequest) sent.request();
  }

  /** Begins to hear at eu; what is asked then. */
  private Sent begin() {
    up(EU);
    assertThat(changes.listen("shop", hears)).isFalse();
    Sent first = next();
    assertThat(watch(first).places()).isEmpty();
    assertThat(changes.listen("shop", hears)).as("it has not told yet").isFalse();
    assertThat(world.sent).isEmpty();
    answer(EU, first, told());
    assertThat(takeHeard()).as("nobody knows what was before").containsExactly("?");
    assertThat(changes.listen("shop", hears)).isTrue();
    Sent second = next();
    assertThat(watch(second).places()).hasSize(1);
    assertThat(watch(second).waitMillis()).isPositive();
    return second;
  }

  @Test
  void changesAreHeard_untilNobodyWantsTo() {
    Sent asked = begin();
    answer(EU, asked, told("a", "b"));
    assertThat(takeHeard()).containsExactly("a", "b");
    asked = next();
    wanted = false;
    answer(EU, asked, told("c"));
    assertThat(world.sent).as("it asks no more").isEmpty();
    assertThat(takeHeard()).isEmpty();
    wanted = true;
    assertThat(changes.listen("shop", hears)).as("it begins anew").isFalse();
  }

  @Test
  void lostLink_orPosition_isAMiss_andItBeginsAnew() {
    Sent asked = begin();
    answer(EU, asked, new Reply.Failure(ErrorCode.WATCHER_TOO_SLOW, "cut off"));
    assertThat(takeHeard()).containsExactly("?");
    assertThat(changes.listen("shop", hears)).isFalse();
    asked = next();
    assertThat(watch(asked).places()).isEmpty();
    answer(EU, asked, told());
    assertThat(takeHeard()).containsExactly("?");
    asked = next();
    down(EU);
    assertThat(takeHeard()).containsExactly("?");
    assertThatThrownBy(() -> changes.listen("shop", hears)).hasMessageContaining("can be reached");
    up(US);
    pass(ChangesElsewhere.RETRY_MILLIS * 1_000_000L);
    Sent next = next();
    assertThat(next.dc()).isEqualTo("us");
    answer(EU, asked, told("late"));
    answer(US, next, told());
    assertThat(takeHeard()).containsExactly("?");
    assertThat(changes.listen("shop", hears)).isTrue();
  }

  /** Otherwise who has written would read what it had before. */
  @Test
  void ownUpdate_isHeardBeforeItIsAnswered() {
    begin();
    forwarder.forward(update(), lane, "ann", reply -> heard.add("answered"));
    answer(EU, next(), new Reply.Done(new Dot(EU, 1), Optional.empty()));
    assertThat(takeHeard()).containsExactly("k", "answered");
    forwardRead();
    answer(EU, next(), seen(EU, 1));
    assertThat(takeHeard()).as("it may be kept").containsExactly("answered");
  }

  /** What another holder answers may be older than what was told of before it was asked. */
  @Test
  void answerOfAnotherHolder_isNotKept_andItsChangesAreHeardOfThen() {
    begin();
    up(US);
    forward(read(VersionVector.EMPTY));
    answer(EU, next(), seen(EU, 1));
    measure(40, 10);
    forwardRead();
    Sent read = next();
    assertThat(read.dc()).isEqualTo("us");
    answer(US, read, seen(US, 1));
    assertThat(takeHeard()).containsExactly("k", "?", "answered");
    Sent asked = next();
    assertThat(asked.dc()).isEqualTo("us");
    assertThat(watch(asked).places()).isEmpty();
    forwardRead();
    answer(US, next(), seen(US, 1));
    assertThat(takeHeard()).as("before it hears").containsExactly("k", "answered");
    answer(US, asked, told());
    assertThat(takeHeard()).containsExactly("?");
    forwardRead();
    next(); // the next question of the watcher
    answer(US, next(), seen(US, 1));
    assertThat(takeHeard()).containsExactly("answered");
  }

  @Test
  void keyspaceThatIsHeldHereByNow_isAMiss_andNoLongerAsked() {
    Sent asked = begin();
    changes.end("shop");
    assertThat(takeHeard()).containsExactly("?");
    answer(EU, asked, told("a"));
    assertThat(takeHeard()).isEmpty();
    assertThat(world.sent).isEmpty();
    assertThat(changes.listen("nothing", hears)).as("there is none").isTrue();
  }
}
