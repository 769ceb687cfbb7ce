package io.osier.datacenter.redis.pubsub;

import io.osier.core.codec.MalformedException;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.command.RedisException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/**
 * The channels of a datacenter. Each keyspace has channels of its own. A message goes to the
 * present subscribers here, and as a {@link PublishNote} to the other datacenters; it may be lost
 * on the way there, and is kept nowhere. Thread-safe: the thread that publishes or receives a
 * message hands it to the subscribers, and waits for nobody.
 *
 * <p>A message costs its number of subscribers, and a comparison with each pattern of the
 * datacenter. Patterns with one star at most take {@value #QUICK_BYTES_MAX} bytes together at most,
 * which is what comparing all of them costs. Patterns with more stars take {@value #SLOW_BYTES_MAX}
 * bytes together at most; each of these bytes may be compared with each byte of the channel's name.
 */
public final class PubSub {
  /** Largest message with its channel's name, in bytes: a note has room for it and the keyspace. */
  public static final int MESSAGE_BYTES_MAX = (64 << 10) - 512;

  static final int QUICK_BYTES_MAX = 1 << 20;
  static final int SLOW_BYTES_MAX = 16 << 10;

  /** Most bytes that are compared to find the channels that match a pattern. */
  private static final long COMPARED_BYTES_MAX = 1 << 27;

  /** Bytes that a pattern counts besides its own, as the cost of looking at it. */
  static final int PATTERN_BYTES = 8;

  /** Bytes of heap that a subscription takes besides its name, about. */
  static final int SUBSCRIPTION_BYTES = 400;

  public interface Peers {
    Peers NONE = note -> 0;

    /**
     * Sends a message to all datacenters that hold its keyspace, at once or not at all.
     *
     * @return to how many of them it is not sent
     */
    int send(PublishNote note);
  }

  /**
   * Counts since the start of the process.
   *
   * @param subscribers connections that have subscriptions at present
   * @param published messages of clients of this datacenter
   * @param received messages of other datacenters
   * @param droppedHere messages that were not sent to a subscriber, since it did not read
   * @param droppedThere messages that were not sent to another datacenter
   */
  public record Figures(
      long subscribers, long published, long received, long droppedHere, long droppedThere) {}

  private final Topics<Subscriber> channels = new Topics<>();
  private final Topics<Subscriber> patterns = new Topics<>();
  private final ByteBudget subscriptionBytes;
  private final ByteBudget quickBytes = new ByteBudget(QUICK_BYTES_MAX);
  private final ByteBudget slowBytes = new ByteBudget(SLOW_BYTES_MAX);

  /** The bytes of all channels' names. */
  private final LongAdder nameBytes = new LongAdder();

  private final Peers peers;
  private final LongAdder subscribers = new LongAdder();
  private final LongAdder published = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder droppedHere = new LongAdder();
  private final LongAdder droppedThere = new LongAdder();

  /**
   * @param bytesMax the most bytes of heap that all subscriptions together may take
   * @param peers sends messages to other datacenters
   */
  public PubSub(long bytesMax, Peers peers) {
    this.subscriptionBytes = new ByteBudget(bytesMax);
    this.peers = peers;
  }

  // ---------------------------------------------------------------- messages

  /**
   * Checks a message.
   *
   * @throws RedisException if the channel's name is too long, or the message is too large
   */
  public static void check(byte[] channel, byte[] content) {
    checkName(channel);
    long bytes = (long) channel.length + content.length;
    if (bytes > MESSAGE_BYTES_MAX) {
      throw new RedisException(
          "ERR a message with its channel's name has at most "
              + MESSAGE_BYTES_MAX
              + " bytes, not "
              + bytes);
    }
  }

  static void checkName(byte[] name) {
    if (name.length > Topic.NAME_BYTES_MAX) {
      throw new RedisException(
          "ERR a channel's name has at most "
              + Topic.NAME_BYTES_MAX
              + " bytes, not "
              + name.length);
    }
  }

  /**
   * Publishes a message that {@link #check} accepts.
   *
   * @param channel the channel's name, which nobody changes
   * @param content the content, which nobody changes
   * @return to how many subscriptions of this datacenter it was handed
   */
  public int publish(String keyspace, byte[] channel, byte[] content) {
    published.increment();
    int receivers = deliver(Topic.channel(keyspace, channel), content);
    droppedThere.add(peers.send(new PublishNote(keyspace, channel, content)));
    return receivers;
  }

