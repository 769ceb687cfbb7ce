package io.osier.datacenter.store.files;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.StartNumbers;
import io.osier.datacenter.store.records.StoreHeader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Compares the stores of two stopped processes and reports signs that commit numbers were given
 * twice. For two copies of one store that have both run since, it compares the logs of their own
 * updates, which reach back to what every peer has. For two datacenters, it compares the other's
 * updates that each one has with the other's commits. It does not compare objects.
 */
public final class StoreComparison {
  /** The most numbers that are reported of one partition. */
  private static final int NAMED_MAX = 5;

  private final Store one;
  private final Store other;
  private final List<String> found = new ArrayList<>();

  /** A store that is open for reading. */
  private record Store(Path dir, RocksDB db, StoreHeader header, List<Long> starts) {
    ReplicaId self() {
      return new ReplicaId(header.dc(), header.incarnation());
    }

    RecordKeys keys(String partition) {
      return new RecordKeys(requireNonNull(header.partitions().get(partition), partition));
    }

    Optional<StoredState> state(String partition) throws RocksDBException {
      return Optional.ofNullable(db.get(keys(partition).state())).map(StoredState::decode);
    }

    /** Returns whether this store began with the other one's present or earlier data. */
    boolean comesAfter(Store before) {
      return !before.starts.isEmpty() && starts.contains(before.starts.getFirst());
    }
  }

  private StoreComparison(Store one, Store other) {
    this.one = one;
    this.other = other;
  }

  /**
   * Compares two stores.
   *
   * @return the signs in words, a line each; empty if there are none
   * @throws OsierException CONFIGURATION if there is no store, if a process has one open, or if
   *     they are of different clusters; STORE_DAMAGED if one cannot be read
   */
  public static List<String> compare(Path dir, Path with) {
    RocksLibrary.load();
    StoreFiles.checkUnused(dir);
    StoreFiles.checkUnused(with);
    try (Options options = new Options().setParanoidChecks(true);
        RocksDB first = open(options, dir);
        RocksDB second = open(options, with)) {
      Store one = store(dir, first);
      Store other = store(with, second);
      if (!one.header.cluster().equals(other.header.cluster())) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            "the stores in " + dir + " and " + with + " are of different clusters");
      }
      return new StoreComparison(one, other).findings();
    } catch (RocksDBException e) {
      throw StoreErrors.of(dir, e);
    }
  }

  private static RocksDB open(Options options, Path dir) throws RocksDBException {
    Path database = StoreLayout.database(dir);
    if (!Files.exists(database)) {
      throw new OsierException(ErrorCode.CONFIGURATION, "there is no store in " + dir);
    }
    return RocksDB.openReadOnly(options, database.toString());
  }

  private static Store store(Path dir, RocksDB db) throws RocksDBException {
    byte[] header = db.get(RecordKeys.header());
    if (header == null) {
      throw new OsierException(ErrorCode.STORE_DAMAGED, "the store in " + dir + " has no header");
    }
    byte[] starts = db.get(RecordKeys.starts());
    return new Store(
        dir,
        db,
        StoreHeader.decode(header),
        starts == null ? List.of() : StartNumbers.decode(starts).numbers());
  }

  private List<String> findings() throws RocksDBException {
    boolean areCopies = one.self().equals(other.self());
    if (areCopies && (one.comesAfter(other) || other.comesAfter(one))) {
      return List.of(); // one store began with the other's present data
    }
    if (areCopies) {
      found.add(
          "both stores of "
              + one.self()
              + " have been started since they parted: what each has committed since has the same"
              + " numbers");
    }
    for (String partition : one.header.partitions().keySet()) {
      if (!other.header.partitions().containsKey(partition)) {
        continue;
      }
      if (areCopies) {
        compareLogs(partition);
      } else {
        compareThrough(partition, one, other);
        compareThrough(partition, other, one);
      }
    }
    return List.copyOf(found);
  }

  private void compareLogs(String partition) throws RocksDBException {
    Map<Long, byte[]> mine = logged(one, partition);
    List<Long> twice = new ArrayList<>();
    logged(other, partition)
        .forEach(
            (number, theirs) -> {
              byte[] here = mine.get(number);
              if (here != null && !Arrays.equals(here, theirs)) {
                twice.add(number);
              }
            });
    if (!twice.isEmpty()) {
      twice.sort(null);
      found.add(
          "%s: %d numbers of %s were given twice: %s%s"
              .formatted(
                  partition,
                  twice.size(),
                  one.self(),
                  twice.subList(0, Math.min(NAMED_MAX, twice.size())),
                  twice.size() > NAMED_MAX ? " and more" : ""));
    }
  }

  private static Map<Long, byte[]> logged(Store store, String partition) throws RocksDBException {
    Map<Long, byte[]> entries = new HashMap<>();
    RecordKeys keys = store.keys(partition);
    byte[] end = keys.logEnd();
    try (RocksIterator i = store.db.newIterator()) {
      for (i.seek(keys.firstLogged(0)); i.isValid(); i.next()) {
        if (Arrays.compareUnsigned(i.key(), end) >= 0) {
          break;
        }
        entries.put(RecordKeys.loggedNumber(i.key()), i.value());
      }
      i.status();
    }
    return entries;
  }

  private void compareThrough(String partition, Store of, Store at) throws RocksDBException {
    Optional<StoredState> own = of.state(partition);
    Optional<StoredState> there = at.state(partition);
    if (own.isPresent() && there.isPresent() && own.get().self().equals(of.self())) {
      long has = there.get().through().get(of.self());
      if (has > own.get().committed()) {
        found.add(
            ("%s: %s has update %d of %s, whose own store in %s ends with %d: it is a"
                    + " copy from before")
                .formatted(partition, at.self(), has, of.self(), of.dir, own.get().committed()));
      }
    }
  }
}
