package io.osier.datacenter.redis.pubsub;

import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.command.RedisException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions of one connection, and the messages that wait for it. Messages of one publisher
 * wait in the order in which they were published. Used by the connection's loop only, except for
 * {@link #offer} and the counts, which are for any thread.
 */
public final class Subscriber {
  public static final int SUBSCRIPTIONS_MAX = 10_000;

  /** Most bytes of all names of a connection's subscriptions together. */
  static final long NAMES_BYTES_MAX = 1 << 20;

  /** Most bytes that wait for a connection; beyond that it is too slow and is closed. */
  public static final long WAITING_BYTES_MAX = 16L << 20;

  private final PubSub all;
  private final Runnable wake;
  private final Set<Topic> topics = new LinkedHashSet<>();
  private final Queue<Message> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicLong waitingBytes = new AtomicLong();
  private long namesBytes;
  private volatile int channels;
  private volatile int patterns;
  private volatile boolean tooSlow;
  private volatile boolean closed;

  /**
   * @param all the datacenter's channels
   * @param wake is run by any thread when there is something to {@link #poll}, or the connection is
   *     too slow; returns at once
   */
  public Subscriber(PubSub all, Runnable wake) {
    this.all = all;
    this.wake = wake;
  }

  // ---------------------------------------------------------------- subscriptions

  /**
   * Subscribes to channels or patterns: to all of them or to none.
   *
   * @param wanted one or more, either all channels or all patterns
   * @return the answers, one for each
   * @throws RedisException if there is no room for them
   */
  public List<RespValue> subscribe(List<Topic> wanted) {
    Set<Topic> added = new LinkedHashSet<>();
    long bytes = 0;
    for (Topic topic : wanted) {
      checkName(topic);
      if (!topics.contains(topic) && added.add(topic)) {
        bytes += topic.name().length;
      }
    }
    if (topics.size() + added.size() > SUBSCRIPTIONS_MAX || namesBytes + bytes > NAMES_BYTES_MAX) {
      throw new RedisException(
          "ERR a connection has at most "
              + SUBSCRIPTIONS_MAX
              + " subscriptions, and "
              + NAMES_BYTES_MAX
              + " bytes of their names");
    }
    addAll(added, bytes);
    RespValue kind = RespValue.Bulk.of(wanted.getFirst().isPattern() ? "psubscribe" : "subscribe");
    List<RespValue> answers = new ArrayList<>(wanted.size());
    for (Topic topic : wanted) {
      if (topics.add(topic)) {
        count(topic, 1);
      }
      answers.add(answer(kind, new RespValue.Bulk(topic.name())));
    }
    return answers;
  }

  private static void checkName(Topic topic) {
    if (topic.isPattern()) {
      Glob.checked(topic.name());
    } else {
      PubSub.checkName(topic.name());
    }
  }

  private void addAll(Set<Topic> added, long bytes) {
    long room = bytes + (long) added.size() * PubSub.SUBSCRIPTION_BYTES;
    if (!all.tryTake(room)) {
      throw new RedisException(
          "BUSY nothing was done: the memory for this datacenter's subscriptions is used up");
    }
    List<Topic> done = new ArrayList<>(added.size());
    for (Topic topic : added) {
      if (!all.add(topic, this)) {
        done.forEach(t -> all.remove(t, this));
        all.give(room);
        throw new RedisException(
            "BUSY nothing was done: this datacenter's clients subscribe to too many patterns to"
                + " compare each message with; use patterns with one * at most");
      }
      done.add(topic);
    }
  }

  /**
   * Unsubscribes from channels or patterns.
   *
   * @param unwanted one or more, either all channels or all patterns
   * @return the answers, one for each
   */
  public List<RespValue> unsubscribe(List<Topic> unwanted) {
    List<RespValue> answers = new ArrayList<>(unwanted.size());
    for (Topic topic : unwanted) {
      remove(topic);
      answers.add(unsubscribed(topic.isPattern(), new RespValue.Bulk(topic.name())));
    }
    return answers;
  }

  /**
   * Unsubscribes from all channels, or all patterns, of all keyspaces; returns an answer for each,
   * or one if there is none.
   */
  public List<RespValue> unsubscribeAll(boolean ofPatterns) {
    List<Topic> unwanted = topics.stream().filter(t -> t.isPattern() == ofPatterns).toList();
    return unwanted.isEmpty()
        ? List.of(unsubscribed(ofPatterns, RespValue.NULL))
        : unsubscribe(unwanted);
  }

  private RespValue unsubscribed(boolean pattern, RespValue name) {
    return answer(RespValue.Bulk.of(pattern ? "punsubscribe" : "unsubscribe"), name);
  }

  private RespValue answer(RespValue kind, RespValue name) {
    return new RespValue.Push(List.of(kind, name, new RespValue.Int(topics.size())));
  }

  private void remove(Topic topic) {
    if (topics.remove(topic)) {
      all.remove(topic, this);
      all.give(PubSub.SUBSCRIPTION_BYTES + topic.name().length);
      count(topic, -1);
    }
  }

  private void count(Topic topic, int more) {
    namesBytes += (long) more * topic.name().length;
    int before = topic.isPattern() ? patterns : channels;
    if (topic.isPattern()) {
      patterns = before + more;
    } else {
      channels = before + more;
    }
    if (topics.size() == Math.max(0, more)) { // the first subscription, or the last one
      all.count(more);
    }
  }

  public Collection<Topic> topics() {
    return Collections.unmodifiableSet(topics);
  }

  /** Returns whether there are subscriptions. */
  public boolean hasTopics() {
    return !topics.isEmpty();
  }

  /** Ends all subscriptions and drops the messages that wait. */
  public void close() {
    closed = true;
    for (Topic topic : List.copyOf(topics)) {
      remove(topic);
    }
    if (tooSlow) {
      all.dropped(waiting.size());
    }
    waiting.clear();
    waitingBytes.set(0);
  }

  // ---------------------------------------------------------------- messages

  /**
   * Puts a message among those that wait; returns false if it is dropped, since too many bytes wait
   * or the connection is closed. For any thread.
   */
  boolean offer(Message message) {
    if (closed || tooSlow) {
      return false;
    }
    if (waitingBytes.addAndGet(message.bytes()) > WAITING_BYTES_MAX) {
      waitingBytes.addAndGet(-message.bytes());
      tooSlow = true;
      wake.run();
      return false;
    }
    waiting.add(message);
    wake.run();
    return true;
  }

  public boolean hasWaiting() {
    return !waiting.isEmpty();
  }

  /** Returns the next message of a subscription that still exists; null if none waits. */
  public RespValue.@Nullable Push poll() {
    Message next;
    while ((next = waiting.poll()) != null) {
      waitingBytes.addAndGet(-next.bytes());
      if (topics.contains(next.by())) {
        return next.push();
      }
    }
    return null;
  }

  /** Returns whether messages were dropped because too many bytes waited; from then on all are. */
  public boolean isTooSlow() {
    return tooSlow;
  }

  public long waitingBytes() {
    return waitingBytes.get();
  }

  public int channels() {
    return channels;
  }

  public int patterns() {
    return patterns;
  }
}
