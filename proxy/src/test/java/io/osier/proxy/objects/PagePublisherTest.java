package io.osier.proxy.objects;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace.Page;
import io.osier.proxy.Keyspace.Row;
import io.osier.proxy.future.PagePublisher;
import io.osier.proxy.future.PageStream;
import io.osier.testing.Refused;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** Pages are read as rows of them are wanted, and signals come one after another. */
@NullUnmarked // what has not come is null
final class PagePublisherTest {
  private static final int PAGE = 10;

  /** Pages that were asked for, of keys that are numbers. */
  private final List<CompletableFuture<Page>> asked = new ArrayList<>();

  private int size = 35;
  private boolean atOnce = true;

  private static Key key(int number) {
    return Key.of("%08d".formatted(number));
  }

  private CompletableFuture<Page> read(ScanRange rest) {
    CompletableFuture<Page> page = new CompletableFuture<>();
    asked.add(page);
    int from = rest.from().map(key -> Integer.parseInt(key.toString())).orElse(0);
    if (atOnce) {
      page.complete(page(from));
    }
    return page;
  }

  private Page page(int from) {
    int end = Math.min(size, from + PAGE);
    List<Row> rows =
        IntStream.range(from, end)
            .mapToObj(i -> new Row(key(i), CrdtType.PN_COUNTER, new Reading.Count(i)))
            .toList();
    return new Page(rows, end < size ? Optional.of(key(end)) : Optional.empty());
  }

  private ScanPages pages(ScanRange scan) {
    return new ScanPages(scan, this::read);
  }

  /** Notes what it hears; asks for what the test says. */
  private static class Noting implements Flow.Subscriber<Row> {
    final List<Key> rows = new ArrayList<>();
    final AtomicInteger inside = new AtomicInteger();
    Flow.Subscription subscription;
    Throwable error;
    int completed;

    @Override
    public void onSubscribe(Flow.Subscription to) {
      subscription = to;
    }

    @Override
    public void onNext(Row row) {
      assertThat(inside.incrementAndGet()).as("one after another").isEqualTo(1);
      rows.add(row.key());
      next();
      inside.decrementAndGet();
    }

    void next() {}

    @Override
    public void onError(Throwable why) {
      error = why;
    }

    @Override
    public void onComplete() {
      completed++;
    }
  }

  private <S extends Noting> S subscribed(ScanRange scan, S subscriber) {
    new PagePublisher<>(() -> pages(scan)).subscribe(subscriber);
    return subscriber;
  }

