package io.osier.proxy.call;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy.Limits;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationLimits;
import io.osier.crdt.Query;
import io.osier.protocol.Call;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks a call's arguments before anything is sent. The error is the one that the datacenter would
 * return, without the round trip. Only the datacenter knows a keyspace's own limits.
 */
public final class ArgumentChecks {
  /** The largest limits that a keyspace can have. */
  private static final Limits CAPS =
      new Limits(Key.LENGTH_MAX, Limits.VALUE_BYTES_CAP, Limits.OBJECT_BYTES_CAP);

  private ArgumentChecks() {}

  /** Returns the error that the checks throw; null if they pass. */
  private static @Nullable OsierException wrong(Runnable checks) {
    try {
      checks.run();
      return null;
    } catch (OsierException e) {
      return e.classified();
    }
  }

  private static void check(Key key, CrdtType type, Operation operation) {
    present(key, "a key");
    present(type, "a type");
    OperationLimits.check(present(operation, "an operation"), CAPS);
  }

  private static void check(Keyspace.Get read) {
    present(read.key(), "a key");
    present(read.type(), "an Optional of a type");
    present(read.query(), "a query");
  }

  private static void check(Keyspace.Change change) {
    check(change.key(), change.type(), change.operation());
  }

  /** Returns what is wrong with an update; null if nothing is. */
  public static @Nullable OsierException update(Key key, CrdtType type, Operation operation) {
    return wrong(() -> check(key, type, operation));
  }

  /** Returns what is wrong with an update and its query; null if nothing is. */
  public static @Nullable OsierException update(
      Key key, CrdtType type, Operation operation, Request.Ask ask) {
    return wrong(
        () -> {
          check(key, type, operation);
          present(present(ask, "what is asked").query(), "a query");
        });
  }

  /** Returns what is wrong with an update and its condition; null if nothing is. */
  public static @Nullable OsierException update(
      Key key, CrdtType type, Operation operation, Request.Condition condition) {
    return wrong(
        () -> {
          present(condition, "a condition");
          check(key, type, operation);
        });
  }

  /** Returns what is wrong with a read; null if nothing is. */
  static @Nullable OsierException read(Key key, Optional<CrdtType> type, Query query) {
    return wrong(() -> check(new Keyspace.Get(key, type, query)));
  }

  /** Returns what is wrong with a step of a transaction; null if nothing is. */
  public static @Nullable OsierException step(
      List<Keyspace.Get> reads, List<Keyspace.Change> changes) {
    return wrong(
        () -> {
          if (Math.max(reads.size(), changes.size()) > Request.TRANSACTION_STEP_MAX) {
            throw OsierException.of(
                ErrorCode.INVALID_ARGUMENT,
                "one request may have %s updates and as many reads, not %s and %s"
                    .formatted(Request.TRANSACTION_STEP_MAX, changes.size(), reads.size()));
          }
          reads.forEach(ArgumentChecks::check);
          changes.forEach(ArgumentChecks::check);
        });
  }

  /** Returns what is wrong with a batch of reads; null if nothing is. */
  static @Nullable OsierException reads(List<Keyspace.Get> reads) {
    return wrong(
        () -> {
          batch(present(reads, "a list of reads").size());
          reads.forEach(get -> check(present(get, "a read")));
        });
  }

  /** Returns what is wrong with a batch of updates; null if nothing is. */
  static @Nullable OsierException changes(List<Keyspace.Change> changes) {
    return wrong(
        () -> {
          batch(present(changes, "a list of changes").size());
          changes.forEach(change -> check(present(change, "a change")));
        });
  }

  /** Returns what is wrong with a program's calls; null if nothing is. */
  static @Nullable OsierException program(List<Call> calls) {
    return wrong(
        () -> {
          if (calls.isEmpty() || calls.size() > Request.PROGRAM_MAX) {
            throw OsierException.of(
                ErrorCode.INVALID_ARGUMENT,
                "a program has 1 to " + Request.PROGRAM_MAX + " calls, not " + calls.size());
          }
          for (Call call : calls) {
            switch (call) {
              case Call.Update c -> check(c.key(), c.type(), c.operation());
              case Call.Replace c -> check(c.key(), c.type(), c.operation());
              default -> {}
            }
          }
        });
  }

  private static void batch(int size) {
    if (size > Request.BATCH_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a batch may have " + Request.BATCH_MAX + " parts, not " + size + ": split it");
    }
  }

  /** Returns what is wrong with a scan's limit; null if nothing is. */
  public static @Nullable OsierException scan(int limit) {
    return limit >= 1 && limit <= Request.SCAN_ROWS_MAX
        ? null
        : OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            "a scan's limit must be 1 to " + Request.SCAN_ROWS_MAX + ", not " + limit);
  }
}
