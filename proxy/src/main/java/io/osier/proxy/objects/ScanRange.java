package io.osier.proxy.objects;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.protocol.ScanRequest;
import java.util.Optional;

/**
 * Selects the objects of a scan, and the query of each. Immutable.
 *
 * @param from the first key; empty for the beginning
 * @param to the end, exclusive; empty for no end
 * @param type the type of the objects; empty for all types
 * @param limit the most rows
 * @param pageRows the number of rows that are requested at once
 */
public record ScanRange(
    Optional<Key> from,
    Optional<Key> to,
    Optional<CrdtType> type,
    Query query,
    long limit,
    int pageRows) {
  /** All objects, as a whole. */
  public static final ScanRange ALL =
      new ScanRange(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          new Query.Whole(),
          Long.MAX_VALUE,
          500);

  /** Returns this scan with other ends. */
  public ScanRange within(Optional<Key> first, Optional<Key> end) {
    return new ScanRange(first, end, type, query, limit, pageRows);
  }

  /** Returns this scan with another query. */
  public ScanRange query(Query wanted) {
    return new ScanRange(from, to, type, wanted, limit, pageRows);
  }

  /** Returns this scan restricted to objects of one type. */
  public ScanRange type(CrdtType only) {
    return new ScanRange(from, to, Optional.of(only), query, limit, pageRows);
  }

  public ScanRange limit(long rows) {
    return new ScanRange(from, to, type, query, rows, pageRows);
  }

  /** Returns this scan with another number of rows in a page. */
  public ScanRange pageRows(int rows) {
    return new ScanRange(from, to, type, query, limit, rows);
  }

  /** Returns the rest of this scan, from a key on, after so many rows were shown. */
  public ScanRange rest(Key next, long shown) {
    return new ScanRange(Optional.of(next), to, type, query, limit - shown, pageRows);
  }

  public ScanRequest request(String keyspace, Query wanted, int rows, ScanRequest.Want want) {
    return new ScanRequest(keyspace, from, to, type, wanted, rows, want);
  }

  /** Returns the number of rows to request next. */
  public int nextRows() {
    return (int) Math.min(limit, pageRows);
  }
}
