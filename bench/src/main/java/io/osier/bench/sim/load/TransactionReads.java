package io.osier.bench.sim.load;

import io.osier.bench.sim.check.TransactionView;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Scan;
import io.osier.proxy.Transaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** How a transaction reads all objects of {@link TransactionView}. */
final class TransactionReads {
  private static final int PAGE_ROWS = 5;

  private TransactionReads() {}

  /** All of them, together. */
  static List<Keyspace.Get> all() {
    List<Keyspace.Get> all = new ArrayList<>();
    for (ObjectId object : TransactionView.objects()) {
      all.add(new Keyspace.Get(object.key(), Optional.of(object.type()), new Query.Whole()));
    }
    return all;
  }

  /** As a read of all objects together, by a scan of the transaction. */
  static CompletableFuture<List<Keyspace.Found>> scanned(Transaction of) {
    Scan scan = Scan.prefix(TransactionView.PREFIX).pageRows(PAGE_ROWS);
    return pages(of, scan, new HashMap<>())
        .thenApply(
            rows ->
                TransactionView.objects().stream()
                    .map(object -> found(object, rows.get(object)))
                    .toList());
  }

  private static CompletableFuture<Map<ObjectId, Reading>> pages(
      Transaction of, Scan scan, Map<ObjectId, Reading> rows) {
    return of.pageAsync(scan)
        .thenCompose(
            page -> {
              page.rows().forEach(r -> rows.put(new ObjectId(r.key(), r.type()), r.value()));
              return page.next().isEmpty()
                  ? CompletableFuture.completedFuture(rows)
                  : pages(of, scan.from(page.next().get()), rows);
            });
  }

  private static Keyspace.Found found(ObjectId object, @Nullable Reading reading) {
    Reading shown =
        reading != null ? reading : TypeRegistry.empty(object.type()).read(new Query.Whole());
    return new Keyspace.Found(Optional.of(object.type()), Optional.of(shown), reading != null);
  }
}
