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
   * @param to the key before which it ends
   * @throws OsierException INVALID_ARGUMENT if that is before the first
   */
  public static Scan range(Key from, Key to) {
    present(from, "a key");
    present(to, "a key");
    if (to.compareTo(from) < 0) {
      throw bad("a range ends behind its beginning: '" + to + "' is before '" + from + "'");
    }
    return within(Optional.of(from), Optional.of(to));
  }

  private static Scan within(Optional<Key> first, Optional<Key> end) {
    return new Scan(ScanRange.ALL.within(first, end));
  }

  /**
   * The same from a key on, with the same end: to go on where a page ended ({@link
   * Keyspace.Page#next}), in whatever process. One that is before the beginning changes nothing.
   */
  public Scan from(Key key) {
    present(key, "a key");
    return range.from().isPresent() && key.compareTo(range.from().get()) < 0
        ? this
        : new Scan(range.within(Optional.of(key), range.to()));
  }

  /** Of those the objects of a type alone. */
  public Scan ofType(CrdtType only) {
    return new Scan(range.type(present(only, "a type")));
  }

  /**
   * What is wanted of each object, instead of its whole value. Of a map's fields ({@link
   * Query.Select}) objects that are no maps are shown as a whole; another query must be one of the
   * types of all objects that are looked at.
   */
  public Scan query(Query wanted) {
    return new Scan(range.query(present(wanted, "a query")));
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
    return new Scan(range.limit(rows));
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
    return new Scan(range.pageRows(rows));
  }

  private static OsierException bad(String message) {
    return OsierException.of(ErrorCode.INVALID_ARGUMENT, message);
  }

  ScanRange range() {
    return range;
  }
}
