package io.osier.proxy;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.proxy.protocol.Reply;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A session's own answers, for a bounded time. Only the session's own reads are in it, so a cached
 * answer is what the session saw last and reads stay monotonic; a write of the key empties its
 * entries, before it is sent and when it is done; and a read that was under way meanwhile does not
 * come in any more. Thread-safe.
 */
final class ReadCache {
  private record Question(String keyspace, Key key, Optional<CrdtType> type, Query query) {}

  private static final int COUNTERS = 1 << 8;

  private final Cache<Question, Reply.Answer> answers;

  /** How often keys were written; keys share counters, so that they take no memory of their own. */
  private final AtomicLongArray writes = new AtomicLongArray(COUNTERS);

  ReadCache(ClientSettings settings) {
    this(settings, Ticker.systemTicker());
  }

  ReadCache(ClientSettings settings, Ticker ticker) {
    this.answers =
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
    return answers != null;
  }

  /** A place for one answer, taken before the question is asked. */
  final class Slot {
    private final Question question;
    private final long writesBefore;

    private Slot(Question question, long writesBefore) {
      this.question = question;
      this.writesBefore = writesBefore;
    }

    /** The answer, or null. */
    Reply.Answer get() {
      return answers == null ? null : answers.getIfPresent(question);
    }

    /** Keeps the answer unless the key was written since the question was asked. */
    void put(Reply.Answer answer) {
      if (answers == null) {
        return;
      }
      answers.put(question, answer);
      if (count(question.keyspace, question.key) != writesBefore) {
        answers.invalidate(question);
      }
    }
  }

  Slot slot(String keyspace, Key key, Optional<CrdtType> type, Query query) {
    return new Slot(new Question(keyspace, key, type, query), count(keyspace, key));
  }

  private long count(String keyspace, Key key) {
    return answers == null ? 0 : writes.get(counter(keyspace, key));
  }

  private static int counter(String keyspace, Key key) {
    return (keyspace.hashCode() * 31 + key.hashCode()) & (COUNTERS - 1);
  }

  void invalidate(String keyspace, Key key) {
    if (answers != null) {
      writes.incrementAndGet(counter(keyspace, key));
      answers.asMap().keySet().removeIf(q -> q.key.equals(key) && q.keyspace.equals(keyspace));
    }
  }

  void clear() {
    if (answers != null) {
      for (int i = 0; i < COUNTERS; i++) {
        writes.incrementAndGet(i);
      }
      answers.invalidateAll();
    }
  }
}
