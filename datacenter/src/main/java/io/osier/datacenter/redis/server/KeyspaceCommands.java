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
import io.osier.datacenter.redis.command.Database;
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
import io.osier.protocol.ScanRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
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

/** Commands that walk through all keys of a keyspace. Static, for any thread. */
final class KeyspaceCommands {
  /** The number of keys that a step of SCAN looks at by default. */
  private static final int COUNT = 10;

  /** The number of keys of a page of the other walks. */
  private static final int PAGE = 1_000;

  /** Most bytes of heap of the keys that KEYS answers, about. */
  private static final long KEYS_BYTES_MAX = 64 << 20;

  /** The first byte of SCAN's places, which distinguishes them from those of other walks. */
  private static final byte KEYSPACE = 'K';

  private static final Query EXISTS = new Query.Exists();

  private KeyspaceCommands() {}

  // ---------------------------------------------------------------- walks

  private static Request page(
      String keyspace, Optional<Key> from, Optional<Key> to, int limit, ScanRequest.Want want) {
    return new ScanRequest(
        keyspace, from, to, Optional.empty(), EXISTS, Math.min(limit, Request.SCAN_ROWS_MAX), want);
  }

  /** SCAN: home after home, each in the order of its keys. */
  static Plan scan(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Cursors cursors = scope.cursors();
    List<String> homes = scope.database().keyspaces();
    Spot spot = Spot.of(cursors.get(Walk.cursor(words.next())), homes);
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
    Optional<Key> begin = spot.from.isPresent() ? spot.from : range.from;
    byte[] shown = pattern;
    String of = type;
    return Plans.ask(
        page(
            homes.get(spot.home),
            begin,
            range.to,
            (int) Math.min(count, Request.SCAN_ROWS_MAX),
            ScanRequest.Want.ROWS),
        reply -> {
          Reply.Page page = (Reply.Page) reply;
          List<RespValue> names =
              names(page, of).stream()
                  .map(Key::toBytes)
                  .filter(key -> shown == null || Glob.matches(shown, key))
                  .<RespValue>map(RespValue.Bulk::new)
                  .toList();
          long next =
              spot.next(page.next(), homes).map(to -> cursors.put(to.place(homes))).orElse(0L);
          return answer(
              RespValue.array(
                  RespValue.Bulk.of(Long.toUnsignedString(next)), new RespValue.Array(names)));
        });
  }

  /**
   * The place at which a walk through all homes goes on.
   *
   * @param home the number of the home that the walk has reached
   * @param from the next key there; empty for the home's beginning
   */
  private record Spot(int home, Optional<Key> from) {
    private static final Spot BEGINNING = new Spot(0, Optional.empty());

    /**
     * Returns what the bytes of a place stand for; the beginning if they are not known, or the home
     * no longer exists.
     */
    static Spot of(Optional<byte[]> known, List<String> homes) {
      byte[] place = known.orElse(new byte[0]);
      if (place.length == 0 || place[0] != KEYSPACE) {
        return BEGINNING;
      }
      int end = 1;
      while (place[end] != 0) {
        end++;
      }
      String name = new String(place, 1, end - 1, StandardCharsets.US_ASCII);
      int key = end + 1;
      int home = homes.indexOf(name);
      return home < 0
          ? BEGINNING
          : new Spot(
              home,
              key == place.length
                  ? Optional.empty()
                  : Optional.of(Key.of(place, key, place.length)));
    }

    /** Returns the bytes of this place: the keyspace's name, a zero, and the key. */
    byte[] place(List<String> homes) {
      byte[] name = homes.get(home).getBytes(StandardCharsets.US_ASCII);
      byte[] place = new byte[name.length + 2 + from.map(Key::length).orElse(0)];
      place[0] = KEYSPACE;
      System.arraycopy(name, 0, place, 1, name.length);
      from.ifPresent(key -> key.copyTo(place, name.length + 2));
      return place;
    }

    /**
     * Returns the place behind a page; empty if that was the last one.
     *
     * @param rest where the page's home goes on
     */
    Optional<Spot> next(Optional<Key> rest, List<String> homes) {
      return rest.isPresent()
          ? Optional.of(new Spot(home, rest))
          : home + 1 < homes.size()
              ? Optional.of(new Spot(home + 1, Optional.empty()))
              : Optional.empty();
    }
  }