  private List<Key> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(PagePublisherTest::key).toList();
  }

  @Test
  void soManyRowsCome_asAreAskedFor() {
    Noting slow = subscribed(ScanRange.ALL, new Noting());
    assertThat(asked).as("nothing is read before a row is wanted").isEmpty();
    slow.subscription.request(3);
    assertThat(slow.rows).isEqualTo(keys(0, 3));
    slow.subscription.request(7);
    assertThat(slow.rows).isEqualTo(keys(0, 10));
    assertThat(asked).as("the page is used up, and nothing more is wanted").hasSize(1);
    slow.subscription.request(1);
    assertThat(slow.rows).isEqualTo(keys(0, 11));
    assertThat(asked).hasSize(2);
    slow.subscription.request(Long.MAX_VALUE);
    slow.subscription.request(Long.MAX_VALUE);
    assertThat(slow.rows).isEqualTo(keys(0, size));
    assertThat(slow.completed).isEqualTo(1);
    assertThat(slow.error).isNull();
  }

  @Test
  void limit_isKept() {
    Noting some = subscribed(ScanRange.ALL.limit(12), new Noting());
    some.subscription.request(100);
    assertThat(some.rows).isEqualTo(keys(0, 12));
    assertThat(some.completed).isEqualTo(1);
    assertThat(asked).hasSize(2);
  }

  /** Each row asks for the next one: no depth of calls grows with that. */
  @Test
  void subscriberThatAsksInEachRow_hearsAll() {
    size = 200_000;
    Noting one =
        subscribed(
            ScanRange.ALL,
            new Noting() {
              @Override
              public void onSubscribe(Flow.Subscription to) {
                super.onSubscribe(to);
                to.request(1);
                assertThat(rows).as("no row before this has returned").isEmpty();
              }

              @Override
              void next() {
                subscription.request(1);
              }
            });
    assertThat(one.rows).hasSize(size);
    assertThat(one.completed).isEqualTo(1);
  }

  @Test
  void cancelled_hearsNothingMore() {
    atOnce = false;
    Noting cancelling = subscribed(ScanRange.ALL, new Noting());
    cancelling.subscription.request(5);
    assertThat(asked).hasSize(1);
    cancelling.subscription.cancel();
    asked.getFirst().complete(page(0));
    cancelling.subscription.request(5);
    assertThat(cancelling.rows).isEmpty();
    assertThat(cancelling.completed).isZero();
    atOnce = true;
    Noting within =
        subscribed(
            ScanRange.ALL,
            new Noting() {
              @Override
              void next() {
                if (rows.size() == 4) {
                  subscription.cancel();
                }
              }
            });
    within.subscription.request(100);
    assertThat(within.rows).isEqualTo(keys(0, 4));
    assertThat(within.completed).isZero();
    assertThat(within.error).isNull();
  }

  @Test
  void whoAsksForNoRow_isTold() {
    for (long wrong : new long[] {0, -1, Long.MIN_VALUE}) {
      Noting none = subscribed(ScanRange.ALL, new Noting());
      none.subscription.request(wrong);
      assertThat(none.error).isInstanceOf(IllegalArgumentException.class);
      none.subscription.request(1);
      assertThat(none.rows).isEmpty();
    }
  }

  @Test
  void error_comesOnce_behindTheRowsBeforeIt() {
    atOnce = false;
    Noting failing = subscribed(ScanRange.ALL, new Noting());
    failing.subscription.request(100);
    asked.getFirst().complete(page(0));
    asked.getLast().completeExceptionally(new OsierException(ErrorCode.UNKNOWN_KEYSPACE, "gone"));
    assertThat(failing.rows).isEqualTo(keys(0, 10));
    assertThat(failing.error).is(Refused.with(ErrorCode.UNKNOWN_KEYSPACE));
    assertThat(asked).hasSize(2);
    assertThat(failing.completed).isZero();
  }

  @Test
  void subscriberThatThrows_isLeftAlone() {
    Noting throwing =
        subscribed(
            ScanRange.ALL,
            new Noting() {
              @Override
              void next() {
                inside.decrementAndGet();
                throw new IllegalStateException("its own fault");
              }
            });
    assertThatThrownBy(() -> throwing.subscription.request(2))
        .isInstanceOf(IllegalStateException.class);
    throwing.subscription.request(2);
    assertThat(throwing.rows).hasSize(1);
    assertThat(throwing.completed).isZero();
  }

  /** Several threads ask for rows while others bring pages: each comes once, in order. */
  @Test
  void rowsAskedForByManyThreads_comeOneAfterAnother() throws InterruptedException {
    size = 20_000;
    Noting shared = subscribed(ScanRange.ALL, new Noting());
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int i = 0; i < size / 4; i++) {
                      shared.subscription.request(1);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(shared.rows).isEqualTo(keys(0, size));
  }

  @Test
  void eachSubscriber_hasAScanOfItsOwn() {
    PagePublisher<Row> publisher = new PagePublisher<>(() -> pages(ScanRange.ALL));
    for (int i = 0; i < 2; i++) {
      Noting all = new Noting();
      publisher.subscribe(all);
      all.subscription.request(Long.MAX_VALUE);
      assertThat(all.rows).hasSize(size);
    }
    assertThatThrownBy(() -> publisher.subscribe(null)).isInstanceOf(NullPointerException.class);
  }

  // ---------------------------------------------------------------- streams

  @Test
  void stream_readsAPageWhenARowOfItIsWanted() {
    assertThat(PageStream.of(pages(ScanRange.ALL)).limit(5).map(Row::key)).isEqualTo(keys(0, 5));
    assertThat(asked).hasSize(1);
    asked.clear();
    Iterator<Row> rows = PageStream.of(pages(ScanRange.ALL)).iterator();
    assertThat(asked).isEmpty();
    for (int i = 0; i < 11; i++) {
      rows.next();
    }
    assertThat(asked).hasSize(2);
  }

  @Test
  void stream_isWhole_alsoInParallel_andEndsWhenItIsClosed() {
    assertThat(PageStream.of(pages(ScanRange.ALL)).map(Row::key)).isEqualTo(keys(0, size));
    assertThat(PageStream.of(pages(ScanRange.ALL)).parallel().map(Row::key).toList())
        .isEqualTo(keys(0, size));
    List<Row> some = new ArrayList<>();
    try (Stream<Row> rows = PageStream.of(pages(ScanRange.ALL))) {
      rows.forEach(
          row -> {
            some.add(row);
            if (some.size() == 15) {
              rows.close();
            }
          });
    }
    assertThat(some).hasSize(15);
  }

  /** A page may be empty although others follow. */
  @Test
  void emptyPages_arePassed() {
    List<Page> given =
        new ArrayList<>(
            List.of(
                new Page(List.of(), Optional.of(key(5))),
                new Page(List.of(), Optional.of(key(7))),
                new Page(page(0).rows(), Optional.empty())));
    ScanPages pages =
        new ScanPages(
            ScanRange.ALL, rest -> CompletableFuture.completedFuture(given.removeFirst()));
    assertThat(PageStream.of(pages).count()).isEqualTo(PAGE);
  }
}
