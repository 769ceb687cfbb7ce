package io.osier.datacenter.testing;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Optional;

/** Requests of sessions that have seen nothing and do not wait. */
public final class Requests {
  private Requests() {}

  public static Request.Write write(String keyspace, Key key, CrdtType type, Operation operation) {
    return new Request.Write(keyspace, key, type, operation, VersionVector.EMPTY, 0);
  }

  /** Whatever the key holds of one type. */
  public static Request.Read read(String keyspace, Key key, CrdtType type, Query query) {
    return read(keyspace, key, Optional.of(type), query);
  }

  public static Request.Read read(String keyspace, Key key, Optional<CrdtType> type, Query query) {
    return new Request.Read(keyspace, key, type, query, VersionVector.EMPTY, false, 0);
  }

  /** A step of a transaction that may take a hundred seconds. */
  public static Request.Transact step(
      String keyspace,
      TransactionId transaction,
      int step,
      List<Request.Update> updates,
      List<Request.Fetch> reads,
      Request.End end) {
    Request.Begin begin = new Request.Begin(VersionVector.EMPTY, false, 0, 100_000);
    return new Request.Transact(
        keyspace,
        transaction,
        step,
        step == 1 ? Optional.of(begin) : Optional.empty(),
        updates,
        reads,
        end);
  }
}