  /**
   * Delivers a message of another datacenter.
   *
   * @param note that {@link PublishNote#isOne}
   * @throws MalformedException if it cannot be read
   */
  public void received(byte[] note) {
    PublishNote message = PublishNote.decode(note);
    received.increment();
    deliver(Topic.channel(message.keyspace(), message.channel()), message.content());
  }

  private int deliver(Topic channel, byte[] content) {
    int receivers = 0;
    Set<Subscriber> listen = channels.of(channel);
    if (!listen.isEmpty()) {
      receivers += offer(Message.ofChannel(channel, content), listen);
    }
    for (Map.Entry<Topic, Set<Subscriber>> entry : patterns.all().entrySet()) {
      Topic pattern = entry.getKey();
      if (pattern.keyspace().equals(channel.keyspace())
          && Glob.matchesName(pattern.name(), channel.name())) {
        receivers += offer(Message.ofPattern(pattern, channel, content), entry.getValue());
      }
    }
    return receivers;
  }

  private int offer(Message message, Set<Subscriber> to) {
    int taken = 0;
    for (Subscriber each : to) {
      if (each.offer(message)) {
        taken++;
      } else {
        droppedHere.increment();
      }
    }
    return taken;
  }

  // ---------------------------------------------------------------- subscriptions

  /** Takes bytes for subscriptions from the budget; returns whether there were enough. */
  boolean tryTake(long bytes) {
    return subscriptionBytes.tryTake(bytes);
  }

  void give(long bytes) {
    subscriptionBytes.give(bytes);
  }

  /** Adds a subscription; false if there is no room for another pattern. */
  boolean add(Topic topic, Subscriber who) {
    if (topic.isPattern()) {
      return patterns.add(topic, who, t -> cost(t).tryTake(bytes(t)));
    }
    return channels.add(
        topic,
        who,
        t -> {
          nameBytes.add(t.name().length);
          return true;
        });
  }

  void remove(Topic topic, Subscriber who) {
    if (topic.isPattern()) {
      patterns.remove(topic, who, t -> cost(t).give(bytes(t)));
    } else {
      channels.remove(topic, who, t -> nameBytes.add(-t.name().length));
    }
  }

  private ByteBudget cost(Topic pattern) {
    return Glob.isQuick(pattern.name()) ? quickBytes : slowBytes;
  }

  private static long bytes(Topic pattern) {
    return (long) PATTERN_BYTES + pattern.name().length;
  }

  /** Counts a connection that has its first subscription (1), or none any more (-1). */
  void count(int more) {
    subscribers.add(more);
  }

  void dropped(long messages) {
    droppedHere.add(messages);
  }

  // ---------------------------------------------------------------- what there is

  /**
   * Returns the channels of a keyspace that have subscribers.
   *
   * @param pattern the pattern that they match
   * @throws RedisException if comparing it would take too long
   */
  public List<byte[]> channels(String keyspace, byte[] pattern) {
    if (!Glob.isQuick(pattern) && pattern.length * nameBytes.sum() > COMPARED_BYTES_MAX) {
      throw new RedisException(
          "ERR there are too many channels for a pattern with more than one *: ask with one");
    }
    return channels.all().keySet().stream()
        .filter(c -> c.keyspace().equals(keyspace) && Glob.matchesName(pattern, c.name()))
        .map(Topic::name)
        .toList();
  }

  public int subscribers(String keyspace, byte[] channel) {
    return channels.of(Topic.channel(keyspace, channel)).size();
  }

  public long patterns(String keyspace) {
    return patterns.all().keySet().stream().filter(p -> p.keyspace().equals(keyspace)).count();
  }

  /** Returns how many channels have subscribers, in all keyspaces. */
  public int channelCount() {
    return channels.all().size();
  }

  /** Returns how many patterns have subscribers, in all keyspaces. */
  public int patternCount() {
    return patterns.all().size();
  }

  public Figures figures() {
    return new Figures(
        subscribers.sum(), published.sum(), received.sum(), droppedHere.sum(), droppedThere.sum());
  }
}
