package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.objects.ScanRange;
import io.osier.proxy.transaction.SnapshotScan;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A datacenter in the caller's process may answer within the call. What is read in many parts must
 * not need more stack the more parts there are.
 */
final class AnswersAtOnceTest {
  private static final int PARTS = 4_000;
  private static final long STACK_BYTES = 512 << 10;
  private static final Key NEXT = Key.of("next");

  private final FakeInProcess eu = new FakeInProcess();
  private final OsierClient client = OsierClient.inProcess(eu);
  private final Keyspace shop = client.session().keyspace("shop");
  private int answered;

  @AfterEach
  void close() {
    client.close();
  }

  /** Does it with little stack. */
  private static <T> T within(Callable<T> action) throws Exception {
    FutureTask<T> task = new FutureTask<>(action);
    Thread thread = new Thread(null, task, "little stack", STACK_BYTES);
    thread.setDaemon(true);
    thread.start();
    return task.get();
  }

  /** Where the next part begins. */
  private Optional<Key> next() {
    return ++answered < PARTS ? Optional.of(NEXT) : Optional.empty();
  }

  private static Reply.Answer answer(List<Value> elements) {
    return new Reply.Answer(CrdtType.AW_SET, new Reading.Many(elements), VersionVector.EMPTY);
  }

  /** Of a set whose elements but the last one all others have, too. */
  private List<Value> elements(Query query, List<Value> page) {
    if (query instanceof Query.Among among) {
      return answered < PARTS ? among.elements() : List.of();
    }
    return ++answered < PARTS ? page : List.of(Value.of("last"));
  }

  @Test
  void isSubsetOf_readsManyPages() throws Exception {
    List<Value> page = IntStream.range(0, Range.PAGE_ROWS).mapToObj(Value::of).toList();
    eu.handler =
        (request, reply) -> reply.accept(answer(elements(((Request.Read) request).query(), page)));
    assertThat(within(() -> shop.set("few").isSubsetOf(shop.set("many")))).isFalse();
    assertThat(answered).isEqualTo(PARTS);
  }

  @Test
  void count_readsManyParts() throws Exception {
    eu.handler =
        (request, reply) ->
            reply.accept(new Reply.Counted(3, next(), Collections.nCopies(2, VersionVector.EMPTY)));
    assertThat(within(() -> shop.count(Scan.all()))).isEqualTo(3L * PARTS);
    answered = 0;
    assertThat(within(() -> shop.count(Scan.all().limit(10)))).isEqualTo(10);
    assertThat(answered).isEqualTo(4);
  }

  @Test
  void countOnASnapshot_readsManyPages() throws Exception {
    SnapshotScan.Within within =
        new SnapshotScan.Within() {
          @Override
          public CompletableFuture<Reply.Page> known(ScanRange part, int rows) {
            Reply.Row row = new Reply.Row(NEXT, CrdtType.PN_COUNTER, new Reading.Flag(true));
            return CompletableFuture.completedFuture(
                new Reply.Page(List.of(row), next(), List.of()));
          }

          @Override
          public List<ObjectId> own(Optional<Key> from, Optional<Key> to, int limit) {
            return List.of();
          }

          @Override
          public CompletableFuture<List<Keyspace.Found>> read(List<Keyspace.Get> reads) {
            return CompletableFuture.completedFuture(
                List.of(new Keyspace.Found(Optional.empty(), Optional.empty(), true)));
          }
        };
    assertThat(within(() -> new SnapshotScan(within).count(ScanRange.ALL).join()))
        .isEqualTo((long) PARTS);
  }

  @Test
  void batch_isAnsweredInManyParts() throws Exception {
    eu.handler =
        (request, reply) -> {
          answered++;
          reply.accept(new Reply.All(List.of(answer(List.of()))));
        };
    List<Keyspace.Get> reads = new ArrayList<>();
    for (int i = 0; i < PARTS; i++) {
      reads.add(new Keyspace.Get("k" + i, CrdtType.AW_SET));
    }
    assertThat(within(() -> shop.readAll(reads))).hasSize(PARTS).doesNotContainNull();
    assertThat(answered).isEqualTo(PARTS);
  }

  private static final Reply DONE =
      new Reply.Transacted(VersionVector.EMPTY, Optional.empty(), List.of(answer(List.of())));

  private final Queue<Consumer<Reply>> held = new ArrayDeque<>();
  private final List<Integer> steps = new ArrayList<>();

  private void holdsTheSecondStep() {
    eu.handler =
        (request, reply) -> {
          int step = ((Request.Transact) request).step();
          steps.add(step);
          if (step == 2) {
            held.add(reply);
          } else {
            reply.accept(DONE);
          }
        };
  }

