package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.protocol.Request;
import io.osier.proxy.call.ArgumentChecks;
import io.osier.proxy.objects.ScanRange;
import java.util.Optional;

/**
 * Selects objects and what to read of each, for {@link ObjectSpace#scan} and the like. A scan
 * returns objects in the order of their keys, compared as unsigned bytes; several objects of one
 * key are in the order of {@link CrdtType}. Immutable.
 *
 * <pre>{@code
 * try (Stream<Row> carts = shop.scan(Scan.prefix("cart:").ofType(CrdtType.AW_SET))) {
 *   carts.forEach(row -> System.out.println(row.key() + " " + row.value()));
 * }
 * long users = shop.count(Scan.prefix("user:"));
 * }</pre>
 */
public final class Scan {
  private static final Scan ALL = new Scan(ScanRange.ALL);

  private final ScanRange range;

  private Scan(ScanRange range) {
    this.range = range;
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
    return within(Optional.of(present(prefix, "a prefix")), prefix.afterPrefix());
  }

  /**
   * Objects of a range of keys.
   *
   * @param from the first key, inclusive
   * @param to the end of the range, exclusive
   * @throws OsierException INVALID_ARGUMENT if the end is before the first key
   */
  public static Scan range(Key from, Key to) {
    present(from, "a key");
    present(to, "a key");
    if (to.compareTo(from) < 0) {
      throw bad("a range must end at or after its start: '" + to + "' is before '" + from + "'");
    }
    return within(Optional.of(from), Optional.of(to));
  }

  private static Scan within(Optional<Key> first, Optional<Key> end) {
    return new Scan(ScanRange.ALL.within(first, end));
  }

  /**
   * Returns this scan beginning at a later key: to go on where a page ended ({@link
   * Keyspace.Page#next}), in this or another process. A key before the scan's beginning changes
   * nothing.
   */
  public Scan from(Key key) {
    present(key, "a key");
    return range.from().isPresent() && key.compareTo(range.from().get()) < 0
        ? this
        : new Scan(range.within(Optional.of(key), range.to()));
  }

  /** Returns this scan restricted to objects of one type. */
  public Scan ofType(CrdtType only) {
    return new Scan(range.type(present(only, "a type")));
  }

  /**
   * Returns this scan with a query of each object in place of its whole value. A query of map
   * fields ({@link Query.Select}) returns objects that are no maps as a whole; any other query must
   * suit the types of all selected objects.
   */
  public Scan query(Query wanted) {
    return new Scan(range.query(present(wanted, "a query")));
  }

  /**
   * Returns this scan without values: only keys and types are sent, and each row's value says that
   * the object exists.
   */
  public Scan keysOnly() {
    return query(new Query.Exists());
  }

  /**
   * Returns this scan with at most this many rows.
   *
   * @throws OsierException INVALID_ARGUMENT if the number is less than 1
   */
  public Scan limit(long rows) {
    if (rows < 1) {
      throw bad("a scan's limit must be at least 1, not " + rows);
    }
    return new Scan(range.limit(rows));
  }

  /**
   * Returns this scan with another size of pages: the number of rows that are requested at once and
   * held in memory. A page of large rows has fewer.
   *
   * @param rows 1 to {@link Request#SCAN_ROWS_MAX}
   * @throws OsierException INVALID_ARGUMENT if the number is out of range
   */
  public Scan pageRows(int rows) {
    OsierException wrong = ArgumentChecks.scan(rows);
    if (wrong != null) {
      throw wrong;
    }
    return new Scan(range.pageRows(rows));
  }

  private static OsierException bad(String message) {
    return OsierException.of(ErrorCode.INVALID_ARGUMENT, message);
  }

  ScanRange range() {
    return range;
  }
}
