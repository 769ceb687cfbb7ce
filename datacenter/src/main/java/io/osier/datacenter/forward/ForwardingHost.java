package io.osier.datacenter.forward;

import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import java.util.List;
import java.util.Optional;

/** What forwarding has of the world: who holds a keyspace, and how they are asked. Thread-safe. */
public interface ForwardingHost {
  /**
   * Who holds a keyspace.
   *
   * @param dcs in the order of their names
   * @param creation tells it from another keyspace of its name
   */
  record Held(List<String> dcs, Partitioning partitioning, String creation) {
    public Held {
      dcs = List.copyOf(dcs);
    }
  }

  /** Who holds a keyspace; empty if there is none of that name. */
  Optional<Held> holders(String keyspace);

  /** What was shown here of a partition while its keyspace was held here. */
  default VersionVector shownBefore(String keyspace, int partition) {
    return VersionVector.EMPTY;
  }

  /** Whether requests can be sent to a datacenter. */
  boolean mayAsk(String dc);

  /** Whether such a datacenter takes the steps of scripts, and is asked who has what. */
  default boolean takesScripts(String dc) {
    return false;
  }

  /** Sends to one; false if that cannot be done, and nothing was sent. */
  boolean ask(String dc, byte[] content);

  void later(Runnable task, long millis);
}
