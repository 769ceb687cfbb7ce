package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.osier.core.Budget;
import io.osier.datacenter.store.RocksDatabase;
import io.osier.datacenter.store.StoreSettings;
import io.osier.datacenter.store.StoreSettings.Durability;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The store's threads, where its disk fails. */
final class StoreServiceTest {
  @TempDir private Path dir;

  @Test
  void tidyingThatFailsAgainAndAgain_isLoggedOnce() {
    Logger log = (Logger) LoggerFactory.getLogger(StoreService.class);
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    log.addAppender(lines);
    try {
      RocksDatabase database = RocksDatabase.open(dir, Durability.NONE, "test", "eu", 1);
      StoreSettings settings = new StoreSettings(Optional.of(dir), Durability.NONE, 1, 1, 1);
      Budget unwritten = new Budget("unwritten updates", 1 << 20);
      StoreService store = new StoreService(database, settings, dir, unwritten, failure -> {});
      database.close();
      for (int i = 0; i < 10; i++) {
        store.tidy(); // as every half a second
      }
      assertThatThrownBy(store::close).hasMessageContaining("is closed");
      assertThat(lines.list)
          .filteredOn(line -> line.getFormattedMessage().contains("tidying"))
          .hasSize(1);
    } finally {
      log.detachAppender(lines);
    }
  }
}
