package io.osier.datacenter.forward;

import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import java.util.List;
import java.util.Optional;

/**
 * What forwarding needs of its datacenter: the holders of keyspaces, and the links to them.
 * Thread-safe.
 */
public interface ForwardingHost {
  /**
   * The holders of a keyspace.
   *
   * @param dcs in the order of their names
   * @param creation tells it from another keyspace of its name
   */
  record Held(List<String> dcs, Partitioning partitioning, String creation) {
    public Held {
      dcs = List.copyOf(dcs);
    }
  }

  /** Returns the holders of a keyspace; empty if there is none of that name. */
  Optional<Held> holders(String keyspace);

  /** Returns what was shown of a partition while its keyspace was held here. */
  default VersionVector shownBefore(String keyspace, int partition) {
    return VersionVector.EMPTY;
  }

  /** Returns whether requests can be sent to a datacenter. */
  boolean mayAsk(String dc);

  /**
   * Returns whether a datacenter executes forwarded scripts and answers which datacenters have an
   * update.
   */
  default boolean takesScripts(String dc) {
    return false;
  }

  /** Sends bytes to a datacenter; false if that cannot be done, and nothing was sent. */
  boolean ask(String dc, byte[] content);

  void later(Runnable task, long millis);
}
