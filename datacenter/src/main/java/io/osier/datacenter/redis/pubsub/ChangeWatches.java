package io.osier.datacenter.redis.pubsub;

import io.osier.core.ErrorCode;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The changes that a connection watches. Each watcher has one question under way at most, and asks
 * on when what it was told is sent: what it does not take is kept by the keyspace's feed, for all
 * watchers together, and who falls behind that is told so. Used by the connection's loop, but for
 * replies, which come from any thread.
 */
public final class ChangeWatches {
  /** So many a connection may have. */
  public static final int COUNT_MAX = 100;

  /** Asks a keyspace's feed. */
  @FunctionalInterface
  public interface Feed {
    /** The reply comes once, by any thread. */
    void ask(Request.Watch request, Consumer<Reply> reply);
  }

  private record Told(Topic of, ChangeWatch by, Reply reply) {}

  private final Feed feed;
  private final Map<Topic, ChangeWatch> all = new LinkedHashMap<>();

  /** Those that ask once what they were told is sent. */
  private final Map<Topic, ChangeWatch> idle = new LinkedHashMap<>();

  private final Queue<Told> told = new ConcurrentLinkedQueue<>();
  private boolean behind;

  public ChangeWatches(Feed feed) {
    this.feed = feed;
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  /**
   * Watches a key, or all keys with a prefix.
   *
   * @param word the key, or the prefix with its star
   * @param places where to begin; empty for now, or for the beginning
   * @param resumes whether it is told of what was before, too
   * @return what is answered
   * @throws RedisException if it is watched already, or too many are
   */
  public RespValue watch(
      String keyspace, byte[] word, List<Request.Place> places, boolean resumes) {
    Topic topic = Topic.channel(keyspace, word);
    if (all.containsKey(topic)) {
      throw new RedisException(
          "ERR this key or prefix is watched already: OSIER.UNWATCH ends that");
    }
    if (all.size() == COUNT_MAX) {
      throw new RedisException(
          "ERR a connection watches at most " + COUNT_MAX + " keys or prefixes");
    }
    ChangeWatch watch = new ChangeWatch(word, keyspace, places, resumes);
    all.put(topic, watch);
    idle.put(topic, watch);
    return answer("osier.watch", List.of(word));
  }

  /**
   * Watches these no more, or nothing of all; the answer.
   *
   * @param keyspaces in which each word is watched
   */
  public RespValue unwatch(Function<byte[], String> keyspaces, List<byte[]> words) {
    List<Topic> topics =
        words.isEmpty()
            ? List.copyOf(all.keySet())
            : words.stream().map(word -> Topic.channel(keyspaces.apply(word), word)).toList();
    topics.forEach(this::end);
    return answer("osier.unwatch", topics.stream().map(Topic::name).toList());
  }

  /** An answer and no push, for which clients that know nothing of this would not wait. */
  private RespValue answer(String kind, List<byte[]> words) {
    List<RespValue> values = new ArrayList<>();
    values.add(RespValue.Bulk.of(kind));
    words.forEach(word -> values.add(new RespValue.Bulk(word)));
    values.add(new RespValue.Int(all.size()));
    return new RespValue.Array(values);
  }

  private void end(Topic topic) {
    all.remove(topic);
    idle.remove(topic);
  }

  public void clear() {
    all.clear();
    idle.clear();
  }

  /** Whether somebody was told of something that was not taken. */
  public boolean hasTold() {
    return !told.isEmpty();
  }

  public RespValue.@Nullable Push poll(Consumer<Reply> taken) {
    Told next;
    while ((next = told.poll()) != null) {
      taken.accept(next.reply);
      if (all.get(next.of) != next.by) {
        continue; // it was ended meanwhile
      }
      RespValue.Push push = next.by.told(next.reply);
      if (next.reply instanceof Reply.Failure failure) {
        end(next.of);
        behind |= failure.code() == ErrorCode.WATCHER_TOO_SLOW;
      } else {
        idle.put(next.of, next.by);
      }
      if (push != null) {
        return push;
      }
    }
    return null;
  }

  /** Whether one was cut off, since what it was to be told is kept no more; said once. */
  public boolean takeBehind() {
    boolean was = behind;
    behind = false;
    return was;
  }

  public boolean mayAsk() {
    return !idle.isEmpty();
  }

  /** Has all ask on that were told. */
  public void ask() {
    Map<Topic, ChangeWatch> asking = new LinkedHashMap<>(idle);
    idle.clear();
    asking.forEach(
        (topic, watch) -> feed.ask(watch.next(), reply -> told.add(new Told(topic, watch, reply))));
  }
}
