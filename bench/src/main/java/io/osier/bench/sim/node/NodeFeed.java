package io.osier.bench.sim.node;

import io.osier.bench.sim.Simulation;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.feed.FeedSource;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.store.ObjectStore;
import io.osier.protocol.Reply;
import io.osier.protocol.WatchRequest;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells watchers of one partition's changes by production's feed, in the simulation's thread. */
public final class NodeFeed {
  /** The budget for changes, so small that slow watchers are cut off. */
  private static final long CHANGES_BYTES = 6_000;

  private final Partition partition;
  private final ObjectStore store;
  private final Consumer<Input> submit;
  private final KeyspaceFeed feed;

  /**
   * A feed that has begun.
   *
   * @param submit takes an input for the partition
   */
  NodeFeed(
      Simulation simulation,
      ReplicaId self,
      Partition partition,
      ObjectStore store,
      Consumer<Input> submit) {
    this.partition = partition;
    this.store = store;
    this.submit = submit;
    this.feed =
        new KeyspaceFeed(
            self,
            Partitioning.byKey(1),
            CHANGES_BYTES,
            Runnable::run,
            simulation.scheduler()::nanos,
            simulation::nextTicket,
            () -> {});
    feed.begin(List.of(new Watched()));
  }

  /** Something has become visible. */
  void visible(Effects.Visible visible) {
    feed.ring(0).visible(visible);
  }

  /** The partition as its feed sees it. */
  private final class Watched implements FeedSource {
    @Override
    public ObjectStore store() {
      return store;
    }

    @Override
    public Optional<VersionVector> forgotten() {
      return partition.forgotten();
    }

    @Override
    public boolean isReady() {
      return partition.isReady();
    }

    @Override
    public void watched(long life) {
      submit.accept(new Input.Watched(life));
    }
  }

  /** See {@link KeyspaceFeed#listen}. */
  public boolean listen(ChangeListener hears) {
    boolean already = feed.listen(hears);
    if (!already) { // the partition begins to tell, or does when it has time
      var unused = feed.turn();
    }
    return already;
  }

  /** The version vector through which watchers have been told everything. */
  public VersionVector told() {
    return feed.ring(0).here();
  }

  /** Answers a watcher that does not wait; null if that cannot be done at once. */
  public @Nullable Reply watch(WatchRequest request) {
    AtomicReference<@Nullable Reply> reply = new AtomicReference<>();
    try {
      feed.watch(request, reply::set);
    } catch (OsierException e) {
      return new Reply.Failure(e.code(), String.valueOf(e.reason()));
    }
    var unused = feed.turn();
    if (reply.get() == null) { // the partition has begun to tell, or does when it has time
      feed.release();
      unused = feed.turn();
    }
    return reply.get();
  }
}
