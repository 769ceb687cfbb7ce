package io.osier.proxy.watch;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import io.osier.proxy.future.CallFuture;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * Polls all homes of a keyspace for a watcher, as if they were one keyspace. Each home has one poll
 * under way; the first answer completes the watcher's poll, and the others stay under way for the
 * next one. The watcher's places are those of the homes, one home after the other. For one thread
 * at a time, one poll after the other.
 */
final class HomeChanges {
  /** The homes that the watcher's places are of; others follow when they were added. */
  private volatile List<String> homes;

  private final BiFunction<String, WatchRequest, CompletableFuture<Reply.Changes>> ask;
  private final Map<String, CompletableFuture<Reply.Changes>> underWay = new ConcurrentHashMap<>();

  /**
   * Makes it, without a poll under way.
   *
   * @param homes the homes' keyspaces
   * @param ask polls one home
   */
  HomeChanges(
      List<String> homes, BiFunction<String, WatchRequest, CompletableFuture<Reply.Changes>> ask) {
    this.homes = homes;
    this.ask = ask;
  }

  /**
   * Takes the present homes.
   *
   * @param partitions of each home
   * @return the watcher's places, with the beginning of each home that was added since: all of its
   *     keys are newer than the watcher
   */
  List<WatchRequest.Place> grow(
      List<String> present, int partitions, List<WatchRequest.Place> places) {
    homes = present;
    int all = present.size() * partitions;
    if (places.isEmpty() || places.size() >= all || places.size() % partitions != 0) {
      return places;
    }
    List<WatchRequest.Place> grown = new ArrayList<>(places);
    while (grown.size() < all) {
      grown.add(new WatchRequest.Place(0, 0, VersionVector.EMPTY, Optional.empty()));
    }
    return grown;
  }

  /**
   * Polls the homes that have no poll under way. A poll that does not wait is answered once all
   * homes have answered.
   */
  CompletableFuture<Reply.Changes> ask(WatchRequest all) {
    int each = all.places().size() / homes.size();
    if (each * homes.size() != all.places().size()) {
      return CompletableFuture.failedFuture(
          OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "the position is of %s partitions, and not of each of the homes %s"
                  .formatted(all.places().size(), homes)));
    }
    List<CompletableFuture<Reply.Changes>> asked = new ArrayList<>();
    for (int i = 0; i < homes.size(); i++) {
      List<WatchRequest.Place> places = all.places().subList(i * each, (i + 1) * each);
      WatchRequest one =
          new WatchRequest(
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

  /** Merges the answers that have come; the other homes' places stay as they were. */
  private Reply.Changes taken(WatchRequest all, int each) {
    List<Reply.Change> changes = new ArrayList<>();
    List<WatchRequest.Place> places = new ArrayList<>();
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

  /** Gives up all polls under way. */
  void giveUp() {
    underWay.values().forEach(of -> of.cancel(false));
    underWay.clear();
  }
}
