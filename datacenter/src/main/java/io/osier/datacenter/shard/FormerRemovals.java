package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.agent.PartitionRunner;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells partitions which objects were removed before the start and could not be forgotten by then.
 * Used by one thread, which waits for the disk.
 */
public final class FormerRemovals {
  private static final Logger LOG = LoggerFactory.getLogger(FormerRemovals.class);
  private static final int PAGE = 1_000;

  private final Keyspaces keyspaces;
  private final BooleanSupplier closed;
  private final Consumer<Throwable> onFailure;

  /**
   * @param closed returns whether the datacenter was closed; errors after that are ignored
   * @param onFailure is told that the datacenter cannot go on
   */
  public FormerRemovals(
      Keyspaces keyspaces, BooleanSupplier closed, Consumer<Throwable> onFailure) {
    this.keyspaces = keyspaces;
    this.closed = closed;
    this.onFailure = onFailure;
  }

  /** Reads all such objects from the disk, in pages. */
  public void find() {
    try {
      keyspaces.partitions().forEach(this::find);
    } catch (RuntimeException e) {
      if (!closed.getAsBoolean()) {
        onFailure.accept(e);
      }
    }
  }

  /**
   * Objects that cannot be read stay: they are reported, and only take room until they are mended.
   */
  private void find(PartitionRunner partition) {
    try {
      walk(partition);
    } catch (OsierException e) {
      if (e.code() != ErrorCode.STORE_DAMAGED) {
        throw e;
      }
      LOG.warn(
          "removals stored before this start cannot be read (the store is damaged) and are kept",
          e);
    }
  }

  private void walk(PartitionRunner partition) {
    Optional<ObjectId> after = Optional.empty();
    List<ObjectId> page;
    do {
      page = partition.store().removed(after, PAGE);
      if (!page.isEmpty()) {
        partition.submit(new Input.Removed(page));
        after = Optional.of(page.getLast());
      }
    } while (page.size() == PAGE && !closed.getAsBoolean());
  }
}
