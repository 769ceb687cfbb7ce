package io.osier.datacenter.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.osier.datacenter.server.LoggedLines;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.rocks.RocksDatabase;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The store's threads, where its disk fails. */
final class StoreServiceTest {
  @TempDir private Path dir;

  /** With this durability what was acknowledged is not on the disk before it is closed properly. */
  @Test
  void storeThatIsBeingRead_isClosedProperly() throws InterruptedException {
    StoreService store = TestShards.store(dir);
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    CompletableFuture<Void> reader =
        CompletableFuture.runAsync(
            () -> {
              reading.countDown();
              await(closed);
              boolean unused = store.database().flush();
            },
            store.readers());
    reading.await();
    Thread.currentThread().interrupt(); // who is in a hurry waits for no reader
    store.close();
    assertThat(Thread.interrupted()).as("and is still in a hurry").isTrue();
    closed.countDown();
    assertThatThrownBy(reader::join).hasMessageContaining("is closed");
    try (RocksDatabase again = RocksDatabase.open(dir, Durability.NONE, "test", "eu", 1)) {
      assertThat(again.isResumed()).as("it was closed properly").isTrue();
    }
  }

  /**
   * It looks again in a second whether the disk is full, and whoever stops need not wait for it.
   */
  @Test
  void close_doesNotWaitForTheNextLookAtTheDisk() {
    Logger log = (Logger) LoggerFactory.getLogger(StoreService.class);
    Level level = log.getLevel();
    log.setLevel(Level.DEBUG); // whoever looks after the end says so
    try (LoggedLines lines = new LoggedLines(StoreService.class.getName())) {
      int many = 4; // one may be looking just when it is closed
      for (int i = 0; i < many; i++) {
        TestShards.store(dir).close();
      }
      assertThat(lines.all())
          .filteredOn(line -> line.equals("the store is closed"))
          .hasSizeLessThan(many);
    } finally {
      log.setLevel(level);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void tidyingThatFailsAgainAndAgain_isLoggedOnce() {
    Logger log = (Logger) LoggerFactory.getLogger(StoreService.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      StoreService store = TestShards.store(dir);
      store.database().close();
      for (int i = 0; i < 10; i++) {
        store.tidy(); // as every half a second
      }
      store.close();
      assertThat(lines.list)
          .filteredOn(line -> line.getFormattedMessage().contains("removing expired"))
          .hasSize(1);
    } finally {
      log.detachAppender(lines);
    }
  }
}
