package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.proxy.Changes;
import io.osier.proxy.Changes.Change;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Scan;
import io.osier.proxy.Watch;
import io.osier.proxy.values.Values;
import io.osier.testing.Patience;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.TestInstance;

/** Watchers by network and in the process. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WatchFixture {
  static final String KEYSPACES =
      "shop { sla = 200ms, partitions = 3 }, bank { sla = 200ms, consistency = causal }";

  /** So few changes are kept that a watcher is soon too slow. */
  static final String LITTLE = "dir = \"\" }, memory { changes = 64KiB";

  @AutoClose final Ways ways = new Ways(KEYSPACES, LITTLE, Values.plain());

  static final class Told {
    final Queue<Changes> groups = new ConcurrentLinkedQueue<>();
    final Watch.Watching watching;

    Told(Watch watch) {
      watching = watch.listen(groups::add);
      watching.begun().orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }

    List<Change> all() {
      return groups.stream().flatMap(g -> g.changes().stream()).toList();
    }

    long count(String key) {
      return all().stream().filter(c -> c.key().equals(Key.of(key))).count();
    }

    Set<Key> keys() {
      assertThat(watching.ended()).isNotCompletedExceptionally();
      return all().stream().map(Change::key).collect(Collectors.toSet());
    }

    void awaitKey(String key) {
      await().until(() -> count(key) > 0);
    }
  }

  static void failed(ErrorCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .satisfies(
            e -> {
              Throwable cause = e instanceof CompletionException ? e.getCause() : e;
              assertThat(cause).isInstanceOf(OsierException.class);
              assertThat(((OsierException) cause).code()).as("%s", cause).isEqualTo(code);
            });
  }

  static List<Key> keys(Keyspace keyspace) {
    try (Stream<Keyspace.Row> rows = keyspace.scan(Scan.prefix("move:").keysOnly())) {
      return rows.map(Keyspace.Row::key).toList();
    }
  }
}
