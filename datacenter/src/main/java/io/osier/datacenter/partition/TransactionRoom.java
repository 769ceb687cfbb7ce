package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.memory.Budget;
import io.osier.protocol.Request;
import java.util.List;

/** What open transactions may take in the heap. Not thread-safe. */
record TransactionRoom(Budget budget) {
  /**
   * What a step's updates take in the heap until the transaction ends.
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
   * Checks what a step's versions of objects take. Those of a commit are gone with it, so they need
   * room by themselves only. One object is let in whatever it takes, for an open transaction if
   * that is alone: otherwise nobody could ever do so.
   *
   * @param updateBytes what its updates take until the transaction ends
   * @param versionBytes what the versions take beside that
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
