package io.osier.datacenter.metrics.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.osier.core.ErrorCode;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.testing.Patience;
import io.osier.testing.Refused;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * What is published is complete, fresh where it can be, and waits for no partition that is busy.
 */
final class PublisherTest extends PublisherFixture {
  @Test
  void nobodyIsAsked_untilSomebodyWantsToKnow() throws Exception {
    write(0);
    write(1);
    assertThat(publisher.latest().keyspaces().getFirst().partitions()).isEmpty();
    assertThat(machines).allMatch(m -> m.asked.isEmpty());
    Snapshot fresh = publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(committed(fresh)).isEqualTo(2);
    assertThat(fresh.published()).hasSize(1);
    assertThat(publisher.latest()).isSameAs(fresh);
    publisher.fresh(200).get(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(machines).allMatch(m -> m.asked.equals(List.of(Publisher.HOT, 200)));
  }

  @Test
  void everySecond_isHeard_untilItsReaderWantsNoMore() throws Exception {
    BlockingQueue<Snapshot> heard = new LinkedBlockingQueue<>();
    BlockingQueue<Snapshot> heardByOther = new LinkedBlockingQueue<>();
    Runnable noMore = publisher.listen(heard::add);
    publisher.listen(heardByOther::add);
    publisher.everySecond();
    next(heard);
    write(0);
    await().until(() -> committed(publisher.latest()) == 1);
    noMore.run();
    heard.clear();
    heardByOther.clear();
    next(heardByOther);
    next(heardByOther);
    assertThat(heard).hasSizeLessThan(2); // one may have been on its way
  }

  /** What the figures are read from, the store for one, is closed after the publisher. */
  @Test
  void close_waitsForWhatIsBeingPutTogether_andWhoAsksAfterwardsIsTold() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    whenClientsAreAsked =
        () -> {
          asked.countDown();
          assertThat(goOn.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
          return true;
        };
    CompletableFuture<Snapshot> before = publisher.fresh(0);
    assertThat(asked.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
    Thread closing = Thread.ofPlatform().start(publisher::close);
    await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
    assertThat(before).isNotDone();
    goOn.countDown();
    closing.join();
    assertThat(before).isCompleted();
    assertThatThrownBy(() -> publisher.fresh(0).join())
        .cause()
        .is(Refused.with(ErrorCode.SHUTTING_DOWN));
  }

  @Test
  void readerThatFails_harmsNobody() throws Exception {
    BlockingQueue<Snapshot> heard = new LinkedBlockingQueue<>();
    publisher.listen(
        snapshot -> {
          throw new IllegalStateException("a reader");
        });
    publisher.listen(heard::add);
    publisher.everySecond();
    next(heard);
    next(heard);
    assertThat(publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS).published()).hasSize(1);
  }

  @Test
  void figuresThatCannotBeMade_areSaid_andMadeAgainLater() throws Exception {
    Logger log = (Logger) LoggerFactory.getLogger(Publisher.class);
    ListAppender<ILoggingEvent> said = new ListAppender<>();
    said.list = new CopyOnWriteArrayList<>();
    said.start();
    log.addAppender(said);
    try {
      clientsFail = true;
      publisher.everySecond();
      await()
          .until(
              () ->
                  said.list.stream()
                      .anyMatch(e -> e.getFormattedMessage().contains("could not be published")));
      assertThatThrownBy(() -> publisher.fresh(0).get(Patience.SECONDS, TimeUnit.SECONDS))
          .hasMessageContaining("no figures of clients");
      clientsFail = false;
      await().until(() -> publisher.latest().published().size() == 1);
    } finally {
      log.detachAppender(said);
    }
  }

  @Test
  void whoAsked_isAnswered_whenThePublisherCloses() {
    publisher.close();
    publisher = publisher(Patience.MILLIS, 50); // the reader is not done before
    CountDownLatch goOn = holdUp(0);
    CompletableFuture<Snapshot> fresh = publisher.fresh(0);
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch read = new CountDownLatch(1);
    publisher.listen(
        snapshot -> {
          reading.countDown();
          try {
            read.await();
          } catch (InterruptedException e) {
            // Closed meanwhile.
          }
        });
    // The thread that puts together is kept by a reader, so that what follows waits for it.
    machines.get(0).goOn = new CountDownLatch(0);
    goOn.countDown();
    await().until(() -> reading.getCount() == 0);
    CompletableFuture<Snapshot> behind = publisher.fresh(0);
    await().until(() -> machines.stream().allMatch(m -> m.asked.size() == 2));
    publisher.close();
    read.countDown();
    await().until(() -> fresh.isDone() && behind.isDone());
    CompletableFuture<Snapshot> after = publisher.fresh(0);
    await().until(after::isDone);
  }
}
