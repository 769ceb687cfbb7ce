package io.osier.protocol;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import java.util.Optional;

/**
 * Reads objects in the order of their keys, as unsigned bytes, over all partitions. Answered by
 * {@link Reply.Page} or {@link Reply.Counted}, which say where to go on: only a place, so any key
 * may be one.
 *
 * <p>A scan of rows without an end shows what its user may read from its beginning on without a
 * gap; any other scan needs the right to read its whole range.
 *
 * @param from the first key, inclusive; empty for the beginning
 * @param to the key before which it ends; empty for the end of the keyspace
 * @param type only objects of this type; empty for all
 * @param limit the most rows, 1 to {@link #SCAN_ROWS_MAX}; a page may end earlier, even without
 *     rows, and has a few more if the last key holds objects of several types
 */
public record ScanRequest(
    String keyspace,
    Optional<Key> from,
    Optional<Key> to,
    Optional<CrdtType> type,
    Query query,
    int limit,
    Want want)
    implements Request.OfKeyspace {
  /** Creates a scan of rows to the end of the keyspace. */
  public ScanRequest(
      String keyspace, Optional<Key> from, Optional<CrdtType> type, Query query, int limit) {
    this(keyspace, from, Optional.empty(), type, query, limit, Want.ROWS);
  }

  /** Whether older versions of the protocol have this form, too. */
  boolean isPlain() {
    return to.isEmpty() && want == Want.ROWS;
  }

  /** The kinds of results that a scan returns. */
  public enum Want {
    /** Objects. */
    ROWS(0),
    COUNT(1),
    /**
     * Also removed objects, as far as a transaction of a {@code causal} keyspace that is open here
     * may still see them.
     */
    KNOWN(2);

    private final int number;

    Want(int number) {
      this.number = number;
    }

    /** Returns the number that the encoded form carries. */
    int number() {
      return number;
    }
  }
}
