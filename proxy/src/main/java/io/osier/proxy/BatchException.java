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
 * Some parts of a batch failed, and all other parts are done. The code is that of the first part
 * that failed.
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
   * Returns what each read has found; null in the place of updates.
   *
   * @throws BatchException if a part failed
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
        ("%s of %s parts of a batch failed, and the others are done; the first of them,"
                + " number %s: %s")
            .formatted(failed.size(), errors.length, failed.firstKey(), first.reason());
    return new BatchException(first, message, failed, read);
  }

  /**
   * Returns the errors of the parts that failed, by the part's number in the batch, from 0. A part
   * that failed was not done, unless its error is an {@link OutcomeUnknownException}: then it may
   * have been done.
   */
  public SortedMap<Integer, OsierException> errors() {
    return errors;
  }

  /** Returns what the successful reads found, by the read's number in the batch, from 0. */
  public SortedMap<Integer, Found> found() {
    return found;
  }
}
