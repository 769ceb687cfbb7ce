package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import java.util.Optional;

/**
 * Which objects are looked at, and what is wanted of each: for {@link ObjectSpace#scan} and its
 * like. Objects come in the order of their keys, as unsigned bytes; those of one key in the order
 * of {@link CrdtType}. Immutable.
 *
 * <pre>{@code
 * try (Stream<Row> carts = shop.scan(Scan.prefix("cart:").ofType(CrdtType.AW_SET))) {
 *   carts.forEach(row -> System.out.println(row.key() + " " + row.value()));
 * }
 * long users = shop.count(Scan.prefix("user:"));
 * }</pre>
 */
public final class Scan {
  /** As many rows as are asked for at once, where nothing else is said. */
  static final int PAGE_ROWS = 500;

  private static final Scan ALL =
      new Scan(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          new Query.Whole(),
          Long.MAX_VALUE,
          PAGE_ROWS);

  private final Optional<Key> from;
  private final Optional<Key> to;
  private final Optional<CrdtType> type;
  private final Query query;
  private final long limit;
  private final int pageRows;

  private Scan(
      Optional<Key> from,
      Optional<Key> to,
      Optional<CrdtType> type,
      Query query,
      long limit,
      int pageRows) {
    this.from = from;
    this.to = to;
    this.type = type;
    this.query = query;
    this.limit = limit;
    this.pageRows = pageRows;
  }

  /** All objects. */
  public static Scan all() {
    return ALL;
  }

  /** Objects whose keys begin with a text, in UTF-8; all of them if it is empty. */
  public static Scan prefix(String prefix) {
    return present(prefix, "a prefix").isEmpty() ? ALL : prefix(Key.of(prefix));
  }

  /** Objects whose keys begin with these bytes. */
  public static Scan prefix(Key prefix) {
    return ALL.within(Optional.of(present(prefix, "a prefix")), prefix.afterPrefix());
  }

  /**
   * Objects of a range of keys.
   *
   * @param from the first key, inclusive
   * @param to the key before which it ends
   * @throws OsierException INVALID_ARGUMENT if that is before the first
   */
  public static Scan range(Key from, Key to) {
    present(from, "a key");
    present(to, "a key");
    if (to.compareTo(from) < 0) {
      throw bad("a range ends behind its beginning: '" + to + "' is before '" + from + "'");
    }
    return ALL.within(Optional.of(from), Optional.of(to));
  }

  private Scan within(Optional<Key> first, Optional<Key> end) {
    return new Scan(first, end, type, query, limit, pageRows);
  }

  /**
   * The same from a key on, with the same end: to go on where a page ended ({@link
   * Keyspace.Page#next}), in whatever process. One that is before the beginning changes nothing.
   */
  public Scan from(Key key) {
    present(key, "a key");
    return from.isPresent() && key.compareTo(from.get()) < 0 ? this : within(Optional.of(key), to);
  }

  /** Of those the objects of a type alone. */
  public Scan ofType(CrdtType only) {
    return new Scan(from, to, Optional.of(present(only, "a type")), query, limit, pageRows);
  }

  /**
   * What is wanted of each object, instead of its whole value. Of a map's fields ({@link
   * Query.Select}) objects that are no maps are shown as a whole; another query must be one of the
   * types of all objects that are looked at.
   */
  public Scan query(Query wanted) {
    return new Scan(from, to, type, present(wanted, "a query"), limit, pageRows);
  }

  /** Keys and types alone: values are not sent; in their places stands that the object exists. */
  public Scan keysOnly() {
    return query(new Query.Exists());
  }

  /**
   * At most so many rows.
   *
   * @throws OsierException INVALID_ARGUMENT if that is less than 1
   */
  public Scan limit(long rows) {
    if (rows < 1) {
      throw bad("a scan's limit must be at least 1, not " + rows);
    }
    return new Scan(from, to, type, query, rows, pageRows);
  }

  /**
   * So many rows are asked for at once, and held; a page ends earlier where they are large.
   *
   * @param rows 1 to {@link Request#SCAN_ROWS_MAX}
   * @throws OsierException INVALID_ARGUMENT if it is out of range
   */
  public Scan pageRows(int rows) {
    OsierException wrong = ArgumentChecks.scan(rows);
    if (wrong != null) {
      throw wrong;
    }
    return new Scan(from, to, type, query, limit, rows);
  }

  private static OsierException bad(String message) {
    return OsierException.of(ErrorCode.INVALID_ARGUMENT, message);
  }

  Optional<Key> from() {
    return from;
  }

  Optional<Key> to() {
    return to;
  }

  Optional<CrdtType> type() {
    return type;
  }

  Query query() {
    return query;
  }

  long limit() {
    return limit;
  }

  /** Of what is left when so many rows were shown, from a key on. */
  Scan rest(Key next, long shown) {
    return new Scan(Optional.of(next), to, type, query, limit - shown, pageRows);
  }

  /** The request for a part of it. */
  Request.Scan request(String keyspace, Query wanted, int rows, Request.Want want) {
    return new Request.Scan(keyspace, from, to, type, wanted, rows, want);
  }

  /** The rows that are asked for next. */
  int nextRows() {
    return (int) Math.min(limit, pageRows);
  }
}
