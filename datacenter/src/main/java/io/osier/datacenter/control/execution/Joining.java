package io.osier.datacenter.control.execution;

import io.osier.core.codec.MalformedException;
import io.osier.datacenter.control.view.CatchUp;
import io.osier.datacenter.shard.Keyspaces;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks the progress of a joining datacenter, which asks the others for their counts of objects,
 * and answers other datacenters that join.
 */
public final class Joining {
  private static final Logger LOG = LoggerFactory.getLogger(Joining.class);

  private final Keyspaces keyspaces;
  private final PeerLinks links;
  private final JoinProgress progress = new JoinProgress();

  /** The progress at the last look; empty if this datacenter does not join. */
  private volatile Optional<CatchUp> catchUp = Optional.empty();

  private boolean joins;
  private Set<String> others = Set.of();

  Joining(Keyspaces keyspaces, PeerLinks links) {
    this.keyspaces = keyspaces;
    this.links = links;
  }

  void setPeers(boolean joining, Set<String> names) {
    joins = joining;
    others = names;
    if (!joins) {
      catchUp = Optional.empty();
    }
  }

  /** Returns whether no other datacenter is known. */
  boolean isAlone() {
    return others.isEmpty();
  }

  /**
   * Returns the progress; empty if this datacenter does not join. For the control plane's thread.
   */
  Optional<CatchUp> look(long now) {
    if (!joins) {
      return Optional.empty();
    }
    if (progress.asks(now)) {
      others.forEach(dc -> links.note(dc, ObjectCounts.question()));
    }
    long complete = keyspaces.partitions().filter(keyspaces::isComplete).count();
    catchUp =
        Optional.of(
            progress.look(
                holdings(),
                links.receivedBytes(),
                (int) complete,
                (int) keyspaces.partitions().count(),
                now));
    return catchUp;
  }

  /** Returns the counts of this datacenter's objects. */
  private ObjectCounts holdings() {
    SortedMap<String, Long> objects = new TreeMap<>();
    keyspaces
        .shown()
        .forEach(
            (name, shard) ->
                objects.put(
                    name, shard.partitions().stream().mapToLong(p -> p.store().size()).sum()));
    return new ObjectCounts(objects);
  }

  /** Returns the progress at the last look. For any thread. */
  public Optional<CatchUp> lastCatchUp() {
    return catchUp;
  }

  /**
   * Takes a note of another datacenter. For any thread.
   *
   * @return false if it is not for the control plane
   */
  public boolean noted(String from, byte[] content) {
    if (ObjectCounts.isQuestion(content)) {
      links.note(from, holdings().encode());
      return true;
    }
    if (ObjectCounts.isAnswer(content)) {
      try {
        progress.heard(from, ObjectCounts.decode(content));
      } catch (MalformedException e) {
        LOG.debug("{} sent a note that cannot be decoded", from, e);
      }
      return true;
    }
    return false;
  }
}
