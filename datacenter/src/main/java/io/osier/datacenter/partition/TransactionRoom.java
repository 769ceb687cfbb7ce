package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.memory.Budget;
import io.osier.protocol.Request;
import java.util.List;

/** Bounds what open transactions take in the heap. Not thread-safe. */
record TransactionRoom(Budget budget) {
  /**
   * Returns the bytes that a step's updates take in the heap until the transaction ends.
   *
   * @throws OsierException OVERLOADED if there is no room for them
   */
  long of(List<Request.Update> updates) {
    long bytes = 0;
    for (Request.Update update : updates) {
      bytes += OpenTransaction.heapBytes(update);
    }
    if (bytes > 0 && budget.used() + bytes > budget.limit()) {
      throw tooMuch(bytes);
    }
    return bytes;
  }

  /**
   * Checks that there is room for a step's versions of objects. The versions of a committing step
   * are dropped at once, so they only need to fit by themselves. A transaction that changes one
   * object alone is let in whatever it takes (if it stays open, only while no other is open):
   * otherwise a large object could never be changed.
   *
   * @param updateBytes the bytes that the step's updates take until the transaction ends
   * @param versionBytes the bytes that its versions take besides
   * @param isOnly whether they are of one object
   */
  void check(Request.End end, long updateBytes, long versionBytes, boolean isOnly, int openCount) {
    boolean isOpen = end == Request.End.OPEN;
    long others = isOpen ? budget.used() + updateBytes : 0;
    boolean isAlone = isOnly && (!isOpen || openCount == 1);
    if (versionBytes > 0 && others + versionBytes > budget.limit() && !isAlone) {
      throw tooMuch(updateBytes + versionBytes);
    }
  }

  private OsierException tooMuch(long bytes) {
    budget.noteSpent();
    return new OsierException(
        ErrorCode.OVERLOADED,
        "open transactions take "
            + budget.used()
            + " of "
            + budget.limit()
            + " bytes, and these updates would take "
            + bytes
            + ": nothing was done, try again later (osier.memory.transactions says how much)");
  }
}
