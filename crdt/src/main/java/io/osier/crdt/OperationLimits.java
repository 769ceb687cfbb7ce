package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Value;
import java.util.List;
import java.util.Optional;

/** Checks an operation against a keyspace's limits before anything is done with it. Thread-safe. */
public final class OperationLimits {
  /** Deepest nesting of maps in maps. */
  public static final int DEPTH_MAX = 12;

  private static final String TIME_TO_LIVE =
      "a time to live is a key's, or that of an element or field of its object, not of what is"
          + " nested deeper";

  private OperationLimits() {}

  /**
   * Checks values, elements, names and nesting.
   *
   * @throws OsierException VALUE_TOO_LARGE or INVALID_ARGUMENT, naming the limit that is exceeded
   */
  public static void check(Operation operation, KeyspacePolicy.Limits limits) {
    check(operation, limits.valueBytesMax(), 1);
  }

  /**
   * Returns the {@link CrdtType#isLater} type of an object or field that an update creates or
   * changes; empty if there is none. Costs O(the update's fields).
   */
  public static Optional<CrdtType> laterType(CrdtType type, Operation operation) {
    if (type.isLater()) {
      return Optional.of(type);
    }
    return switch (operation) {
      case Operation.UpdateFields o -> {
        for (Operation.FieldUpdate update : o.updates()) {
          Optional<CrdtType> later = laterType(update.field().type(), update.operation());
          if (later.isPresent()) {
            yield later;
          }
        }
        yield Optional.empty();
      }
      case Operation.WithDeadline o -> laterType(type, o.update());
      case Operation.WithPartDeadlines o -> laterType(type, o.update());
      default -> Optional.empty();
    };
  }

  private static void check(Operation operation, int valueBytesMax, int depth) {
    switch (operation) {
      case Operation.Assign o -> check(o.value(), valueBytesMax);
      case Operation.Append o -> check(o.value(), valueBytesMax);
      case Operation.SetRange o -> {
        check(o.value(), valueBytesMax);
        checkEnd(o.offset(), o.value().sizeBytes(), valueBytesMax);
      }
      case Operation.SetBit o -> checkEnd(o.offset() >> 3, 1, valueBytesMax);
      case Operation.IncrementDecimal o -> {}
      case Operation.Add o -> check(o.elements(), valueBytesMax);
      case Operation.Remove o -> check(o.elements(), valueBytesMax);
      case Operation.UpdateFields o -> {
        if (depth > DEPTH_MAX) {
          throw OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "maps may be nested " + DEPTH_MAX + " levels deep, not more");
        }
        for (Operation.FieldUpdate update : o.updates()) {
          FieldId.checkName(update.field().name());
          if (!update.field().type().isNestable()) {
            throw OsierException.of(
                ErrorCode.INVALID_ARGUMENT,
                "a " + update.field().type() + " cannot be a field of a map: it is an object");
          }
          check(update.operation(), valueBytesMax, depth + 1);
        }
      }
      case Operation.RemoveFields o -> o.names().forEach(FieldId::checkName);
      case Operation.Increment o -> {}
      case Operation.SetFlag o -> {}
      case Operation.Clear o -> {}
      case Operation.Delete o -> checkIsWhole("a deletion is a key's, not a field's", depth);
      case Operation.Expire o -> check(o, depth);
      case Operation.WithDeadline o -> {
        check(o.deadline(), depth);
        if (o.update().isOfKey() || o.update().givesDeadline() || o.update().givesPartDeadlines()) {
          throw OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "an update that gives its object a time to live does not delete the key, nor give or"
                  + " take another one");
        }
        check(o.update(), valueBytesMax, depth);
      }
      case Operation.Persist o -> checkIsWhole(TIME_TO_LIVE, depth);
      case Operation.ExpireParts o -> {
        check(o.deadline(), depth);
        checkParts(o.of(), valueBytesMax);
      }
      case Operation.PersistParts o -> {
        checkIsWhole(TIME_TO_LIVE, depth);
        checkParts(o.of(), valueBytesMax);
      }
      case Operation.WithPartDeadlines o -> {
        check(o.deadline(), depth);
        if (!(o.update() instanceof Operation.Add)
            && !(o.update() instanceof Operation.UpdateFields)) {
          throw OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "only an update that adds elements or updates fields can give them a time to live");
        }
        check(o.update(), valueBytesMax, depth);
      }
      case Operation.Bound o -> {}
      case Operation.IncrementWithin o -> {}
      case Operation.Transfer o -> {}
      case Operation.Inherit o ->
          throw OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "the datacenters divide the rights of a removed datacenter among themselves; no"
                  + " client can ask for that");
    }
  }

  private static void check(Operation.Expire deadline, int depth) {
    checkIsWhole(TIME_TO_LIVE, depth);
    if (deadline.millis() > Operation.Expire.MILLIS_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a time to live ends before the year 10000: at most "
              + Operation.Expire.MILLIS_MAX
              + " ms, not "
              + deadline.millis());
    }
  }

  private static void checkIsWhole(String why, int depth) {
    if (depth > 1) {
      throw OsierException.of(ErrorCode.INVALID_ARGUMENT, why);
    }
  }

  private static void checkParts(List<Part> parts, int valueBytesMax) {
    if (parts.isEmpty()) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "at least one element or field must be given, not none");
    }
    for (Part part : parts) {
      switch (part) {
        case Part.Element p -> check(p.value(), valueBytesMax);
        case Part.Field p -> FieldId.checkName(p.name());
      }
    }
  }

  private static void check(List<Value> values, int valueBytesMax) {
    if (values.isEmpty()) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "at least one element must be given, not none");
    }
    for (Value value : values) {
      check(value, valueBytesMax);
    }
  }

  /** Checks the length to which an update extends a string. */
  private static void checkEnd(long offset, int length, int valueBytesMax) {
    if (offset > valueBytesMax - length) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          "a string with "
              + length
              + " bytes at "
              + offset
              + " is over the limit of "
              + valueBytesMax);
    }
  }

  private static void check(Value value, int valueBytesMax) {
    if (value.sizeBytes() > valueBytesMax) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          "a value of " + value.sizeBytes() + " bytes is over the limit of " + valueBytesMax);
    }
  }
}
