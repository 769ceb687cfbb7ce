package io.osier.datacenter.store;

import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import java.util.List;
import java.util.function.Consumer;

/**
 * A writer that has written what it is given when it returns, but for what evictions write, which
 * is written when they run it.
 *
 * @param to takes the changes of a group
 */
public record WritesAtOnce(Consumer<List<Change>> to) implements GroupWriter {
  public static WritesAtOnce into(RocksDatabase database, RocksVersions versions) {
    return new WritesAtOnce(changes -> database.write(List.of(versions.encode(changes))));
  }

  @Override
  public void write(Group group) {
    to.accept(group.changes());
    group.written().run();
  }

  @Override
  public Runnable someTime(List<Change> changes) {
    return () -> to.accept(changes);
  }
}
