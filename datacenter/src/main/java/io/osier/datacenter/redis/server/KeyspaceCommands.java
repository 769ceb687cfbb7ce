package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.text;
import static io.osier.datacenter.redis.command.Plan.answer;
import static io.osier.datacenter.redis.command.Plan.ok;
import static io.osier.datacenter.redis.command.RedisErrors.syntax;
import static io.osier.datacenter.redis.command.Words.option;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Cursors;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.datacenter.redis.command.data.Plans;
import io.osier.datacenter.redis.command.data.Texts;
import io.osier.datacenter.redis.command.data.Walk;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Commands about all keys of a keyspace. Static, for any thread. */
final class KeyspaceCommands {
  /** Keys that SCAN looks at, where nothing is said. */
  private static final int COUNT = 10;

  /** Keys of one page, where all are looked at. */
  private static final int PAGE = 1_000;

  /** What KEYS shows has at most so many bytes, about. */
  private static final long KEYS_BYTES_MAX = 64 << 20;

  /** In front of a place of SCAN, so that it is none of another walk's. */
  private static final byte KEYSPACE = 'K';

  private static final Query EXISTS = new Query.Exists();

  private KeyspaceCommands() {}

  // ---------------------------------------------------------------- walks

  private static Request page(
      String keyspace, Optional<Key> from, Optional<Key> to, int limit, Request.Want want) {
    return new Request.Scan(
        keyspace, from, to, Optional.empty(), EXISTS, Math.min(limit, Request.SCAN_ROWS_MAX), want);
  }

  static Plan scan(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Cursors cursors = scope.cursors();
    Optional<Key> from =
        cursors
            .get(Walk.cursor(words.next()))
            .filter(place -> place.length > 1 && place[0] == KEYSPACE)
            .map(place -> Key.of(place, 1, place.length));
    byte @Nullable [] pattern = null;
    @Nullable String type = null;
    long count = COUNT;
    while (words.hasNext()) {
      switch (words.option()) {
        case "MATCH" -> pattern = Glob.checked(words.next());
        case "COUNT" -> count = words.integer();
        case "TYPE" -> type = text(words.next());
        default -> throw syntax();
      }
    }
    if (count < 1) {
      throw syntax();
    }
    Range range = Range.of(pattern);
    Optional<Key> begin = from.isPresent() ? from : range.from;
    byte[] shown = pattern;
    String of = type;
    return Plans.ask(
        page(
            scope.keyspace(),
            begin,
            range.to,
            (int) Math.min(count, Request.SCAN_ROWS_MAX),
            Request.Want.ROWS),
        reply -> {
          Reply.Page page = (Reply.Page) reply;
          List<RespValue> names =
              names(page, of).stream()
                  .map(Key::toBytes)
                  .filter(key -> shown == null || Glob.matches(shown, key))
                  .<RespValue>map(RespValue.Bulk::new)
                  .toList();
          long next = page.next().map(key -> cursors.put(place(key))).orElse(0L);
          return answer(
              new RespValue.Array(
                  List.of(
                      RespValue.Bulk.of(Long.toUnsignedString(next)), new RespValue.Array(names))));
        });
  }

  private static byte[] place(Key key) {
    byte[] place = new byte[key.length() + 1];
    place[0] = KEYSPACE;
    key.copyTo(place, 1);
    return place;
  }

  /**
   * The keys of a page, each once.
   *
   * @param type only those that are of this type to Redis; null for all
   */
  private static Collection<Key> names(Reply.Page page, @Nullable String type) {
    Set<Key> names = new LinkedHashSet<>();
    for (Reply.Row row : page.rows()) {
      if (type == null || type.equalsIgnoreCase(Texts.typeName(row.type()))) {
        names.add(row.key());
      }
    }
    return names;
  }

  /** What matches a pattern begins with what the pattern does. */
  private record Range(Optional<Key> from, Optional<Key> to) {
    static Range of(byte @Nullable [] pattern) {
      byte[] prefix = pattern == null ? new byte[0] : Glob.prefix(pattern);
      if (prefix.length == 0 || prefix.length > Key.LENGTH_MAX) {
        return new Range(Optional.empty(), Optional.empty());
      }
      Key key = Key.of(prefix);
      return new Range(Optional.of(key), key.afterPrefix());
    }
  }

  static Plan keys(Scope scope, byte[][] words) {
    byte[] pattern = Glob.checked(words[1]);
    Range range = Range.of(pattern);
    return keys(scope.keyspace(), range.from, range.to, pattern, new ArrayList<>(), 0);
  }

  private static Plan keys(
      String keyspace,
      Optional<Key> from,
      Optional<Key> to,
      byte[] pattern,
      List<RespValue> found,
      long bytes) {
    return Plans.ask(
        page(keyspace, from, to, PAGE, Request.Want.ROWS),
        reply -> {
          Reply.Page page = (Reply.Page) reply;
          long all = bytes;
          for (Key key : names(page, null)) {
            byte[] name = key.toBytes();
            if (Glob.matches(pattern, name)) {
              found.add(new RespValue.Bulk(name));
              all += name.length + 48;
            }
          }
          if (all > KEYS_BYTES_MAX) {
            throw new RedisException("ERR too many keys match for one answer; use SCAN");
          }
          return page.next().isPresent()
              ? keys(keyspace, page.next(), to, pattern, found, all)
              : answer(new RespValue.Array(found));
        });
  }

