package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.testing.Opened;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads at a datacenter that does not hold their keyspace, and copies what is read often. */
final class CopiedReadsTest {
  @TempDir private Path dir;
  @AutoClose private final Opened open = new Opened();

  /** No answer shows less than one before it, and own updates are there. */
  @Test
  void hotKey_isReadFromACopy_thatShowsWhatWasWrittenHereAndThere() throws IOException {
    ThreeRedis all =
        open.add(
            new ThreeRedis(
                dir,
                """
                keyspaces.shop { sla = 300ms, replicas = [eu, us], partitions = 2 }
                redis.databases { 0 = shop }
                """));
    all.awaitForwarding("ap");
    RawRedis ap = open.add(all.connect("ap"));
    RawRedis us = open.add(all.connect("us"));
    assertThat(us.ask("INCR n")).isEqualTo(":1");
    all.awaitCopy(ap);
    int seen = 1;
    for (int i = 0; i < 50; i++) {
      us.ask("INCR n");
      for (int k = 0; k < 5; k++) {
        int read = Integer.parseInt(ap.ask("GET n"));
        assertThat(read).isGreaterThanOrEqualTo(seen);
        seen = read;
      }
      int own = Integer.parseInt(ap.ask("INCR n").substring(1));
      assertThat(own).isGreaterThan(seen);
      seen = own;
    }
    await().atMost(Patience.LIMIT).until(() -> ap.ask("GET n").equals("101"));
    all.awaitCopy(ap);
    RawRedis keeps = open.add(all.connect("ap"));
    keeps.ask("HELLO 3");
    assertThat(keeps.ask("CLIENT TRACKING ON")).isEqualTo("+OK");
    long hits = all.copies().hits();
    for (int i = 0; i < 5; i++) {
      keeps.ask("GET n");
    }
    assertThat(all.copies().hits())
        .as("a copy may be older than what it was told of")
        .isEqualTo(hits);

    all.kill("eu");
    all.kill("us");
    await().atMost(Patience.LIMIT).until(() -> all.copies().objects() == 0);
    assertThat(open.add(all.connect("ap")).ask("GET n")).startsWith("-");
  }
}
