package io.osier.proxy.objects;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import java.util.Optional;

/**
 * Which objects a scan looks at, and what is wanted of each.
 *
 * @param from the first key; empty for the beginning
 * @param to the key before which it ends; empty for the end
 * @param type empty for all types
 * @param limit at most so many rows
 * @param pageRows as many are asked for at once
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

  /** The same of other keys. */
  public ScanRange within(Optional<Key> first, Optional<Key> end) {
    return new ScanRange(first, end, type, query, limit, pageRows);
  }

  /** The same, of which something else is wanted. */
  public ScanRange query(Query wanted) {
    return new ScanRange(from, to, type, wanted, limit, pageRows);
  }

  /** Of those the objects of a type alone. */
  public ScanRange type(CrdtType only) {
    return new ScanRange(from, to, Optional.of(only), query, limit, pageRows);
  }

  public ScanRange limit(long rows) {
    return new ScanRange(from, to, type, query, rows, pageRows);
  }

  /** As many asked for at once. */
  public ScanRange pageRows(int rows) {
    return new ScanRange(from, to, type, query, limit, rows);
  }

  /** Of what is left when so many rows were shown, from a key on. */
  public ScanRange rest(Key next, long shown) {
    return new ScanRange(Optional.of(next), to, type, query, limit - shown, pageRows);
  }

  public Request.Scan request(String keyspace, Query wanted, int rows, Request.Want want) {
    return new Request.Scan(keyspace, from, to, type, wanted, rows, want);
  }

  /** The rows that are asked for next. */
  public int nextRows() {
    return (int) Math.min(limit, pageRows);
  }
}
