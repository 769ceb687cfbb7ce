package io.osier.proxy;

import io.osier.core.AmbiguousException;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.call.BatchOutcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a batch failed, each by itself; all others are done. Its code is that of the first one.
 */
public final class BatchException extends AmbiguousException {
  private static final long serialVersionUID = 1L;

  private final transient SortedMap<Integer, OsierException> errors;
  private final transient SortedMap<Integer, Found> found;

  private BatchException(
      OsierException first,
      String message,
      SortedMap<Integer, OsierException> errors,
      SortedMap<Integer, Found> found) {
    super(first.code(), message, first);
    this.errors = Collections.unmodifiableSortedMap(errors);
    this.found = Collections.unmodifiableSortedMap(found);
  }

  /**
   * What was found of each part; null of those that were updates.
   *
   * @throws BatchException if some failed
   */
  static List<Found> found(BatchOutcome of) {
    for (OsierException error : of.errors()) {
      if (error != null) {
        throw of(error, of.errors(), of.found());
      }
    }
    return new ArrayList<>(Arrays.asList(of.found()));
  }

  private static BatchException of(
      OsierException first, @Nullable OsierException[] errors, @Nullable Found[] found) {
    SortedMap<Integer, OsierException> failed = new TreeMap<>();
    SortedMap<Integer, Found> read = new TreeMap<>();
    for (int i = 0; i < errors.length; i++) {
      OsierException error = errors[i];
      Found of = found[i];
      if (error != null) {
        failed.put(i, error);
      } else if (of != null) {
        read.put(i, of);
      }
    }
    String message =
        failed.size()
            + " of "
            + errors.length
            + " parts of a batch failed, and the others are done; the first of them, number "
            + failed.firstKey()
            + ": "
            + first.reason();
    return new BatchException(first, message, failed, read);
  }

  /**
   * The parts that failed, by their numbers in the batch, from 0. Nothing was done of one, unless
   * its error is an {@link OutcomeUnknownException}: then it may have been.
   */
  public SortedMap<Integer, OsierException> errors() {
    return errors;
  }

  /** Of reads, what was found by those that did not fail, by their numbers in the batch. */
  public SortedMap<Integer, Found> found() {
    return found;
  }
}
