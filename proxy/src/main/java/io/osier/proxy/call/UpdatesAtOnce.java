package io.osier.proxy.call;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Reply;
import io.osier.proxy.Connection;
import io.osier.proxy.cache.ReadCache;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.future.Calls;
import io.osier.proxy.session.SessionContext;
import io.osier.proxy.session.SessionCore;
import java.util.ArrayList;
import java.util.List;

/** A session's updates that a datacenter in this process takes without a request. Thread-safe. */
public final class UpdatesAtOnce {
  private final ClientCore client;
  private final SessionContext past;
  private final ReadCache cache;

  /** Whether some were taken, which {@link #past} lacks. */
  private volatile boolean combined;

  public UpdatesAtOnce(SessionCore session) {
    this.client = session.client();
    this.past = session.past();
    this.cache = session.cache();
  }

  /**
   * Does an update at once if the datacenter is in this process and takes it so. It needs no place
   * in what the session has seen: such a session has no other datacenter to go to, and every read
   * there shows what was acknowledged there.
   *
   * @return whether it is done; if not, a request must do it
   */
  boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    Connection connection = client.datacenters().nearest();
    // What another session saw must be there first, and only a request can wait for it.
    if (connection == null
        || client.isClosing()
        || past.isInherited()
        || !connection.update(keyspace, key, type, operation)) {
      return false;
    }
    if (!combined) {
      combined = true;
    }
    cache.invalidate(keyspace, key);
    return true;
  }

  /**
   * Asks the datacenter in this process what it has, so that what it has acknowledged at once is
   * among what the session has seen.
   */
  public void seeAcknowledged() {
    Connection connection = client.datacenters().nearest();
    if (!combined || connection == null) {
      return;
    }
    long timeoutMillis = client.settings().timeout().toMillis();
    for (Reply.KeyspaceInfo keyspace : connection.keyspaceList()) {
      List<VersionVector> seen = new ArrayList<>();
      for (int i = 0; i < keyspace.partitions(); i++) {
        seen.add(
            Calls.join(DatacenterQueries.through(connection, keyspace.name(), i, timeoutMillis)));
      }
      synchronized (past) {
        past.clocks(keyspace.name()).saw(seen);
      }
    }
  }
}
