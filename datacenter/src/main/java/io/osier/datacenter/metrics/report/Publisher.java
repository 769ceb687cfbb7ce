package io.osier.datacenter.metrics.report;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.propagation.net.PeerTransport;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the reports of all partitions into snapshots: once a second if {@link #everySecond} was
 * called, and on demand. Reading the last snapshot ({@link #latest}) never waits: for a partition
 * that does not answer, a snapshot has its former report with its age. Thread-safe.
 */
public final class Publisher implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

  /** Number of hot objects in each partition's report. */
  static final int HOT = 50;

  private final Limits limits;
  private final Source source;

  /** The last report of each partition; keyspaces come and go. */
  private final Map<PartitionRunner, Published> published = new ConcurrentHashMap<>();

  private final List<Consumer<Snapshot>> listeners = new CopyOnWriteArrayList<>();
  private final ScheduledExecutorService executor;
  private volatile Snapshot latest;

  /**
   * The sources of a datacenter's metrics besides its partitions.
   *
   * @param startMillis when it started, by the wall clock
   * @param wallMillis reads the wall clock
   * @param store empty if everything is in memory only
   */
  public record Source(
      ReplicaId self,
      String version,
      long startMillis,
      LongSupplier wallMillis,
      Map<String, KeyspaceShard> keyspaces,
      PeerTransport transport,
      Optional<StoreService> store,
      Readiness readiness,
      Supplier<Optional<Snapshot.Joining>> joining,
      Supplier<Map<String, Long>> certificates,
      Supplier<Snapshot.Clients> clients,
      LongSupplier droppedUpdates,
      Supplier<Map<String, Long>> auditLost,
      Supplier<Map<String, Long>> failedAttempts,
      Supplier<Optional<Snapshot.Traces>> traces) {}

  /**
   * Time limits, in milliseconds.
   *
   * @param pause the pause between two collections of {@link #everySecond}
   * @param partition how long such a collection waits for a partition
   * @param asked how long a {@link #fresh} snapshot waits for busy partitions
   * @param stop how long {@link #close} waits for a snapshot that is being made
   */
  public record Limits(long pause, long partition, long asked, long stop) {
    public static final Limits DEFAULT = new Limits(1_000, 500, 10_000, 5_000);
  }

  /** A partition's last report. */
  private static final class Published {
    private volatile @Nullable Dated last;

    /** The answer to the last request. */
    private volatile CompletableFuture<Void> answer = CompletableFuture.completedFuture(null);
  }

  private record Dated(PartitionReport report, long millis) {}

  /** Makes a publisher, which only publishes on demand so far. */
  public Publisher(Source source, Limits limits) {
    this.source = source;
    this.limits = limits;
    ScheduledThreadPoolExecutor one =
        new ScheduledThreadPoolExecutor(
            1, r -> Thread.ofPlatform().name("osier-figures").daemon(true).unstarted(r));
    this.executor = one;
    this.latest = assemble();
  }

  public void everySecond() {
    executor.scheduleWithFixedDelay(this::round, 0, limits.pause(), TimeUnit.MILLISECONDS);
  }

  /** Returns the last snapshot; with {@link #everySecond} it is about a second old at most. */
  public Snapshot latest() {
    return latest;
  }

  /**
   * Adds a listener for every snapshot, called by the publishing thread, which it must not block.
   *
   * @return removes the listener
   */
  public Runnable listen(Consumer<Snapshot> listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  /**
   * Starts one collection, without waiting for the partitions: this thread also makes the snapshot.
   */
  private void round() {
    try {
      // A partition that has not answered yet is not asked again, so that no requests pile up.
      ask(HOT, limits.partition(), place -> place.answer.isDone())
          .whenComplete((made, failure) -> sayFailure(failure));
    } catch (RuntimeException e) {
      sayFailure(e);
    }
  }

  private void sayFailure(@Nullable Throwable failure) {
    if (failure != null && !executor.isShutdown()) {
      LOG.warn("the datacenter's metrics could not be published", failure);
    }
  }

  /**
   * Collects new reports from all partitions, and returns the snapshot. A partition that has
   * failed, or is too busy, has its former report.
   *
   * @param hot the number of hot objects in each partition's report, at least
   */
  public CompletableFuture<Snapshot> fresh(int hot) {
    return ask(Math.max(hot, HOT), limits.asked(), place -> true);
  }

  /**
   * As {@link #fresh}, for frequent callers: a partition that has not answered the last request is
   * not asked again and has its former report, so that no requests pile up in front of a busy one.
   *
   * @param millisMax how long to wait for busy partitions
   */
  public CompletableFuture<Snapshot> recent(long millisMax) {
    return ask(HOT, millisMax, place -> place.answer.isDone());
  }

  private CompletableFuture<Snapshot> ask(int hot, long millisMax, Predicate<Published> whom) {
    List<CompletableFuture<?>> asked = new ArrayList<>();
    Set<PartitionRunner> there = new HashSet<>();
    source.keyspaces.values().forEach(k -> there.addAll(k.partitions()));
    published.keySet().retainAll(there);
    there.forEach(
        partition -> {
          Published place = published.computeIfAbsent(partition, p -> new Published());
          if (whom.test(place)) {
            place.answer =
                partition
                    .inspect(hot)
                    .thenAccept(r -> place.last = new Dated(r, source.wallMillis.getAsLong()));
            asked.add(place.answer);
          }
        });
    return CompletableFuture.allOf(asked.toArray(new CompletableFuture<?>[0]))
        .completeOnTimeout(null, millisMax, TimeUnit.MILLISECONDS)
        .exceptionally(gone -> null)
        .thenApplyAsync(done -> publish(), executor)
        .exceptionallyCompose(this::failed);
  }

  private CompletableFuture<Snapshot> failed(Throwable failure) {
    return CompletableFuture.failedFuture(
        executor.isShutdown()
            ? new OsierException(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down")
            : failure);
  }

  private Snapshot publish() {
    Snapshot made = assemble();
    latest = made;
    for (Consumer<Snapshot> listener : listeners) {
      try {
        listener.accept(made);
      } catch (RuntimeException e) {
        LOG.warn("a reader of the datacenter's metrics failed", e);
      }
    }
    return made;
  }

  private Snapshot assemble() {
    Map<String, Snapshot.Link> links = new TreeMap<>();
    Map<String, Integer> spoken = source.transport.spoken();
    source
        .transport
        .traffic()
        .forEach(
            (dc, t) ->
                links.put(
                    dc,
                    new Snapshot.Link(
                        source.transport.isConnected(dc),
                        t.sentBytes(),
                        t.receivedBytes(),
                        t.savedBytes(),
                        spoken.getOrDefault(dc, 0))));
    return new Snapshot(
        source.self,
        source.version,
        source.startMillis,
        source.wallMillis.getAsLong(),
        source.readiness.obstacles(),
        source.readiness.warnings(),
        source.joining.get(),
        source.certificates.get(),
        source.clients.get(),
        source.droppedUpdates.getAsLong(),
        source.auditLost.get(),
        source.failedAttempts.get(),
        links,
        source.store.map(StoreService::figures),
        source.traces.get(),
        source.keyspaces.values().stream().map(this::keyspace).toList());
  }

  private Snapshot.Keyspace keyspace(KeyspaceShard keyspace) {
    List<Snapshot.Partition> partitions = new ArrayList<>();
    int ready = 0;
    for (PartitionRunner p : keyspace.partitions()) {
      ready += p.isReady() ? 1 : 0;
      Published place = published.get(p); // null if it was just opened
      Dated last = place == null ? null : place.last;
      if (last != null) {
        partitions.add(
            new Snapshot.Partition(
                last.report,
                last.millis,
                p.store().figures(),
                p.queued(),
                p.overloads(),
                p.memory()));
      }
    }
    return new Snapshot.Keyspace(
        keyspace.policy(),
        keyspace.gate().refusals(),
        ready,
        List.copyOf(partitions),
        keyspace.feed().figures());
  }

  /**
   * Stops publishing, and waits until a snapshot that is being made is done, so that its sources
   * may be closed afterwards. Later requests fail with SHUTTING_DOWN.
   */
  @Override
  public void close() {
    executor.shutdown();
    try {
      if (!executor.awaitTermination(limits.stop(), TimeUnit.MILLISECONDS)) {
        LOG.warn("the metrics thread has not ended {} ms after it was stopped", limits.stop());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
