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

/**
 * Does a session's updates without a request where a datacenter in this process allows it.
 * Thread-safe.
 */
public final class UpdatesAtOnce {
  private final ClientCore client;
  private final SessionContext past;
  private final ReadCache cache;

  /** Whether updates were done at once, which {@link #past} does not contain. */
  private volatile boolean combined;

  public UpdatesAtOnce(SessionCore session) {
    this.client = session.client();
    this.past = session.past();
    this.cache = session.cache();
  }

  /**
   * Does an update at once if the datacenter is in this process and accepts it without a request.
   * The session's context need not record it: the session uses no other datacenter, and every read
   * at this one shows all updates that it has acknowledged.
   *
   * @return whether the update is done; if not, it must be sent as a request
   */
  boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    Connection connection = client.datacenters().nearest();
    // A request is needed to wait for what another session has seen.
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
   * Asks the datacenter in this process for its version vectors, and adds them to the session's
   * context, so that they cover the updates that were done at once.
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