  static Plan randomKey(Scope scope, byte[][] words) {
    return Plans.ask(
        page(scope.keyspace(), Optional.empty(), Optional.empty(), PAGE, Request.Want.ROWS),
        reply -> {
          List<Key> keys = List.copyOf(names((Reply.Page) reply, null));
          return answer(
              keys.isEmpty()
                  ? RespValue.NULL
                  : new RespValue.Bulk(
                      keys.get((int) Math.floorMod(scope.seed(), (long) keys.size())).toBytes()));
        });
  }

  /** DBSIZE. */
  static Plan count(Scope scope, byte[][] words) {
    return count(scope.keyspace(), n -> answer(n), failure -> answer(RedisErrors.of(failure)));
  }

  /** Counts the objects of a keyspace: a key that holds two counts twice. */
  static Plan count(
      String keyspace, LongFunction<Plan> then, Function<Reply.Failure, Plan> failed) {
    return count(keyspace, Optional.empty(), 0, then, failed);
  }

  private static Plan count(
      String keyspace,
      Optional<Key> from,
      long before,
      LongFunction<Plan> then,
      Function<Reply.Failure, Plan> failed) {
    return Plans.ask(
        page(keyspace, from, Optional.empty(), Request.SCAN_ROWS_MAX, Request.Want.COUNT),
        reply -> {
          Reply.Counted counted = (Reply.Counted) reply;
          long sum = before + counted.objects();
          return counted.next().isPresent()
              ? count(keyspace, counted.next(), sum, then, failed)
              : then.apply(sum);
        },
        failed);
  }

  // ---------------------------------------------------------------- flush

  static Plan flushDatabase(RespSession session, byte[][] words) {
    return flush(session, words, List.of(session.server.keyspace(session.client.database)));
  }

  static Plan flushAll(RespSession session, byte[][] words) {
    return flush(session, words, session.server.keyspaces().values());
  }

  private static Plan flush(
      RespSession session, byte[][] words, Collection<ServerState.Keyspace> keyspaces) {
    if (words.length > 2
        || (words.length == 2 && !Set.of("ASYNC", "SYNC").contains(option(words[1])))) {
      throw syntax();
    }
    // Caches hear of it at once; of what is read meanwhile they hear as it is deleted.
    keyspaces.forEach(of -> session.server.tracking().flush(of.name()));
    Consumer<String> done = session.server.tracking()::forget; // what was read and is not there
    return next(new Flush(keyspaces.iterator(), done, false));
  }

  /**
   * A walk that deletes.
   *
   * @param done hears of each keyspace of which all is deleted
   * @param begun whether something was deleted
   */
  private record Flush(Iterator<ServerState.Keyspace> left, Consumer<String> done, boolean begun) {
    Plan failed(Reply.Failure failure) {
      return answer(begun ? RedisErrors.ofPart(failure) : RedisErrors.of(failure));
    }
  }

  private static Plan next(Flush walk) {
    return walk.left.hasNext() ? flush(walk.left.next(), Optional.empty(), walk) : ok();
  }

  private static Plan flush(ServerState.Keyspace of, Optional<Key> from, Flush walk) {
    return Plans.ask(
        page(of.name(), from, Optional.empty(), PAGE, Request.Want.ROWS),
        reply -> {
          Reply.Page page = (Reply.Page) reply;
          List<Request> deletes = deletes(of, names(page, null));
          if (deletes.isEmpty()) {
            return flushed(of, page.next(), walk);
          }
          return new Plan.Ask(
              deletes,
              replies -> {
                boolean begun =
                    walk.begun || !replies.stream().allMatch(Reply.Failure.class::isInstance);
                Flush after = new Flush(walk.left, walk.done, begun);
                for (Reply deleted : replies) {
                  if (deleted instanceof Reply.Failure failure) {
                    return after.failed(failure);
                  }
                }
                return flushed(of, page.next(), after);
              });
        },
        walk::failed);
  }

  private static Plan flushed(ServerState.Keyspace of, Optional<Key> next, Flush walk) {
    if (next.isPresent()) {
      return flush(of, next, walk);
    }
    walk.done.accept(of.name());
    return next(walk);
  }

  /** What cannot be deleted, as a bounded counter, stays. */
  private static List<Request> deletes(ServerState.Keyspace of, Collection<Key> keys) {
    Map<Integer, List<Request.Update>> byPartition = new TreeMap<>();
    for (Key key : keys) {
      byPartition
          .computeIfAbsent(of.partition().applyAsInt(key), p -> new ArrayList<>())
          .add(new Request.Update(key, Operation.ANY_TYPE, new Operation.Delete()));
    }
    List<Request> all = new ArrayList<>();
    for (List<Request.Update> updates : byPartition.values()) {
      for (int i = 0; i < updates.size(); i += Request.BATCH_MAX) {
        List<Request.Update> part =
            updates.subList(i, Math.min(updates.size(), i + Request.BATCH_MAX));
        all.add(new Request.WriteAll(of.name(), part, VersionVector.EMPTY, 0));
      }
    }
    return all;
  }
}
