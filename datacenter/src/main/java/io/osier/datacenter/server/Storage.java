package io.osier.datacenter.server;

import io.osier.core.ReplicaId;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.shard.LongAnswers;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.shard.agent.PendingAnswer;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A datacenter's storage: a store on the disk, or memory alone, with the threads that read many
 * objects at a time. Thread-safe.
 */
final class Storage implements AutoCloseable {
  /** Number of threads that scan objects in memory; they start with the first scan. */
  private static final int SCANNERS = 2;

  private final boolean embedded;
  private final ReplicaId self;
  private final @Nullable StoreService store; // null if everything is in memory only
  private final LongAnswers longAnswers = new LongAnswers();

  /** Runs scans of many objects in memory, for which connections' threads have no time. */
  private final ExecutorService scanners =
      Executors.newFixedThreadPool(
          SCANNERS, r -> Thread.ofPlatform().name("osier-scanner").daemon(true).unstarted(r));

  private final LongAdder thrownAway = new LongAdder();

  /**
   * Opens the store, if the configuration names one.
   *
   * @param embedded whether callers' threads run the partitions if nothing is stored
   * @param incarnationMin the lowest number for a new incarnation
   * @param onFailure is told that the store cannot go on
   */
  Storage(
      DatacenterConfig config,
      boolean embedded,
      long incarnationMin,
      StoreService.Opener opener,
      Consumer<Throwable> onFailure) {
    this.embedded = embedded;
    this.store =
        config.store().dir().isPresent()
            ? StoreService.open(config, incarnationMin, opener, onFailure)
            : null;
    this.self =
        store == null ? new ReplicaId(config.dc(), incarnationMin) : store.database().self();
  }

  /** Returns the datacenter's name and present incarnation. */
  ReplicaId self() {
    return self;
  }

  /** Returns the store; empty if everything is in memory only. */
  Optional<StoreService> store() {
    return Optional.ofNullable(store);
  }

  /** See {@link Datacenter#isReadOnly}. */
  boolean isReadOnly() {
    return store != null && store.isReadOnly();
  }

  /** Returns the random numbers of this start and of earlier ones, newest first. */
  List<Long> starts() {
    return store == null
        ? List.of(new SecureRandom().nextLong(1, Long.MAX_VALUE))
        : store.database().starts();
  }

  Set<String> keyspaces() {
    return store == null ? Set.of() : store.database().keyspaces();
  }

  /** Returns the executor that reads objects from the disk and scans those in memory. */
  Executor readers() {
    if (store != null) {
      return store.readers();
    }
    return embedded ? Runnable::run : scanners;
  }

  /** Returns the consumer that runs the making of long answers. */
  Consumer<PendingAnswer> answers() {
    return store == null && embedded ? PendingAnswer::run : longAnswers::take;
  }

  GroupCommitHelp writeHelp() {
    return store == null ? GroupCommitHelp.NONE : store.writer().help();
  }

  /**
   * Returns whether a frame with updates must be dropped because the disk is full, and counts it.
   * Called once for each such frame.
   */
  boolean throwsAway() {
    boolean full = store != null && store.disk().isFull();
    if (full) {
      thrownAway.increment();
    }
    return full;
  }

  /** Returns how many bytes can be stored before updates are refused; empty if all is in memory. */
  OptionalLong roomBytes() {
    return store == null ? OptionalLong.empty() : OptionalLong.of(store.disk().roomBytes());
  }

  /** Returns how many frames were dropped. */
  long thrownAway() {
    return thrownAway.sum();
  }

  @Override
  public void close() {
    longAnswers.close(); // before the store that they read
    scanners.shutdown();
    if (store != null) {
      store.close();
    }
  }
}
