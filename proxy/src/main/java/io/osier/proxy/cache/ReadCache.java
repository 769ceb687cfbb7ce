package io.osier.proxy.cache;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Keeps answers to a session's reads for a bounded time; only for {@code session} keyspaces, which
 * give no guarantees across objects. Thread-safe.
 *
 * <p>It keeps answers to the session's own reads only, and for each key only answers of the newest
 * version seen; an answer of another version replaces them. So reads stay monotonic, and answers to
 * different queries of one object agree. A write of the key drops its answers, both before it is
 * sent and when it is done, and the answer of a read that was under way meanwhile is not kept.
 *
 * <p>For {@link FollowedKeys} a change that is told counts like a write. Answers about these keys
 * serve longer: as long as it is certain that no change was told since the read was sent, and that
 * the object has not expired, since expiry is not told in time. The object's time to live is asked
 * for once for each version ({@link Slot#unasked}); until it is known the answer serves like any
 * other.
 */
public final class ReadCache {
  /** Most answers that are kept of one version of a key. */
  private static final int ANSWERS_MAX = 16;

  private static final int COUNTERS = 1 << 8;

  private record Place(String keyspace, Key key) {
    /** Returns the place of a key's answers, which is the same for all names of its keyspace. */
    static Place of(String keyspace, Key key) {
      return new Place(Homes.base(keyspace), key);
    }
  }

  private record Question(Optional<CrdtType> type, Query query) {}

  /** The end of one version's time to live. Thread-safe. */
  public static final class Lifetime {
    /**
     * A datacenter's clock may be corrected by up to 5 %, so 1/16 of the time to live is not relied
     * on.
     */
    private static final int SLACK = 16;

    private record End(boolean ever, long atNanos) {}

    private final VersionVector version;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile @Nullable End end;

    private Lifetime(VersionVector version) {
      this.version = version;
    }

    /** Takes the answer to a query, sent at {@code askedNanos}, of how long the object lives on. */
    public void told(Reply.Answer answer, long askedNanos) {
      if (!answer.seen().equals(version)) {
        return; // another version has its own lifetime
      }
      long millis = answer.reading().map(r -> ((Reading.Count) r).value()).orElse(-1L);
      if (millis < 0) {
        end = new End(false, 0);
      } else {
        end =
            new End(
                true, askedNanos + FollowedKeys.nanos(Duration.ofMillis(millis - millis / SLACK)));
      }
    }

    /** Handles a query without an answer; it may be sent again. */
    public void untold() {
      asked.set(false);
    }

    private boolean lasts(long nowNanos) {
      End e = end;
      return e != null && (!e.ever || e.atNanos - nowNanos > 0);
    }
  }

  /**
   * A kept answer.
   *
   * @param askedNanos when the read was sent, which bounds the answer's age
   * @param word what is known of the key's changes; null if they are not followed
   */
  private record Kept(Reply.Answer answer, long askedNanos, FollowedKeys.@Nullable Word word) {
    boolean isBroken() {
      return word != null && word.isBroken();
    }

    /** Returns whether the answer may serve a reader, now or later. */
    boolean isOfUse(long nowNanos, long stalenessNanos) {
      return !isBroken() && nowNanos - askedNanos < nanosMax(stalenessNanos);
    }

    long nanosMax(long stalenessNanos) {
      return word != null && word.isGiven() ? word.by().atMostNanos() : stalenessNanos;
    }
  }

  /** The answers of one version of what a key holds. Immutable but for the lifetime. */
  private static final class Known {
    private final VersionVector version;
    private final Map<Question, Kept> answers;
    private final Lifetime lifetime;

    private Known(VersionVector version, Map<Question, Kept> answers, Lifetime lifetime) {
      this.version = version;
      this.answers = answers;
      this.lifetime = lifetime;
    }

    static Known of(Question question, Kept kept) {
      VersionVector version = kept.answer.seen();
      return new Known(version, Map.of(question, kept), new Lifetime(version));
    }

    /**
     * Returns these answers with one more; null if it is uncertain which version is newer. An
     * answer with a smaller vector need not be older: once a removed object is forgotten, its
     * version begins anew.
     */
    @Nullable Known with(Question question, Kept kept) {
      VersionVector seen = kept.answer.seen();
      if (version.equals(seen)) {
        Map<Question, Kept> more = new HashMap<>(answers.size() < ANSWERS_MAX ? answers : Map.of());
        more.put(question, kept);
        return new Known(version, Map.copyOf(more), lifetime);
      }
      return version.isAtMost(seen) ? of(question, kept) : null;
    }

    /** Returns these answers without those that can serve no reader; null if none is left. */
    @Nullable Known ofUse(long nowNanos, long stalenessNanos) {
      if (answers.values().stream().allMatch(k -> k.isOfUse(nowNanos, stalenessNanos))) {
        return this;
      }
      Map<Question, Kept> left = new HashMap<>(answers);
      left.values().removeIf(k -> !k.isOfUse(nowNanos, stalenessNanos));
      return left.isEmpty() ? null : new Known(version, Map.copyOf(left), lifetime);
    }

    long nanosMax(long stalenessNanos) {
      long most = stalenessNanos;
      for (Kept kept : answers.values()) {
        most = Math.max(most, kept.nanosMax(stalenessNanos));
      }
      return most;
    }
  }

  private final @Nullable Cache<Place, Known> known;
  private final List<FollowedKeys> followed;
  private final Ticker ticker;
  private final long stalenessNanos;

  /**
   * How often keys were written. Keys share these counters, so that memory does not grow with the
   * keys.
   */
  private final AtomicLongArray writes = new AtomicLongArray(COUNTERS);

  /**
   * Makes an empty cache.
   *
   * @param followed the keys whose changes are followed, the longest prefix first
   */
  public ReadCache(CacheSettings settings, List<FollowedKeys> followed, Ticker ticker) {
    this.followed = followed;
    this.ticker = ticker;
    this.stalenessNanos = FollowedKeys.nanos(settings.staleness());
    this.known =
        settings.staleness().isZero()
            ? null
            : Caffeine.newBuilder()
                .expireAfter(
                    Expiry.<Place, Known>writing(
                        (place, of) -> Duration.ofNanos(of.nanosMax(stalenessNanos))))
                .maximumSize(settings.entriesMax())
                .ticker(ticker)
                .build();
  }

  /** Returns whether answers are kept at all. */
  public boolean isOn() {
    return known != null;
  }

  /**
   * The place for one read's answer, taken before the read is sent. For one call; not thread-safe.
   */
  public final class Slot {
    private final Cache<Place, Known> answers;
    private final Place place;
    private final Question question;
    private final long writesBefore;
    private final long askedNanos;
    private final FollowedKeys.@Nullable Word word;
    private @Nullable Lifetime unasked;

    private Slot(
        Cache<Place, Known> answers,
        Place place,
        Question question,
        FollowedKeys.@Nullable Word word) {
      this.answers = answers;
      this.place = place;
      this.question = question;
      this.writesBefore = count(place);
      this.askedNanos = ticker.read();
      this.word = word;
    }

    /** Returns the kept answer; null if there is none that still serves. */
    public Reply.@Nullable Answer get() {
      Known of = answers.getIfPresent(place);
      Kept kept = of == null ? null : of.answers.get(question);
      if (of == null || kept == null) {
        return null;
      }
      if (kept.isBroken()) {
        answers.asMap().computeIfPresent(place, (p, now) -> now.ofUse(askedNanos, stalenessNanos));
        return null;
      }
      long age = askedNanos - kept.askedNanos;
      boolean isKnown = kept.word != null && kept.word.holds(askedNanos);
      if (isKnown && of.lifetime.asked.compareAndSet(false, true)) {
        unasked = of.lifetime;
      }
      boolean serves =
          age < stalenessNanos
              || (isKnown && age < kept.nanosMax(stalenessNanos) && of.lifetime.lasts(askedNanos));
      return serves ? kept.answer : null;
    }

    /**
     * Returns a lifetime for which the caller must ask, after {@link #get}; null if there is none.
     */
    public @Nullable Lifetime unasked() {
      return unasked;
    }

    /**
     * Returns the keys whose changes must be followed so that the answer is kept longer; null if
     * none.
     */
    public @Nullable FollowedKeys followed() {
      return word == null ? null : word.by();
    }

    /**
     * Keeps the answer, unless the key was written or a change of it told since the read was sent.
     *
     * @param by the process that answered
     */
    public void put(Reply.Answer answer, ReplicaId by) {
      Kept kept = new Kept(answer, askedNanos, word == null ? null : word.of(by));
      long now = ticker.read();
      answers
          .asMap()
          .compute(
              place,
              (p, of) -> {
                if (count(place) != writesBefore || kept.isBroken()) {
                  return null; // drops other reads' answers, too: they may be older
                }
                Known before = of == null ? null : of.ofUse(now, stalenessNanos);
                Known after =
                    before == null ? Known.of(question, kept) : before.with(question, kept);
                if (after == null) {
                  writes.incrementAndGet(counter(place)); // reads under way may be as old
                }
                return after;
              });
    }
  }

  /** Returns the place for a read's answer. Only if {@link #isOn}. */
  public Slot slot(String keyspace, Key key, Optional<CrdtType> type, Query query) {
    Place place = Place.of(keyspace, key);
    return new Slot(requireNonNull(known), place, new Question(type, query), word(keyspace, key));
  }

  private FollowedKeys.@Nullable Word word(String keyspace, Key key) {
    for (FollowedKeys keys : followed) {
      if (keys.prefix().covers(keyspace, key)) {
        return keys.word(key);
      }
    }
    return null;
  }

  private long count(Place place) {
    return writes.get(counter(place));
  }

  private static int counter(Place place) {
    return place.hashCode() & (COUNTERS - 1);
  }

  public void invalidate(String keyspace, Key key) {
    if (known != null) {
      Place place = Place.of(keyspace, key);
      writes.incrementAndGet(counter(place));
      known.invalidate(place);
    }
  }

  public void clear() {
    if (known != null) {
      for (int i = 0; i < COUNTERS; i++) {
        writes.incrementAndGet(i);
      }
      known.invalidateAll();
    }
  }
}
