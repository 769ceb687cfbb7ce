package io.osier.proxy.transaction;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import io.osier.protocol.ScanRequest;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.Keyspace.Get;
import io.osier.proxy.Keyspace.Page;
import io.osier.proxy.Keyspace.Row;
import io.osier.proxy.future.Calls;
import io.osier.proxy.objects.ScanPages;
import io.osier.proxy.objects.ScanRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * Reads pages of a scan within a transaction. The coordinator lists present and former objects of
 * the range without values; the transaction then reads which of them exist in its snapshot,
 * together with its own updates, and then their values. Immutable.
 */
public final class SnapshotScan {
  /** Most objects of one step, so that other callers do not wait long for a step. */
  private static final int ROWS_MAX = 500;

  /** A page covers one object more than one key can have, so that each page gets beyond a key. */
  private static final int ROWS_MIN = CrdtType.values().length + 1;

  /** What the scan needs of its transaction. */
  public interface Within {
    /** Lists present and former objects of a range at the coordinator. */
    CompletableFuture<Reply.Page> known(ScanRange part, int rows);

    /** Returns the objects of a range that the transaction has updated, in order. */
    List<ObjectId> own(Optional<Key> from, Optional<Key> to, int limit);

    CompletableFuture<List<Found>> read(List<Get> reads);
  }

  private final Within within;

  public SnapshotScan(Within within) {
    this.within = within;
  }

  /** The objects of a page, and the key at which the next page begins. */
  private record Listed(List<ObjectId> objects, Optional<Key> next) {}

  CompletableFuture<Page> page(ScanRange scan) {
    boolean bare = scan.query() instanceof Query.Exists;
    return list(scan, Math.clamp(scan.nextRows(), ROWS_MIN, ROWS_MAX))
        .thenCompose(
            listed ->
                existing(listed.objects)
                    .thenCompose(
                        there ->
                            bare
                                ? CompletableFuture.completedFuture(keys(there))
                                : values(there, scan.query()))
                    .thenApply(rows -> new Page(rows, listed.next)));
  }

  private CompletableFuture<Listed> list(ScanRange scan, int rows) {
    return within.known(scan, rows).thenApply(known -> withOwn(scan, rows, known));
  }

  /** Adds the objects that this transaction has updated, which the coordinator may not list. */
  private Listed withOwn(ScanRange scan, int rows, Reply.Page known) {
    TreeSet<ObjectId> all = new TreeSet<>();
    known.rows().forEach(row -> all.add(new ObjectId(row.key(), row.type())));
    all.removeIf(o -> !isOf(scan.type(), o.type()));
    Optional<Key> next = known.next();
    List<ObjectId> own = within.own(scan.from(), next.or(scan::to), rows + 1);
    own.stream().filter(o -> isOf(scan.type(), o.type())).forEach(all::add);
    if (own.size() > rows) {
      Key end = own.getLast().key(); // objects after it may be missing
      all.removeIf(o -> o.key().compareTo(end) >= 0);
      next = Optional.of(end);
    }
    return new Listed(List.copyOf(all), next);
  }

  private static boolean isOf(Optional<CrdtType> wanted, CrdtType type) {
    return wanted.isEmpty() || wanted.get() == type;
  }

  private CompletableFuture<List<ObjectId>> existing(List<ObjectId> objects) {
    if (objects.isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    return within
        .read(objects.stream().map(o -> get(o, new Query.Exists())).toList())
        .thenApply(
            found -> {
              List<ObjectId> there = new ArrayList<>();
              for (int i = 0; i < objects.size(); i++) {
                if (found.get(i).exists()) {
                  there.add(objects.get(i));
                }
              }
              return there;
            });
  }

  private static Get get(ObjectId object, Query query) {
    return new Get(object.key(), Optional.of(object.type()), query);
  }

  private static List<Row> keys(List<ObjectId> objects) {
    return objects.stream().map(o -> new Row(o.key(), o.type(), new Reading.Flag(true))).toList();
  }

  private CompletableFuture<List<Row>> values(List<ObjectId> objects, Query query) {
    if (objects.isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    List<Get> reads = new ArrayList<>();
    for (ObjectId object : objects) {
      boolean whole = query instanceof Query.Select && object.type() != CrdtType.OR_MAP;
      reads.add(get(object, whole ? new Query.Whole() : query));
    }
    return within
        .read(reads)
        .thenApply(
            found -> {
              List<Row> rows = new ArrayList<>();
              for (int i = 0; i < objects.size(); i++) {
                ObjectId object = objects.get(i);
                rows.add(
                    new Row(object.key(), object.type(), found.get(i).reading().orElseThrow()));
              }
              return rows;
            });
  }

  public CompletableFuture<Long> count(ScanRange scan) {
    ScanPages pages = new ScanPages(scan.query(new Query.Exists()), this::page);
    return Calls.oneByOne(
        0L,
        before -> pages.isAtEnd(),
        before -> pages.nextRows().thenApply(rows -> before + rows.size()));
  }

  /** Makes the request that lists present and former objects of a range. */
  static ScanRequest known(String keyspace, ScanRange part, int rows) {
    return part.request(keyspace, new Query.Exists(), rows, ScanRequest.Want.KNOWN);
  }
}
