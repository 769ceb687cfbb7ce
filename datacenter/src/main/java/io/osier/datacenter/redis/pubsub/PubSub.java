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
 * The channels of a datacenter. Each keyspace has channels of its own. A message goes to those who
 * subscribe here at the moment, and as a {@link PublishNote} to the other datacenters; it may be
 * lost on the way there, and is kept nowhere. Thread-safe: a message is handed to its subscribers
 * by the thread that has it, and none waits for another one.
 *
 * <p>It costs what its subscribers are, and a comparison with each pattern of the datacenter:
 * patterns with one star take at most {@value #QUICK_BYTES_MAX} bytes together, which is what
 * comparing them all costs, and those with more at most {@value #SLOW_BYTES_MAX}, each of which may
 * be compared with each byte of the channel's name.
 */
public final class PubSub {
  /** Largest message, with its channel's name: a note has room for it beside the keyspace. */
  public static final int MESSAGE_BYTES_MAX = (64 << 10) - 512;

  static final int QUICK_BYTES_MAX = 1 << 20;
  static final int SLOW_BYTES_MAX = 16 << 10;

  /** So many bytes are compared at most to find the channels that match a pattern. */
  private static final long COMPARED_BYTES_MAX = 1 << 27;

  /** What it costs to look at a pattern, besides its bytes. */
  static final int PATTERN_BYTES = 8;

  /** What a subscription takes besides its name, about. */
  static final int SUBSCRIPTION_BYTES = 400;

  public interface Peers {
    Peers NONE = note -> 0;

    /**
     * Sends a message to all that hold its keyspace; at once, or not at all.
     *
     * @return to how many of them it is not sent
     */
    int send(PublishNote note);
  }

  /**
   * What has happened since the start.
   *
   * @param subscribers connections that subscribe to something at present
   * @param published messages of clients here
   * @param received messages of other datacenters
   * @param droppedHere messages that a subscriber was not sent, since it did not read
   * @param droppedThere messages that another datacenter was not sent
   */
  public record Figures(
      long subscribers, long published, long received, long droppedHere, long droppedThere) {}

  private final Topics<Subscriber> channels = new Topics<>();
  private final Topics<Subscriber> patterns = new Topics<>();
  private final ByteBudget subscriptionBytes;
  private final ByteBudget quickBytes = new ByteBudget(QUICK_BYTES_MAX);
  private final ByteBudget slowBytes = new ByteBudget(SLOW_BYTES_MAX);

  /** Those of the channels' names. */
  private final LongAdder nameBytes = new LongAdder();

  private final Peers peers;
  private final LongAdder subscribers = new LongAdder();
  private final LongAdder published = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder droppedHere = new LongAdder();
  private final LongAdder droppedThere = new LongAdder();

  /**
   * @param bytesMax what all subscriptions together may take
   */
  public PubSub(long bytesMax, Peers peers) {
    this.subscriptionBytes = new ByteBudget(bytesMax);
    this.peers = peers;
  }

  // ---------------------------------------------------------------- messages

  /**
   * @throws RedisException if it is too large
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
   * Publishes a message that {@link #check} lets pass.
   *
   * @param channel which nobody changes
   * @param content which nobody changes
   * @return to how many subscriptions of this datacenter it was handed
   */
  public int publish(String keyspace, byte[] channel, byte[] content) {
    published.increment();
    int receivers = deliver(Topic.channel(keyspace, channel), content);
    droppedThere.add(peers.send(new PublishNote(keyspace, channel, content)));
    return receivers;
  }

  /**
   * A message of another datacenter has come.
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

  /** Whether there is so much room for subscriptions, which is taken then. */
  boolean tryTake(long bytes) {
    return subscriptionBytes.tryTake(bytes);
  }

  void give(long bytes) {
    subscriptionBytes.give(bytes);
  }

  /** Whether a subscription can be added; if so, it is. */
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

  /** Somebody subscribes to something now that did not, or to nothing any more. */
  void count(int more) {
    subscribers.add(more);
  }

  void dropped(long messages) {
    droppedHere.add(messages);
  }

  // ---------------------------------------------------------------- what there is

  /**
   * The channels of a keyspace to which somebody subscribes.
   *
   * @param pattern which they match
   * @throws RedisException if it would have to be compared for too long
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

  /** How many channels there are to which somebody subscribes, in all keyspaces. */
  public int channelCount() {
    return channels.all().size();
  }

  /** To how many patterns somebody subscribes, in all keyspaces. */
  public int patternCount() {
    return patterns.all().size();
  }

  public Figures figures() {
    return new Figures(
        subscribers.sum(), published.sum(), received.sum(), droppedHere.sum(), droppedThere.sum());
  }
}
