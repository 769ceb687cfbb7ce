package io.osier.datacenter.server;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.copies.Followers;
import io.osier.datacenter.copies.Holders;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.store.StoredKey;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Gives the copies of objects that others hold, and the followers of objects that are held here,
 * access to placement, keyspaces and links.
 *
 * @param placement returns the present holders of all keyspaces
 * @param keyspaces the keyspaces that are served here, by name
 * @param forwarder sends requests to holders
 * @param host runs tasks later, and knows which datacenters can be asked
 */
record ReadCopies(
    Supplier<Placement> placement,
    Map<String, KeyspaceShard> keyspaces,
    Forwarder forwarder,
    ForwardingHost host)
    implements Holders, Followers.Around {
  private static boolean mayBeCopied(KeyspacePolicy policy) {
    // Objects of a causal keyspace must be of one snapshot, which copies are not.
    return policy.consistency() == KeyspacePolicy.Consistency.SESSION;
  }

  // ---------------------------------------------------------------- of what others hold

  @Override
  public Object placed() {
    return placement.get();
  }

  @Override
  public Optional<ForwardingHost.Held> heldElsewhere(String keyspace) {
    return keyspaces.containsKey(keyspace)
        ? Optional.empty()
        : placement
            .get()
            .find(keyspace)
            .filter(placed -> mayBeCopied(placed.policy()))
            .map(
                placed ->
                    new ForwardingHost.Held(
                        placed.holders(), placed.policy().partitioning(), placed.creation()));
  }

  @Override
  public void ask(
      String dc,
      Consumer<WireOutput> content,
      long waitMillis,
      Consumer<@Nullable WireInput> answer) {
    forwarder.own().ask(dc, content, waitMillis, answer);
  }

  @Override
  public Duration staleReads(String keyspace) {
    return placement
        .get()
        .find(keyspace)
        .map(placed -> placed.policy().staleReads())
        .orElse(Duration.ZERO);
  }

  @Override
  public boolean mayAsk(String dc) {
    return host.mayAsk(dc);
  }

  @Override
  public double roundTripMillis(String dc) {
    return forwarder.shownHere().roundTripMillis(dc);
  }

  @Override
  public VersionVector shown(String keyspace, int partition) {
    return forwarder.shownHere().of(keyspace, partition);
  }

  @Override
  public void shows(String keyspace, int partition, VersionVector more) {
    forwarder.shownHere().shows(keyspace, partition, more);
  }

  @Override
  public void later(Runnable task, long millis) {
    host.later(task, millis);
  }

  @Override
  public void beside(Runnable task) {
    Thread.startVirtualThread(task);
  }

  // ---------------------------------------------------------------- of what is held here

  @Override
  public Optional<Followers.Held> heldHere(String keyspace) {
    return Optional.ofNullable(keyspaces.get(keyspace))
        .filter(shard -> mayBeCopied(shard.policy()) && isReadable(shard))
        .map(Here::new);
  }

  private static boolean isReadable(KeyspaceShard shard) {
    try {
      shard.gate().checkRead();
      return true;
    } catch (OsierException e) {
      return false;
    }
  }

  private record Here(KeyspaceShard shard) implements Followers.Held {
    @Override
    public long holdMillis() {
      return shard.policy().sla().toMillis() / 2;
    }

    @Override
    public Partitioning partitioning() {
      return shard.policy().partitioning();
    }

    @Override
    public boolean listen(ChangeListener listener) {
      return shard.feed().listen(listener);
    }

    @Override
    public void through(int partition, Consumer<@Nullable VersionVector> told) {
      Request asked = new ProgressRequest.Through(shard.policy().name(), partition);
      if (!isReadable(shard)) {
        told.accept(null);
        return;
      }
      try {
        shard.ask(
            partition,
            asked,
            reply -> told.accept(reply instanceof Reply.Through t ? t.through() : null));
      } catch (OsierException e) {
        told.accept(null);
      }
    }

    @Override
    public StoredKey read(Key key) {
      return shard.of(key).store().readDurably(key);
    }
  }
}
