package io.osier.datacenter.store.objects;

import io.osier.datacenter.store.Change;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.VersionStore;
import io.osier.protocol.TransactionId;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Decides which notes of committed transactions are kept: at least the latest {@link
 * ObjectStore#TRANSACTIONS_KEPT}. Only for the partition's thread.
 */
final class CommittedTransactions {
  /** How many notes above that are dropped together. */
  private static final int DROPPED_MIN = 1_000;

  private final ArrayDeque<Long> numbers = new ArrayDeque<>();
  private long droppedThrough;

  /** Starts with the notes that the store has, and returns them by transaction. */
  Map<TransactionId, Long> recovered(List<VersionStore.Committed> committed) {
    Map<TransactionId, Long> byTransaction = new LinkedHashMap<>();
    for (VersionStore.Committed c : committed) {
      byTransaction.put(c.transaction(), c.number());
      numbers.add(c.number());
    }
    return byTransaction;
  }

  /** Adds the note of a transaction, and drops old notes. */
  void add(TransactionId transaction, long number, Consumer<Change> changes) {
    changes.accept(new Change.PutTransaction(number, transaction));
    numbers.add(number);
    if (numbers.size() >= ObjectStore.TRANSACTIONS_KEPT + DROPPED_MIN) {
      long through = 0;
      while (numbers.size() > ObjectStore.TRANSACTIONS_KEPT) {
        through = numbers.poll();
      }
      changes.accept(new Change.DropTransactions(droppedThrough, through));
      droppedThrough = through;
    }
  }
}
