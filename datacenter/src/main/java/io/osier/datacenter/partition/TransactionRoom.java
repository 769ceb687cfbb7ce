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
  long bytesOf(List<Request.Update> updates) {
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
   * Checks that there is room for the versions of objects that a step makes while its transaction
   * stays open, beside all that open transactions take already. A transaction that changes one
   * object alone is let in whatever it takes, but only while no other is open: otherwise a large
   * object could never be changed.
   *
   * @param updateBytes the bytes that the step's updates take until the transaction ends
   * @param versionBytes the bytes that its versions take besides
   * @param isOneObject whether the transaction changes one object alone
   * @param openCount how many transactions are open, this one among them
   * @throws OsierException OVERLOADED if there is no room for them
   */
  void checkOpenStep(long updateBytes, long versionBytes, boolean isOneObject, int openCount) {
    if (!(isOneObject && openCount == 1)) {
      check(budget.used() + updateBytes, updateBytes, versionBytes);
    }
  }

  /**
   * Checks that there is room for the versions of objects that a committing step makes. They are
   * dropped at once, so they only need to fit by themselves; those of one object always do.
   *
   * @param versionBytes the bytes that the versions take
   * @throws OsierException OVERLOADED if they take more than all open transactions may
   */
  void checkCommit(long versionBytes, boolean isOneObject) {
    if (!isOneObject) {
      check(0, 0, versionBytes);
    }
  }

  private void check(long taken, long updateBytes, long versionBytes) {
    if (versionBytes > 0 && taken + versionBytes > budget.limit()) {
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
