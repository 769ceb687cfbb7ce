package io.osier.bench.sim.copies;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.node.WatchedStore;
import io.osier.bench.sim.plan.Unit;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.datacenter.copies.Followers;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.store.StoredKey;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Gives the followers of a datacenter's objects access to its partitions.
 *
 * @param clock runs tasks later
 */
record SimFollowed(Simulation simulation, SimDc dc, ForwardingHost clock)
    implements Followers.Around {
  /** Reading beside a partition takes so long. */
  private static final int BESIDE_MILLIS = 1;

  @Override
  public Optional<Followers.Held> heldHere(String keyspace) {
    List<SimNode> nodes =
        dc.nodes().stream()
            .filter(n -> n.unit().policy().name().equals(keyspace) && !n.unit().isCausal())
            .filter(n -> dc.serves(n.unit()))
            .toList();
    return nodes.isEmpty() ? Optional.empty() : Optional.of(new Here(nodes));
  }

  @Override
  public void later(Runnable task, long millis) {
    clock.later(task, millis);
  }

  @Override
  public void beside(Runnable task) {
    clock.later(task, BESIDE_MILLIS);
  }

  /**
   * A keyspace.
   *
   * @param nodes its partitions, in their order
   */
  private record Here(List<SimNode> nodes) implements Followers.Held {
    private Unit unit() {
      return nodes.getFirst().unit();
    }

    @Override
    public long holdMillis() {
      return unit().policy().sla().toMillis() / 2;
    }

    @Override
    public Partitioning partitioning() {
      return unit().policy().partitioning();
    }

    @Override
    public boolean listen(ChangeListener listener) {
      boolean already = true;
      for (SimNode node : nodes) {
        already &= node.feed().listen(listener);
      }
      return already;
    }

    @Override
    public void through(int partition, Consumer<@Nullable VersionVector> told) {
      nodes
          .get(partition)
          .command(
              new OrderedQueue(),
              new ProgressRequest.Through(unit().policy().name(), partition),
              (at, made) ->
                  () -> told.accept(made instanceof Reply.Through t ? t.through() : null));
    }

    @Override
    public StoredKey read(Key key) {
      WatchedStore store = nodes.get(partitioning().of(key)).store();
      StoredKey found = store.readDurably(key);
      var unused = store.shown(key, found.states());
      return found;
    }
  }
}
