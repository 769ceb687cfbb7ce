package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class ReadCacheTest {
  private static final Key KEY = Key.of("k");
  private final AtomicLong nanos = new AtomicLong();
  private final ReadCache cache =
      new ReadCache(
          new ClientSettings(
              Map.of(),
              Optional.empty(),
              "t",
              Duration.ofSeconds(1),
              Duration.ofSeconds(1),
              Duration.ofSeconds(1),
              1,
              Duration.ofSeconds(2),
              10,
              ClientMetrics.NONE,
              Optional.empty(),
              Optional.empty(),
              TracedAnswers.NONE,
              Values.plain(),
              ClientObserver.NONE),
          nanos::get);

  private ReadCache.Slot slot() {
    return cache.slot("s", KEY, Optional.empty(), new Query.Whole());
  }

  private static Reply.Answer answer() {
    return new Reply.Answer(Optional.empty(), Optional.empty(), false, VersionVector.EMPTY);
  }

  @Test
  void answer_isForgottenAfterTheBound() {
    slot().put(answer());
    nanos.addAndGet(1_999_000_000L);
    assertThat(slot().get()).isNotNull();
    nanos.addAndGet(2_000_000L);
    assertThat(slot().get()).isNull();
  }

  @Test
  void answerToAReadBeforeAWrite_isNotKept() {
    ReadCache.Slot asked = slot();
    cache.invalidate("s", KEY); // the write overtakes the answer
    asked.put(answer());
    assertThat(slot().get()).isNull();
  }

  @Test
  void move_forgetsEverything() {
    ReadCache.Slot asked = slot();
    slot().put(answer());
    cache.clear();
    assertThat(slot().get()).isNull();
    asked.put(answer());
    assertThat(slot().get()).as("asked at the former datacenter").isNull();
  }
}
