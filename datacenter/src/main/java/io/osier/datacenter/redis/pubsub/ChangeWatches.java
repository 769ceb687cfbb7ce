package io.osier.datacenter.redis.pubsub;

import io.osier.core.ErrorCode;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
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
 * The watchers of a connection. Each has one request at the feed at most, and sends the next one
 * when the pushes of the last reply are sent: changes that the client has not read are kept by the
 * keyspace's feed, once for all watchers, and a watcher that falls too far behind gets a failure.
 * Used by the connection's loop, except for replies, which come from any thread.
 */
public final class ChangeWatches {
  /** The most watchers of a connection. */
  public static final int COUNT_MAX = 100;

  /** Asks a keyspace's feed. */
  @FunctionalInterface
  public interface Feed {
    /** Sends a request; any thread calls {@code reply}, once. */
    void ask(WatchRequest request, Consumer<Reply> reply);
  }

  private record Told(Topic of, ChangeWatch by, Reply reply) {}

  private final Feed feed;
  private final Map<Topic, ChangeWatch> all = new LinkedHashMap<>();

  /** The watchers that have no request at the feed. */
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
   * @param places where to begin; empty for the present, or for the beginning
   * @param resumes whether changes before the present are told as well
   * @return the answer to the command
   * @throws RedisException if the word is watched already, or too many are
   */
  public RespValue watch(
      String keyspace, byte[] word, List<WatchRequest.Place> places, boolean resumes) {
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
   * Ends the watchers of some words, or all watchers if there are no words; returns the answer to
   * the command.
   *
   * @param keyspaces the keyspace in which each word is watched
   */
  public RespValue unwatch(Function<byte[], String> keyspaces, List<byte[]> words) {
    List<Topic> topics =
        words.isEmpty()
            ? List.copyOf(all.keySet())
            : words.stream().map(word -> Topic.channel(keyspaces.apply(word), word)).toList();
    topics.forEach(this::end);
    return answer("osier.unwatch", topics.stream().map(Topic::name).toList());
  }

  /**
   * Returns an answer. It is no push, since clients that do not know these commands would not take
   * a push for their answer.
   */
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

  /** Returns whether a reply has come that was not polled. */
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

  /**
   * Returns, once, whether a watcher was ended because the feed no longer keeps the changes that it
   * has not read.
   */
  public boolean takeBehind() {
    boolean was = behind;
    behind = false;
    return was;
  }

  public boolean mayAsk() {
    return !idle.isEmpty();
  }

  /** Sends the next request of each watcher that has none at the feed. */
  public void ask() {
    Map<Topic, ChangeWatch> asking = new LinkedHashMap<>(idle);
    idle.clear();
    asking.forEach(
        (topic, watch) -> feed.ask(watch.next(), reply -> told.add(new Told(topic, watch, reply))));
  }
}
