package io.osier.proxy;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * A session's own answers, for a bounded time; in {@code session} keyspaces only, which promise
 * nothing across objects. Thread-safe.
 *
 * <p>Only the session's own reads are in it, and of one key only answers of one version, the newest
 * that was seen: another one drops them. So reads stay monotonic, and answers to different
 * questions about one object agree. A write of the key drops its answers, before it is sent and
 * when it is done; and a read that was under way meanwhile does not come in any more.
 */
final class ReadCache {
  /** Most answers of one version of a key. */
  private static final int ANSWERS_MAX = 16;

  private static final int COUNTERS = 1 << 8;

  private record Place(String keyspace, Key key) {}

  private record Question(Optional<CrdtType> type, Query query) {}

  /** Answers about one version of what a key holds. */
  private record Known(VersionVector version, Map<Question, Reply.Answer> answers) {
    static Known of(Question question, Reply.Answer answer) {
      return new Known(answer.seen(), Map.of(question, answer));
    }

    /** What is known with one more answer; null if it cannot be told which is newer. */
    @Nullable Known with(Question question, Reply.Answer answer) {
      if (version.equals(answer.seen()) && answers.size() < ANSWERS_MAX) {
        Map<Question, Reply.Answer> more = new HashMap<>(answers);
        more.put(question, answer);
        return new Known(version, Map.copyOf(more));
      }
      if (version.isAtMost(answer.seen())) {
        return of(question, answer);
      }
      return answer.seen().isAtMost(version) ? this : null; // or it was on its way for long
    }
  }

  private final @Nullable Cache<Place, Known> known;

  /** How often keys were written; keys share counters, so that they take no memory of their own. */
  private final AtomicLongArray writes = new AtomicLongArray(COUNTERS);

  ReadCache(ClientSettings settings, Ticker ticker) {
    this.known =
        settings.cacheStaleness().isZero()
            ? null
            : Caffeine.newBuilder()
                .expireAfterWrite(settings.cacheStaleness())
                .maximumSize(settings.cacheEntriesMax())
                .ticker(ticker)
                .build();
  }

  /** Whether answers are kept at all. */
  boolean isOn() {
    return known != null;
  }

  /** A place for one answer, taken before the question is asked. */
  final class Slot {
    private final Cache<Place, Known> answers;
    private final Place place;
    private final Question question;
    private final long writesBefore;

    private Slot(Cache<Place, Known> answers, Place place, Question question, long writesBefore) {
      this.answers = answers;
      this.place = place;
      this.question = question;
      this.writesBefore = writesBefore;
    }

    /** The answer, or null. */
    Reply.@Nullable Answer get() {
      Known of = answers.getIfPresent(place);
      return of == null ? null : of.answers.get(question);
    }

    /** Keeps the answer unless the key was written since the question was asked. */
    void put(Reply.Answer answer) {
      answers
          .asMap()
          .compute(
              place,
              (p, of) -> {
                if (count(place) != writesBefore) {
                  return null; // nor what another read brought meanwhile: it may be older
                }
                return of == null ? Known.of(question, answer) : of.with(question, answer);
              });
    }
  }

  /** Only where {@link #isOn}. */
  Slot slot(String keyspace, Key key, Optional<CrdtType> type, Query query) {
    Place place = new Place(keyspace, key);
    return new Slot(requireNonNull(known), place, new Question(type, query), count(place));
  }

  private long count(Place place) {
    return writes.get(counter(place));
  }

  private static int counter(Place place) {
    return place.hashCode() & (COUNTERS - 1);
  }

  void invalidate(String keyspace, Key key) {
    if (known != null) {
      Place place = new Place(keyspace, key);
      writes.incrementAndGet(counter(place));
      known.invalidate(place);
    }
  }

  void clear() {
    if (known != null) {
      for (int i = 0; i < COUNTERS; i++) {
        writes.incrementAndGet(i);
      }
      known.invalidateAll();
    }
  }
}
