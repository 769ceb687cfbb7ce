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
 * What keeps a datacenter's objects, a store or memory alone, with the threads that read many of
 * them at a time. Thread-safe.
 */
final class Storage implements AutoCloseable {
  /** Scans of what is in memory at one time; their threads start with the first. */
  private static final int SCANNERS = 2;

  private final boolean embedded;
  private final ReplicaId self;
  private final @Nullable StoreService store; // null if everything is in memory only
  private final LongAnswers longAnswers = new LongAnswers();

  /** What walks many objects in memory, for which no connection's thread has the time. */
  private final ExecutorService scanners =
      Executors.newFixedThreadPool(
          SCANNERS, r -> Thread.ofPlatform().name("osier-scanner").daemon(true).unstarted(r));

  private final LongAdder thrownAway = new LongAdder();

  /**
   * Opens the store, if the configuration has one.
   *
   * @param embedded whether callers' threads run the partitions of what is not stored
   * @param incarnationMin a new incarnation is at least this
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

  /** Who the datacenter is in this life. */
  ReplicaId self() {
    return self;
  }

  /** The store; empty if everything is in memory only. */
  Optional<StoreService> store() {
    return Optional.ofNullable(store);
  }

  /** See {@link Datacenter#isReadOnly}. */
  boolean isReadOnly() {
    return store != null && store.isReadOnly();
  }

  /** The random numbers of this start and of those before it, newest first. */
  List<Long> starts() {
    return store == null
        ? List.of(new SecureRandom().nextLong(1, Long.MAX_VALUE))
        : store.database().starts();
  }

  Set<String> keyspaces() {
    return store == null ? Set.of() : store.database().keyspaces();
  }

  /** What reads objects that are not in memory, and walks many that are. */
  Executor readers() {
    if (store != null) {
      return store.readers();
    }
    return embedded ? Runnable::run : scanners;
  }

  /** What makes long answers. */
  Consumer<PendingAnswer> answers() {
    return store == null && embedded ? PendingAnswer::run : longAnswers::take;
  }

  GroupCommitHelp writeHelp() {
    return store == null ? GroupCommitHelp.NONE : store.writer().help();
  }

  /** Asked of each frame that brings something: it is thrown away while the disk is full. */
  boolean throwsAway() {
    boolean full = store != null && store.disk().isFull();
    if (full) {
      thrownAway.increment();
    }
    return full;
  }

  /** So much can be stored before updates are refused; empty if all is in memory. */
  OptionalLong roomBytes() {
    return store == null ? OptionalLong.empty() : OptionalLong.of(store.disk().roomBytes());
  }

  /** How many frames were thrown away. */
  long thrownAway() {
    return thrownAway.sum();
  }

  @Override
  public void close() {
    longAnswers.close(); // while what they read is there
    scanners.shutdown();
    if (store != null) {
      store.close();
    }
  }
}