  /** Steps that wait for one that takes its time follow each other when it is answered. */
  @Test
  void stepsThatWait_areTakenOneAfterTheOther() throws Exception {
    int many = 9_000; // nearly as many as may be under way
    holdsTheSecondStep();
    Transaction tx = shop.beginAsync(TransactionOptions.DEFAULT).join();
    List<CompletableFuture<?>> reads = new ArrayList<>();
    for (int i = 0; i < many; i++) {
      reads.add(tx.readAsync(NEXT, Optional.of(CrdtType.AW_SET), new Query.Whole()));
    }
    CompletableFuture<?> committed = tx.commitAsync();
    assertThat(steps).as("the others wait").containsExactly(1, 2);
    within(
        () -> {
          held.remove().accept(DONE);
          return 0;
        });
    assertThat(committed).isCompleted();
    assertThat(reads).allMatch(read -> read.isDone() && !read.isCompletedExceptionally());
    assertThat(steps).isEqualTo(IntStream.rangeClosed(1, many + 2).boxed().toList());
  }

  /** Its datacenter may have done the step's updates, so the next one must not have its number. */
  @Test
  void stepsThatWait_areNotSent_whenTheTransactionHasEnded() {
    holdsTheSecondStep();
    Transaction tx = shop.beginAsync(TransactionOptions.DEFAULT).join();
    Optional<CrdtType> type = Optional.of(CrdtType.AW_SET);
    CompletableFuture<?> refused = tx.readAsync(NEXT, type, new Query.Whole());
    CompletableFuture<?> read = tx.readAsync(NEXT, type, new Query.Whole());
    CompletableFuture<?> committed = tx.commitAsync();
    held.remove().accept(new Reply.Failure(ErrorCode.TRANSACTION_ENDED, "it has ended"));
    for (CompletableFuture<?> each : List.of(refused, read, committed)) {
      assertThat(each)
          .failsWithin(Duration.ZERO)
          .withThrowableThat()
          .havingCause()
          .is(Refused.with(ErrorCode.TRANSACTION_ENDED));
    }
    assertThat(steps).containsExactly(1, 2);
  }

  /** One that waits for a further step of its transaction, behind others that wait. */
  @Test
  void callbackThatWaitsForItsOwnTransaction_isServed_orFailsAtOnce() throws Exception {
    holdsTheSecondStep();
    Transaction tx = shop.beginAsync(TransactionOptions.DEFAULT).join();
    Optional<CrdtType> type = Optional.of(CrdtType.AW_SET);
    CompletableFuture<?> first =
        tx.readAsync(NEXT, type, new Query.Whole())
            .thenApply(found -> tx.read(NEXT, type, new Query.Whole()));
    CompletableFuture<Keyspace.Found> second = tx.readAsync(NEXT, type, new Query.Whole());
    CompletableFuture<?> waits = second.thenApply(found -> tx.read(NEXT, type, new Query.Whole()));
    CompletableFuture<Keyspace.Found> third = tx.readAsync(NEXT, type, new Query.Whole());
    CompletableFuture<?> forTheNext = second.thenApply(found -> third.join());
    within(
        () -> {
          held.remove().accept(DONE);
          return 0;
        });
    assertThat(first).isCompleted();
    assertThat(waits).isCompleted();
    assertThat(third).isCompleted();
    // By the same thread, which has not told of it yet.
    assertThat(forTheNext)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .havingRootCause()
        .is(Refused.with(ErrorCode.INVALID_ARGUMENT));
  }

  /** Whoever brings answers has others' to bring, so nobody would ever bring this one. */
  @Test
  void callbackThatWouldWait_failsAtOnce_andNothingIsUnderWay() throws Exception {
    List<Consumer<Reply>> open = new ArrayList<>();
    eu.handler = (request, reply) -> open.add(reply);
    CompletableFuture<Long> read = shop.counter("c").getAsync();
    // The one that was added first is run last.
    CompletableFuture<?> closes = read.thenApply(x -> client.close(Duration.ofDays(1)));
    CompletableFuture<?> sync = read.thenApply(x -> shop.counter("d").get());
    CompletableFuture<?> async = read.thenApply(x -> shop.counter("d").getAsync().join());
    CompletableFuture<?> waits =
        read.thenAccept(x -> client.awaitConnected(Duration.ofDays(1))); // is connected
    within(
        () -> {
          open.getFirst()
              .accept(
                  new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(1), VersionVector.EMPTY));
          return 0;
        });
    for (CompletableFuture<?> each : List.of(sync, async)) {
      assertThat(each)
          .failsWithin(Duration.ZERO)
          .withThrowableThat()
          .havingRootCause()
          .is(Refused.with(ErrorCode.INVALID_ARGUMENT));
    }
    assertThat(waits).isCompleted();
    assertThat(closes).isCompleted();
  }

  /** What a caller does when a step is done finds no step under way. */
  @Test
  void stepOfACallback_isTakenAtOnce() throws Exception {
    eu.handler = (request, reply) -> reply.accept(DONE);
    Transaction tx = shop.beginAsync(TransactionOptions.DEFAULT).join();
    Optional<CrdtType> type = Optional.of(CrdtType.AW_SET);
    assertThat(
            within(
                () ->
                    tx.readAsync(NEXT, type, new Query.Whole())
                        .thenApply(found -> tx.read(NEXT, type, new Query.Whole()).exists())
                        .get(Patience.SECONDS, TimeUnit.SECONDS)))
        .isTrue();
  }
}
