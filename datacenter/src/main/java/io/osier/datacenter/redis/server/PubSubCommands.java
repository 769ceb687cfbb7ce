package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.text;
import static io.osier.datacenter.redis.command.Plan.answer;
import static io.osier.datacenter.redis.command.RedisErrors.checkArity;
import static io.osier.datacenter.redis.command.RedisErrors.unknownPart;
import static io.osier.datacenter.redis.command.Words.option;

import io.osier.core.Grant;
import io.osier.core.Grant.Right;
import io.osier.core.Key;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.pubsub.Subscriber;
import io.osier.datacenter.redis.pubsub.Topic;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.datacenter.words.WatchGrammar;
import io.osier.datacenter.words.Word;
import io.osier.protocol.PlacesText;
import io.osier.protocol.WatchRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Commands about channels and watched keys. Channels belong to the selected keyspace. A user that
 * may read keys of a name may subscribe to a channel of that name, and one that may write them may
 * publish. Static, for any thread.
 */
final class PubSubCommands {
  private static final byte[] EVERYTHING = {'*'};

  private PubSubCommands() {}

  static @Nullable Plan watch(RespSession session, Place place, byte[][] words) {
    List<Word> all = new ArrayList<>(words.length);
    all.add(new Word("watch", false));
    for (int i = 1; i < words.length; i++) {
      all.add(new Word(text(words[i]), false)); // the key itself is taken as bytes below
    }
    WatchGrammar.Watch how = WatchGrammar.parse(all);
    if (how.changes() < Long.MAX_VALUE) {
      throw new RedisException("ERR OSIER.WATCH tells of all changes: OSIER.UNWATCH ends it");
    }
    List<WatchRequest.Place> places =
        how.position().map(p -> PlacesText.read(p, "OSIER.WATCH")).orElse(List.of());
    boolean resumes = how.fromTheBeginning() || !places.isEmpty();
    Subscriptions own = session.subscriptions;
    own.answer(
        place, List.of(own.watches().watch(watched(session, words[1]), words[1], places, resumes)));
    return null;
  }

  static @Nullable Plan unwatch(RespSession session, Place place, byte[][] words) {
    Subscriptions own = session.subscriptions;
    own.answer(
        place,
        List.of(
            own.watches()
                .unwatch(
                    word -> named(session, word), Arrays.asList(words).subList(1, words.length))));
    return null;
  }

  /**
   * Returns the keyspace in which a key or prefix is watched.
   *
   * @throws RedisException if it is a prefix and the database has several homes
   */
  private static String watched(RespSession session, byte[] word) {
    Database of = session.client.database();
    if (of.keyspaces().size() > 1 && isPrefix(word)) {
      throw new RedisException(
          "ERR keys with a prefix are watched in one home, and this database has the homes "
              + of.partitioning().homes()
              + ": osier.redis.databases can name one of them, as '"
              + of.keyspaces().getLast()
              + "'");
    }
    return named(session, word);
  }

  /** Returns the keyspace in which a key or prefix can have been watched. */
  private static String named(RespSession session, byte[] word) {
    Database of = session.client.database();
    return of.keyspaces().size() == 1 || isPrefix(word) ? of.keyspace() : of.keyspace(Key.of(word));
  }

  private static boolean isPrefix(byte[] word) {
    return word.length > 0 && word[word.length - 1] == '*';
  }

  static @Nullable Plan subscribe(
      RespSession session, Place place, byte[][] words, BiFunction<String, byte[], Topic> topic) {
    List<Topic> topics = topics(session, words, topic);
    topics.forEach(t -> check(session, Right.READ, t, words[0]));
    Subscriptions own = session.subscriptions;
    own.answer(place, own.subscriber().subscribe(topics));
    return null;
  }

  static @Nullable Plan unsubscribe(
      RespSession session, Place place, byte[][] words, boolean patterns) {
    Subscriptions own = session.subscriptions;
    own.pushAll(); // messages that were published before come before the answer
    Subscriber subscriber = own.subscriber();
    own.answer(
        place,
        words.length == 1
            ? subscriber.unsubscribeAll(patterns)
            : subscriber.unsubscribe(
                topics(session, words, patterns ? Topic::pattern : Topic::channel)));
    return null;
  }

  private static List<Topic> topics(
      RespSession session, byte[][] words, BiFunction<String, byte[], Topic> topic) {
    String keyspace = session.client.keyspace();
    List<Topic> topics = new ArrayList<>(words.length - 1);
    for (int i = 1; i < words.length; i++) {
      topics.add(topic.apply(keyspace, words[i]));
    }
    return topics;
  }

  static @Nullable Plan publish(RespSession session, Place place, byte[][] words) {
    checkPublish(session, words);
    // A subscriber may read what was written before the message.
    session.steps.behindAll(place, () -> answer(published(session, words)));
    return null;
  }

  /**
   * Checks that a session may publish what a command says.
   *
   * @throws RedisException if the message is too large, or a right is missing
   */
  static void checkPublish(RespSession session, byte[][] words) {
    PubSub.check(words[1], words[2]);
    check(session, Right.WRITE, Topic.channel(session.client.keyspace(), words[1]), words[0]);
  }

  /** Publishes what a command says; returns the answer. */
  static RespValue published(RespSession session, byte[][] words) {
    return new RespValue.Int(
        session.server.pubSub().publish(session.client.keyspace(), words[1], words[2]));
  }

  static Plan pubSub(RespSession session, Place place, byte[][] words) {
    PubSub all = session.server.pubSub();
    String keyspace = session.client.keyspace();
    return switch (option(words[1])) {
      case "CHANNELS" -> {
        checkArity(words, 2, 3);
        byte[] pattern = Glob.checked(words.length == 3 ? words[2] : EVERYTHING);
        check(session, Right.READ, Topic.pattern(keyspace, pattern), words[0]);
        yield answer(RespValue.Array.of(all.channels(keyspace, pattern), RespValue.Bulk::new));
      }
      case "NUMSUB" -> {
        List<RespValue> counts = new ArrayList<>();
        for (byte[] channel : Arrays.asList(words).subList(2, words.length)) {
          check(session, Right.READ, Topic.channel(keyspace, channel), words[0]);
          counts.add(new RespValue.Bulk(channel));
          counts.add(new RespValue.Int(all.subscribers(keyspace, channel)));
        }
        yield answer(new RespValue.Array(counts));
      }
      case "NUMPAT" -> {
        checkArity(words, 2, 2);
        yield answer(all.patterns(keyspace));
      }
      case "SHARDCHANNELS", "SHARDNUMSUB" ->
          throw new RedisException(
              "ERR sharded channels are not served by Osier; see docs/REDIS.md");
      default -> throw unknownPart(words, "CHANNELS", "NUMPAT", "NUMSUB");
    };
  }

  // ---------------------------------------------------------------- rights

  private static void check(RespSession session, Right right, Topic topic, byte[] command) {
    Grant missing = session.subscriptions.missing(right, topic);
    if (missing != null) {
      throw session.client.refused(text(command).toLowerCase(Locale.ROOT), missing);
    }
  }
}
