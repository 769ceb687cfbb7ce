package io.osier.datacenter.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.datacenter.shard.agent.PendingAnswer;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who makes the answers that take long, and what becomes of them at a stop. */
final class LongAnswersTest {
  private static final int MANY = 20;

  private final CountDownLatch open = new CountDownLatch(1);
  private final AtomicInteger begun = new AtomicInteger();
  private final Queue<Reply> replies = new ConcurrentLinkedQueue<>();

  private PendingAnswer slow() {
    return new PendingAnswer(this::made, replies::add);
  }

  private Reply made() {
    begun.incrementAndGet();
    try {
      open.await();
    } catch (InterruptedException e) {
      throw new AssertionError("nothing that is being read is interrupted", e);
    }
    return new Reply.Pong();
  }

  private static boolean isRefusal(Reply reply) {
    return reply instanceof Reply.Failure f && f.code() == ErrorCode.SHUTTING_DOWN;
  }

  @Test
  void whatHasNotBegun_isRefusedAtAStop_andNotRead_andTheRestIsWaitedFor() {
    LongAnswers answers = new LongAnswers();
    for (int i = 0; i < MANY; i++) {
      answers.take(slow());
    }
    await().until(() -> begun.get() > 0);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(answers::close);
    await().until(() -> replies.stream().anyMatch(LongAnswersTest::isRefusal));
    await().until(() -> replies.size() + begun.get() == MANY);
    assertThat(closing).as("waits for those that have begun").isNotDone();
    open.countDown();
    closing.join();
    assertThat(replies).hasSize(MANY);
    assertThat(replies).filteredOn(r -> r instanceof Reply.Pong).hasSize(begun.get());
    assertThat(begun.get()).isLessThan(MANY);
  }

  @Test
  void whatComesAfterTheStop_isRefused() {
    LongAnswers answers = new LongAnswers();
    answers.close();
    answers.take(slow());
    assertThat(replies).singleElement().matches(LongAnswersTest::isRefusal);
    assertThat(begun).hasValue(0);
  }

  /** Neither those behind it, nor those that are refused with it. */
  @Test
  void answerThatCannotLeave_stopsNoOther() {
    LongAnswers answers = new LongAnswers();
    List<CompletableFuture<Reply>> others = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      answers.take(new PendingAnswer(this::made, LongAnswersTest::fail));
      CompletableFuture<Reply> other = new CompletableFuture<>();
      others.add(other);
      answers.take(new PendingAnswer(this::made, other::complete));
    }
    await().until(() -> begun.get() > 0);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(answers::close);
    await().until(() -> others.getLast().isDone());
    open.countDown();
    closing.join();
    assertThat(others).allMatch(CompletableFuture::isDone);
  }

  private static void fail(Reply reply) {
    throw new IllegalStateException("a caller's fault at " + reply);
  }
}
