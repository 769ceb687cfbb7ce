package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.codec.WireInput;

/** The data types' classes by type: the one place that lists them. */
public final class Stores {
  private Stores() {}

  /** A new object's content. */
  static DotStore<?> empty(CrdtType type) {
    return switch (type) {
      case PN_COUNTER -> PnCounter.EMPTY;
      default -> throw new IllegalArgumentException("type " + type + " is not known");
    };
  }

  /** Reads the content of a type, as {@link DotStore#write} wrote it. */
  public static DotStore<?> read(CrdtType type, WireInput in) {
    return switch (type) {
      case PN_COUNTER -> PnCounter.read(in);
      default -> throw new IllegalArgumentException("type " + type + " is not known");
    };
  }

  static OsierException wrongOperation(CrdtType type, Operation operation) {
    return new OsierException(
        ErrorCode.WRONG_TYPE,
        "a " + type + " has no operation " + operation.getClass().getSimpleName());
  }

  static OsierException wrongQuery(CrdtType type, Query query) {
    return new OsierException(
        ErrorCode.WRONG_TYPE, "a " + type + " has no query " + query.getClass().getSimpleName());
  }
}
