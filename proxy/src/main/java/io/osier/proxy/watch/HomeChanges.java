package io.osier.proxy.watch;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.future.CallFuture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * A watcher's questions to all homes of a keyspace, as one. Each home has one under way; whichever
 * is answered first answers, and the others stay for the next time. The places are those of the
 * homes, one after the other. Asked by one thread at a time, again when it was answered.
 */
final class HomeChanges {
  private final List<String> homes;
  private final BiFunction<String, Request.Watch, CompletableFuture<Reply.Changes>> ask;
  private final Map<String, CompletableFuture<Reply.Changes>> underWay = new ConcurrentHashMap<>();

  /**
   * Nothing is asked yet.
   *
   * @param homes their keyspaces
   * @param ask asks one of them
   */
  HomeChanges(
      List<String> homes, BiFunction<String, Request.Watch, CompletableFuture<Reply.Changes>> ask) {
    this.homes = homes;
    this.ask = ask;
  }

  /** Asks where nothing is under way. A question that does not wait is answered by all homes. */
  CompletableFuture<Reply.Changes> ask(Request.Watch all) {
    int each = all.places().size() / homes.size();
    if (each * homes.size() != all.places().size()) {
      return CompletableFuture.failedFuture(
          OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "the position is of "
                  + all.places().size()
                  + " partitions, and not of each of the homes "
                  + homes));
    }
    List<CompletableFuture<Reply.Changes>> asked = new ArrayList<>();
    for (int i = 0; i < homes.size(); i++) {
      List<Request.Place> places = all.places().subList(i * each, (i + 1) * each);
      Request.Watch one =
          new Request.Watch(
              homes.get(i), all.key(), all.prefix(), places, all.resumes(), all.waitMillis());
      asked.add(underWay.computeIfAbsent(homes.get(i), home -> ask.apply(home, one)));
    }
    CompletableFuture<?>[] futures = asked.toArray(CompletableFuture[]::new);
    CallFuture<Reply.Changes> answer = new CallFuture<>(why -> giveUp());
    (all.waitMillis() == 0 ? CompletableFuture.allOf(futures) : CompletableFuture.anyOf(futures))
        .whenComplete(
            (done, error) -> {
              if (error == null) {
                answer.succeed(taken(all, each));
              } else {
                underWay.values().removeIf(CompletableFuture::isCompletedExceptionally);
                answer.fail(error);
              }
            });
    return answer;
  }

  /** What has been answered, and the places of the homes that have not as they were. */
  private Reply.Changes taken(Request.Watch all, int each) {
    List<Reply.Change> changes = new ArrayList<>();
    List<Request.Place> places = new ArrayList<>();
    boolean whole = true;
    for (int i = 0; i < homes.size(); i++) {
      CompletableFuture<Reply.Changes> of = underWay.get(homes.get(i));
      if (of != null && of.isDone() && !of.isCompletedExceptionally()) {
        underWay.remove(homes.get(i));
        Reply.Changes told = of.join();
        changes.addAll(told.changes());
        places.addAll(told.places());
        whole &= told.whole();
      } else {
        places.addAll(all.places().subList(i * each, (i + 1) * each));
      }
    }
    return new Reply.Changes(changes, places, whole);
  }

  /** Nobody waits for the answers any more. */
  void giveUp() {
    underWay.values().forEach(of -> of.cancel(false));
    underWay.clear();
  }
}
