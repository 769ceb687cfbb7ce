package io.osier.proxy.protocol;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import java.util.Optional;

/**
 * What a client asks of a datacenter. Each travels in an {@link Envelope} with the client's number
 * for it; answers may come in any order.
 */
public sealed interface Request {
  /** The version of the client protocol that this code speaks. */
  int PROTOCOL_VERSION = 1;

  /** Most characters of the name of a {@link Backup}. */
  int BACKUP_NAME_MAX = 100;

  /** Most rows that one {@link Scan} may ask for. */
  int SCAN_ROWS_MAX = 10_000;

  /**
   * The first message on a connection. Answered by {@link Reply.Welcome}, or a failure and the end
   * of the connection.
   *
   * @param client who connects, for the server's log; at most 128 bytes
   */
  record Hello(int protocolVersion, String client) implements Request {}

  /** Asks for a {@link Reply.Pong}: the client measures the way there and back. */
  record Ping() implements Request {}

  /**
   * Reads one object. Answered by {@link Reply.Answer}.
   *
   * @param type the type to read; empty for whatever the key holds
   * @param after what the session has seen of the key's partition and this datacenter may not have
   *     yet; empty once the datacenter has answered a request that carried it
   * @param ordered whether the session has updates of the partition under way that the read must
   *     see: it is then served in its turn, otherwise at once
   * @param waitMillis how long the datacenter may wait for {@code after} before it fails with
   *     SESSION_BEHIND
   */
  record Read(
      String keyspace,
      Key key,
      Optional<CrdtType> type,
      Query query,
      VersionVector after,
      boolean ordered,
      int waitMillis)
      implements Request {}

  /**
   * Updates one object. Answered by {@link Reply.Done} once it is as durable as the datacenter is
   * configured to make it.
   *
   * @param after see {@link Read}
   * @param waitMillis see {@link Read}
   */
  record Write(
      String keyspace,
      Key key,
      CrdtType type,
      Operation operation,
      VersionVector after,
      int waitMillis)
      implements Request {}

  /**
   * Reads objects in the order of their keys. Answered by {@link Reply.Page}.
   *
   * @param from the first key, inclusive; empty for the beginning
   * @param type only objects of this type; empty for all
   * @param limit at most so many rows, 1 to {@link #SCAN_ROWS_MAX}; a page may end earlier, even
   *     without rows, and has a few more if the last key holds objects of several types
   */
  record Scan(String keyspace, Optional<Key> from, Optional<CrdtType> type, Query query, int limit)
      implements Request {}

  /** Asks what the datacenter is doing. Answered by {@link Reply.Report}. */
  record Inspect(Topic topic, Optional<String> keyspace, int limit) implements Request {}

  /**
   * Asks for a backup of everything durable, made while everything goes on. Answered by {@link
   * Reply.Report} with where it is.
   *
   * @param name of letters, digits, '.', '_' and '-', at most {@link #BACKUP_NAME_MAX} of them; no
   *     backup may have it yet; empty to let the datacenter choose
   */
  record Backup(Optional<String> name) implements Request {}

  /** What {@link Inspect} is about. */
  enum Topic {
    /** Keyspaces, partitions, traffic, errors. */
    STAT,
    /** The hot objects with their modes. */
    HOT,
    /** The other datacenters with their lag. */
    PEERS,
    /**
     * For each partition a digest of all objects, and one each of the first {@code limit}: equal
     * digests, equal contents. STAT tells the vectors.
     */
    DIGEST
  }
}
