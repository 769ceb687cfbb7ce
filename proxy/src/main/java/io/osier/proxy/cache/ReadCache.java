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
 * A session's own answers, for a bounded time; in {@code session} keyspaces only, which promise
 * nothing across objects. Thread-safe.
 *
 * <p>Only the session's own reads are in it, and of one key only answers of one version, the newest
 * that was seen: another one drops them. So reads stay monotonic, and answers to different
 * questions about one object agree. A write of the key drops its answers, before it is sent and
 * when it is done; and a read that was under way meanwhile does not come in any more.
 *
 * <p>Of {@link FollowedKeys} a change that is told of counts like a write. There an answer serves
 * longer, as long as it is known that no change was told of since it was asked for, and until when
 * the object lives: what expires changes without being told of in time. That is asked for once for
 * each version ({@link Slot#unasked}); while it is not known the answer serves as all others do.
 */
public final class ReadCache {
  /** Most answers of one version of a key. */
  private static final int ANSWERS_MAX = 16;

  private static final int COUNTERS = 1 << 8;

  private record Place(String keyspace, Key key) {
    /** Where the answers about a key are, by whichever name of its keyspace it was asked for. */
    static Place of(String keyspace, Key key) {
      return new Place(Homes.base(keyspace), key);
    }
  }

  private record Question(Optional<CrdtType> type, Query query) {}

  /** Until when one version of an object lives. Thread-safe. */
  public static final class Lifetime {
    /** A datacenter's clock is set by at most 5 %: so much of what it says is not counted on. */
    private static final int SLACK = 16;

    private record End(boolean ever, long atNanos) {}

    private final VersionVector version;
    private final AtomicBoolean asked = new AtomicBoolean();
    private volatile @Nullable End end;

    private Lifetime(VersionVector version) {
      this.version = version;
    }

    /** Takes the answer to the question how long the object lives on, which was asked then. */
    public void told(Reply.Answer answer, long askedNanos) {
      if (!answer.seen().equals(version)) {
        return; // of another version, which comes by itself
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

    /** The question was not answered, and may be asked again. */
    public void untold() {
      asked.set(false);
    }

    private boolean lasts(long nowNanos) {
      End e = end;
      return e != null && (!e.ever || e.atNanos - nowNanos > 0);
    }
  }

  /**
   * An answer.
   *
   * @param askedNanos when it was asked for: it is not older
   * @param word of those who follow the key's changes; null if nobody does
   */
  private record Kept(Reply.Answer answer, long askedNanos, FollowedKeys.@Nullable Word word) {
    boolean isBroken() {
      return word != null && word.isBroken();
    }

    /** Whether the answer may be given to a reader, now or later. */
    boolean isOfUse(long nowNanos, long stalenessNanos) {
      return !isBroken() && nowNanos - askedNanos < nanosMax(stalenessNanos);
    }

    long nanosMax(long stalenessNanos) {
      return word != null && word.isGiven() ? word.by().atMostNanos() : stalenessNanos;
    }
  }

  /** Answers about one version of what a key holds. */
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
     * What is known with one more answer; null if it cannot be told which of the two is newer. An
     * answer that has seen less need not be older: once a removed object is forgotten, its version
     * begins anew.
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

    /** Without what is of no use any more; null if nothing is left. */
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

  /** How often keys were written. Keys share these counters, so that no key takes memory. */
  private final AtomicLongArray writes = new AtomicLongArray(COUNTERS);

  /**
   * @param followed the longest prefix first
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

  /** Whether answers are kept at all. */
  public boolean isOn() {
    return known != null;
  }

  /** A place for one answer, taken before the question is asked. Of one call; not thread-safe. */
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

    /** The answer, or null. */
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

    /** After {@link #get}: a lifetime that the caller must ask for; null if there is none. */
    public @Nullable Lifetime unasked() {
      return unasked;
    }

    /** Whose changes must be followed if the answer is to be kept for longer; null if nobody's. */
    public @Nullable FollowedKeys followed() {
      return word == null ? null : word.by();
    }

    /**
     * Keeps the answer unless the key was written since the question was asked, or a change was
     * told of.
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
                  return null; // nor what another read brought meanwhile: it may be older
                }
                Known before = of == null ? null : of.ofUse(now, stalenessNanos);
                Known after =
                    before == null ? Known.of(question, kept) : before.with(question, kept);
                if (after == null) {
                  writes.incrementAndGet(counter(place)); // others under way may be as old
                }
                return after;
              });
    }
  }

  /** Only where {@link #isOn}. */
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
