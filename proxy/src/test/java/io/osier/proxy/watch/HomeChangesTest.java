package io.osier.proxy.watch;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Two homes of one partition each. */
final class HomeChangesTest {
  private final List<WatchRequest> asked = new ArrayList<>();
  private final Map<String, CompletableFuture<Reply.Changes>> underWay = new HashMap<>();
  private final HomeChanges homes =
      new HomeChanges(
          List.of("carts", "carts@eu"),
          (home, request) -> {
            asked.add(request);
            CompletableFuture<Reply.Changes> answer = new CompletableFuture<>();
            underWay.put(home, answer);
            return answer;
          });

  private static WatchRequest.Place place(long tick) {
    return new WatchRequest.Place(1, tick, VersionVector.EMPTY, Optional.empty());
  }

  private void answers(String home, String key, long tick) {
    Reply.Change change = new Reply.Change(Key.of(key), Optional.empty(), Optional.empty());
    of(home).complete(new Reply.Changes(List.of(change), List.of(place(tick)), true));
  }

  private CompletableFuture<Reply.Changes> of(String home) {
    return requireNonNull(underWay.get(home));
  }

  private CompletableFuture<Reply.Changes> ask(int waitMillis, WatchRequest.Place... places) {
    return homes.ask(
        new WatchRequest("carts", Optional.empty(), true, List.of(places), false, waitMillis));
  }

  private static List<String> keys(Reply.Changes told) {
    return told.changes().stream().map(c -> c.key().toString()).toList();
  }

  private static List<Long> ticks(List<WatchRequest.Place> places) {
    return places.stream().map(WatchRequest.Place::tick).toList();
  }

  @Test
  void firstQuestion_isAnsweredByAll_andLaterOnesByWhoeverHasSomething() {
    CompletableFuture<Reply.Changes> first = ask(0);
    answers("carts@eu", "eu:1", 5);
    assertThat(first).isNotDone();
    answers("carts", "1", 7);
    assertThat(keys(first.join())).containsExactly("1", "eu:1");
    assertThat(ticks(first.join().places())).containsExactly(7L, 5L);

    CompletableFuture<Reply.Changes> second = ask(100, place(7), place(5));
    assertThat(asked).hasSize(4);
    assertThat(ticks(asked.get(3).places())).containsExactly(5L);
    answers("carts@eu", "eu:2", 6);
    assertThat(keys(second.join())).containsExactly("eu:2");
    assertThat(ticks(second.join().places())).containsExactly(7L, 6L);

    answers("carts", "2", 8); // before it is asked for
    CompletableFuture<Reply.Changes> third = ask(100, place(7), place(6));
    assertThat(asked).as("the other one's question was under way").hasSize(5);
    assertThat(keys(third.join())).containsExactly("2");
    assertThat(ticks(third.join().places())).containsExactly(8L, 6L);
  }

  @Test
  void homeThatDoesNotAnswer_isAskedAgain_andNothingOfTheOthersIsLost() {
    CompletableFuture<Reply.Changes> first = ask(0);
    answers("carts", "1", 7);
    of("carts@eu").completeExceptionally(OsierException.of(ErrorCode.UNAVAILABLE, "away"));
    assertThatThrownBy(first::join).hasRootCauseInstanceOf(OsierException.class);
    CompletableFuture<Reply.Changes> again = ask(0);
    assertThat(asked.stream().map(WatchRequest::keyspace))
        .containsExactly("carts", "carts@eu", "carts@eu");
    answers("carts@eu", "eu:1", 5);
    assertThat(keys(again.join())).containsExactly("1", "eu:1");
  }

  @Test
  void whatNobodyWaitsFor_isGivenUp_andStrangePositionsAreRefused() {
    CompletableFuture<Reply.Changes> first = ask(0);
    first.cancel(false);
    assertThat(of("carts")).isCancelled();
    assertThat(of("carts@eu")).isCancelled();
    assertThatThrownBy(() -> ask(0, place(1), place(2), place(3)).join())
        .hasMessageContaining("position is of 3 partitions");
  }
}