  /**
   * Returns the keys of a page, each once.
   *
   * @param type only keys of this type, as Redis names it; null for all
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

  /**
   * The range of the keys that a pattern can match: they begin with the pattern's first characters.
   */
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
    return keys(scope.database().keyspaces(), Spot.BEGINNING, pattern, new ArrayList<>(), 0);
  }

  private static Plan keys(
      List<String> homes, Spot spot, byte[] pattern, List<RespValue> found, long bytes) {
    Range range = Range.of(pattern);
    Optional<Key> from = spot.from.isPresent() ? spot.from : range.from;
    return Plans.ask(
        page(homes.get(spot.home), from, range.to, PAGE, ScanRequest.Want.ROWS),
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
          long sum = all;
          return spot.next(page.next(), homes)
              .map(next -> keys(homes, next, pattern, found, sum))
              .orElseGet(() -> answer(new RespValue.Array(found)));
        });
  }

  /**
   * RANDOMKEY: draws a home, and one of its first keys; if it has none, goes on to the next home.
   */
  static Plan randomKey(Scope scope, byte[][] words) {
    List<String> homes = new ArrayList<>(scope.database().keyspaces());
    Collections.rotate(homes, (int) Math.floorMod(scope.seed() >>> 32, (long) homes.size()));
    return randomKey(homes.iterator(), scope.seed());
  }

  private static Plan randomKey(Iterator<String> homes, long seed) {
    return Plans.ask(
        page(homes.next(), Optional.empty(), Optional.empty(), PAGE, ScanRequest.Want.ROWS),
        reply -> {
          List<Key> keys = List.copyOf(names((Reply.Page) reply, null));
          if (keys.isEmpty()) {
            return homes.hasNext() ? randomKey(homes, seed) : answer(RespValue.NULL);
          }
          int drawn = (int) Math.floorMod(seed, (long) keys.size());
          return answer(new RespValue.Bulk(keys.get(drawn).toBytes()));
        });
  }

  /** DBSIZE. */
  static Plan count(Scope scope, byte[][] words) {
    return count(
        scope.database().keyspaces(), n -> answer(n), failure -> answer(RedisErrors.of(failure)));
  }

  /** Counts the objects of a database's homes: a key that holds two counts twice. */
  static Plan count(
      List<String> homes, LongFunction<Plan> then, Function<Reply.Failure, Plan> failed) {
    return count(homes, Spot.BEGINNING, 0, then, failed);
  }

  private static Plan count(
      List<String> homes,
      Spot spot,
      long before,
      LongFunction<Plan> then,
      Function<Reply.Failure, Plan> failed) {
    return Plans.ask(
        page(
            homes.get(spot.home),
            spot.from,
            Optional.empty(),
            Request.SCAN_ROWS_MAX,
            ScanRequest.Want.COUNT),
        reply -> {
          Reply.Counted counted = (Reply.Counted) reply;
          long sum = before + counted.objects();
          return spot.next(counted.next(), homes)
              .map(next -> count(homes, next, sum, then, failed))
              .orElseGet(() -> then.apply(sum));
        },
        failed);
  }

  // ---------------------------------------------------------------- flush

  static Plan flushDatabase(RespSession session, byte[][] words) {
    return flush(session, words, session.client.database().homes());
  }

  static Plan flushAll(RespSession session, byte[][] words) {
    return flush(session, words, session.server.keyspaces());
  }

  private static Plan flush(RespSession session, byte[][] words, Collection<Database> keyspaces) {
    if (words.length > 2
        || (words.length == 2 && !Set.of("ASYNC", "SYNC").contains(option(words[1])))) {
      throw syntax();
    }
    // Caches drop everything at once; keys that are read meanwhile are told as they are deleted.
    keyspaces.forEach(of -> session.server.tracking().flush(of.keyspace()));
    // Keys that were read as absent are told in the end.
    Consumer<String> done = session.server.tracking()::forget;
    return next(new Flush(keyspaces.iterator(), done, false));
  }

  /**
   * A walk that deletes.
   *
   * @param left the keyspaces that are still to be walked through
   * @param done is called for each keyspace all of whose keys are deleted
   * @param begun whether something was deleted
   */
  private record Flush(Iterator<Database> left, Consumer<String> done, boolean begun) {
    Plan failed(Reply.Failure failure) {
      return answer(begun ? RedisErrors.ofPart(failure) : RedisErrors.of(failure));
    }
  }

  private static Plan next(Flush walk) {
    return walk.left.hasNext() ? flush(walk.left.next(), Optional.empty(), walk) : ok();
  }

  private static Plan flush(Database of, Optional<Key> from, Flush walk) {
    return Plans.ask(
        page(of.keyspace(), from, Optional.empty(), PAGE, ScanRequest.Want.ROWS),
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

  private static Plan flushed(Database of, Optional<Key> next, Flush walk) {
    if (next.isPresent()) {
      return flush(of, next, walk);
    }
    walk.done.accept(of.keyspace());
    return next(walk);
  }

  /**
   * Returns the deletions of keys; objects that cannot be deleted, such as bounded counters, stay.
   */
  private static List<Request> deletes(Database of, Collection<Key> keys) {
    Map<Integer, List<Request.Update>> byPartition = new TreeMap<>();
    for (Key key : keys) {
      byPartition
          .computeIfAbsent(of.partitioning().of(key), p -> new ArrayList<>())
          .add(new Request.Update(key, Operation.ANY_TYPE, new Operation.Delete()));
    }
    List<Request> all = new ArrayList<>();
    for (List<Request.Update> updates : byPartition.values()) {
      for (int i = 0; i < updates.size(); i += Request.BATCH_MAX) {
        List<Request.Update> part =
            updates.subList(i, Math.min(updates.size(), i + Request.BATCH_MAX));
        all.add(new Request.WriteAll(of.keyspace(), part, VersionVector.EMPTY, 0));
      }
    }
    return all;
  }
}
