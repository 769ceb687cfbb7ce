package io.osier.datacenter.redis.pubsub;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.PlacesText;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A connection's watcher of the changes of one key, or of all keys with a prefix. It sends one
 * request after the other to the keyspace's feed, each from the position of the last reply, and
 * turns replies into pushes. Not thread-safe.
 */
public final class ChangeWatch {
  /** How long a request waits for changes at the feed, in milliseconds. */
  static final int WAIT_MILLIS = 20_000;

  private static final RespValue CHANGES = RespValue.Bulk.of("osier.changes");
  private static final RespValue ENDED = RespValue.Bulk.of("osier.ended");

  private final RespValue word;
  private WatchRequest next;

  /**
   * @param word the key, or the prefix with its star, as the client sent it
   * @param places where to begin; empty for the present, or for the beginning
   * @param resumes whether changes before the present are told as well
   */
  ChangeWatch(byte[] word, String keyspace, List<WatchRequest.Place> places, boolean resumes) {
    this.word = new RespValue.Bulk(word);
    int length = word.length;
    boolean isPrefix = length > 0 && word[length - 1] == '*';
    this.next =
        new WatchRequest(
            keyspace,
            isPrefix && length == 1
                ? Optional.empty()
                : Optional.of(Key.of(word, 0, isPrefix ? length - 1 : length)),
            isPrefix,
            places,
            resumes,
            0);
  }

  WatchRequest next() {
    return next;
  }

  /** Returns the push for a reply; null if there is nothing to say. A failure ends the watcher. */
  RespValue.@Nullable Push told(Reply reply) {
    if (!(reply instanceof Reply.Changes told)) {
      Reply.Failure failure = (Reply.Failure) reply;
      return ended(failure.code() + " " + failure.message());
    }
    boolean first = next.waitMillis() == 0;
    next =
        new WatchRequest(
            next.keyspace(), next.key(), next.prefix(), told.places(), false, WAIT_MILLIS);
    boolean walks = told.places().stream().anyMatch(p -> p.next().isPresent());
    if (!first && !walks && told.changes().isEmpty()) {
      return null;
    }
    List<RespValue> changes = new ArrayList<>(told.changes().size());
    for (Reply.Change change : told.changes()) {
      changes.add(
          RespValue.array(
              new RespValue.Bulk(change.key().toBytes()),
              textOrNull(change.type().map(CrdtType::label)),
              textOrNull(change.origin().map(ReplicaId::dc))));
    }
    return new RespValue.Push(
        List.of(
            CHANGES,
            word,
            position(),
            new RespValue.Int(told.whole() ? 1 : 0),
            new RespValue.Array(changes)));
  }

  private static RespValue textOrNull(Optional<String> text) {
    return text.<RespValue>map(RespValue.Bulk::of).orElse(RespValue.NULL);
  }

  /** Returns the push that ends the watcher, with the position from which another one may go on. */
  private RespValue.Push ended(String why) {
    return new RespValue.Push(List.of(ENDED, word, RespValue.Bulk.of(why), position()));
  }

  private RespValue position() {
    return next.places().isEmpty()
        ? RespValue.NULL
        : RespValue.Bulk.of(PlacesText.of(next.places()));
  }
}
