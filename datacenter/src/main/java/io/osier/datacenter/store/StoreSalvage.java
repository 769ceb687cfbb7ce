package io.osier.datacenter.store;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.propagation.host.Forgotten;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Mends a store with damaged blocks while nobody has it open: what is whole is copied, objects with
 * something in a damaged block are left out, and their partitions then say that they have nothing
 * of anybody, so that the peers give all that they have. What is here already is joined with what
 * comes, which changes nothing; what was left out comes back. The datacenter takes a new
 * incarnation.
 *
 * <p>Only objects are left out, of keyspaces that another datacenter holds, and none of which an
 * own update is still in the log, which a peer may lack. Where anything else is damaged nothing is
 * done. Used by one thread.
 */
final class StoreSalvage {
  private static final int BATCH_BYTES = 1 << 20;

  /** With more damage than this a rebuild is the better way. */
  private static final int GAPS_MAX = 10_000;

  /**
   * What was mended.
   *
   * @param gaps how many ranges were left out
   * @param partitions what is fetched anew, in words
   * @param aside where the damaged store is now
   */
  record Mended(int gaps, String partitions, Path aside) {}

  /** Objects that are left out, both ends included; to the last one if it has no end. */
  private record Lost(RecordKeys keys, ObjectId from, Optional<ObjectId> to) {
    boolean has(ObjectId object) {
      return object.compareTo(from) >= 0 && (to.isEmpty() || object.compareTo(to.get()) <= 0);
    }
  }

  private final Path dir;
  private final long logMax;
  private final RocksDB from;
  private final RocksDB to;
  private final ReadOptions read;
  private final WriteOptions write;
  private final List<Lost> lost = new ArrayList<>();

  /** Whether all that can be read was copied. */
  private boolean atEnd;

  private StoreSalvage(
      Path dir, long logMax, RocksDB from, RocksDB to, ReadOptions read, WriteOptions write) {
    this.dir = dir;
    this.logMax = logMax;
    this.from = from;
    this.to = to;
    this.read = read;
    this.write = write;
  }

  /**
   * Mends a store.
   *
   * @param logMax of a partition's log so many entries are kept at most
   * @param isElsewhere whether another datacenter holds a keyspace, too, by the store's name of it;
   *     asked while the store is closed
   * @return empty if nothing of it is damaged
   * @throws OsierException STORE_DAMAGED if it cannot be mended so, STORE_FULL if there is no room
   *     for the copy; the store is as it was
   */
  static Optional<Mended> mend(Path dir, long logMax, Predicate<String> isElsewhere) {
    Path copy = dir.resolve("db.mending");
    try {
      if (!Files.exists(StoreFiles.database(dir)) && Files.exists(copy)) {
        Files.move(copy, StoreFiles.database(dir)); // it was killed between its two moves
        return Optional.empty();
      }
      StoreFiles.checkUnused(dir);
      StoreFiles.delete(copy);
      List<Lost> lost = copy(dir, logMax, copy);
      if (lost.isEmpty()) {
        StoreFiles.delete(copy);
        return Optional.empty();
      }
      TreeSet<Integer> partitions = new TreeSet<>();
      lost.forEach(l -> partitions.add(l.keys.partition()));
      StoreHeader header = header(copy);
      for (int partition : partitions) {
        if (!isElsewhere.test(header.keyspaceOf(partition))) {
          throw cannot(dir, header.nameOf(partition) + ", which no other datacenter holds, is");
        }
      }
      Path aside = StoreFiles.setAside(dir).orElseThrow();
      Files.move(copy, StoreFiles.database(dir));
      String names = String.join(", ", partitions.stream().map(header::nameOf).toList());
      return Optional.of(new Mended(lost.size(), names, aside));
    } catch (RocksDBException e) {
      StoreFiles.deleteQuietly(copy);
      throw StoreErrors.of(dir, e);
    } catch (MalformedException e) {
      StoreFiles.deleteQuietly(copy);
      throw StoreErrors.damaged(dir, e);
    } catch (OsierException e) {
      StoreFiles.deleteQuietly(copy);
      throw e;
    } catch (IOException e) {
      StoreFiles.deleteQuietly(copy);
      throw new OsierException(
          ErrorCode.STORE_FULL, "cannot copy the store in " + dir + ": " + e.getMessage(), e);
    }
  }

  private static StoreHeader header(Path database) throws RocksDBException {
    try (Options options = new Options();
        RocksDB db = RocksDB.openReadOnly(options, database.toString())) {
      return StoreHeader.decode(db.get(RecordKeys.header()));
    }
  }

  private static List<Lost> copy(Path dir, long logMax, Path copy) throws RocksDBException {
    try (RocksSettings settings = new RocksSettings(Durability.ASYNC, true, (during, error) -> {});
        Options options = new Options().setParanoidChecks(true);
        ReadOptions read = new ReadOptions().setFillCache(false);
        WriteOptions write = new WriteOptions().setDisableWAL(true);
        RocksDB from = RocksDB.openReadOnly(options, StoreFiles.database(dir).toString());
        RocksDB to = RocksDB.open(settings.options(), copy.toString());
        FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      StoreSalvage salvage = new StoreSalvage(dir, logMax, from, to, read, write);
      salvage.copyWhole();
      if (!salvage.lost.isEmpty()) {
        salvage.leaveOut();
        to.flush(flush);
        to.syncWal();
      }
      return salvage.lost;
    }
  }

  // ---------------------------------------------------------------- what is whole

  private void copyWhole() throws RocksDBException {
    byte[] last = null;
    byte[] next = new byte[0];
    for (int gaps = 0; !atEnd; gaps++) {
      byte[] copied = copyFrom(next);
      last = copied == null ? last : copied;
      if (!atEnd) {
        if (last == null || gaps == GAPS_MAX) {
          throw cannot("too much of it is");
        }
        next = firstReadable(last);
        lost.addAll(lost(last, next));
      }
    }
  }

  /**
   * Copies what follows, up to what cannot be read. Returns the last key, null if there is none.
   */
  private byte @Nullable [] copyFrom(byte[] begin) throws RocksDBException {
    byte[] last = null;
    try (RocksIterator it = from.newIterator(read);
        WriteBatch batch = new WriteBatch()) {
      for (it.seek(begin); it.isValid(); it.next()) {
        last = it.key();
        batch.put(last, it.value());
        if (batch.getDataSize() > BATCH_BYTES) {
          to.write(write, batch);
          batch.clear();
        }
      }
      to.write(write, batch);
      atEnd = isWhole(it);
    }
    return last;
  }

  private static boolean isWhole(RocksIterator it) {
    try {
      it.status();
      return true;
    } catch (RocksDBException e) {
      return false;
    }
  }

  /**
   * The first record behind what cannot be read: by trial, in ever larger steps and then back in
   * ever smaller ones, since the tables do not tell where their blocks begin.
   */
  private byte[] firstReadable(byte[] last) throws RocksDBException {
    int length = last.length + Long.BYTES;
    BigInteger base = new BigInteger(1, Arrays.copyOf(last, length));
    BigInteger top = BigInteger.ONE.shiftLeft(8 * length);
    BigInteger unreadable = base;
    BigInteger step = BigInteger.ONE;
    BigInteger readable = base.add(step);
    while (readable.compareTo(top) < 0 && at(readable, length) == null) {
      unreadable = readable;
      step = step.shiftLeft(1);
      readable = base.add(step);
    }
    if (readable.compareTo(top) >= 0) {
      readable = top.subtract(BigInteger.ONE);
    }
    while (readable.subtract(unreadable).compareTo(BigInteger.ONE) > 0) {
      BigInteger middle = readable.add(unreadable).shiftRight(1);
      if (at(middle, length) == null) {
        unreadable = middle;
      } else {
        readable = middle;
      }
    }
    byte[] found = at(readable, length);
    if (found == null) {
      throw cannot("its end is"); // where its header is, too
    }
    return found;
  }

  /** The first key from a place on; null if that cannot be read, or nothing is there. */
  private byte @Nullable [] at(BigInteger place, int length) {
    byte[] bytes = place.toByteArray();
    byte[] key = new byte[length];
    int extra = Math.max(0, bytes.length - length); // a zero in front says that it is positive
    System.arraycopy(bytes, extra, key, length - bytes.length + extra, bytes.length - extra);
    try (RocksIterator it = from.newIterator(read)) {
      it.seek(key);
      return it.isValid() ? it.key() : null;
    }
  }

  // ---------------------------------------------------------------- what is not

  /** The objects that have something between two records, which both are whole. */
  private List<Lost> lost(byte[] before, byte[] after) {
    char tag = RecordKeys.tagOf(before);
    char end = RecordKeys.tagOf(after);
    if (RecordKeys.partitionOf(before) == RecordKeys.partitionOf(after)) {
      RecordKeys keys = new RecordKeys(RecordKeys.partitionOf(before));
      ObjectId first = tag == 'o' || tag == 'e' ? RecordKeys.object(before) : null;
      if (first != null && tag == end) {
        return List.of(new Lost(keys, first, Optional.of(RecordKeys.object(after))));
      }
      if (first != null && tag == 'o' && (end == 'r' || end == 's')) {
        return List.of(new Lost(keys, first, Optional.empty()));
      }
    }
    throw cannot("what is no object's, between records '" + tag + "' and '" + end + "', is");
  }

  private OsierException cannot(String what) {
    return cannot(dir, what);
  }

  private static OsierException cannot(Path dir, String what) {
    return new OsierException(
        ErrorCode.STORE_DAMAGED,
        "the store in "
            + dir
            + " cannot be mended from what is whole: "
            + what
            + " damaged. 'osier rebuild' sets the store aside and fetches everything from the"
            + " peers, 'osier restore' takes a backup");
  }

  private void leaveOut() throws RocksDBException {
    for (Lost one : lost) {
      checkNotInLog(one);
    }
    for (Lost one : lost) {
      RecordKeys keys = one.keys;
      Optional<ObjectId> end = one.to;
      to.deleteRange(
          write, keys.objectBegin(one.from), end.map(keys::objectEnd).orElseGet(keys::objectsEnd));
      to.deleteRange(
          write,
          keys.entriesBegin(one.from),
          end.map(keys::entriesEnd).orElseGet(keys::allEntriesEnd));
      to.deleteRange(
          write,
          keys.removed(one.from),
          end.isPresent() ? keys.removedBegin(end) : keys.removedEnd());
      // Of numbers of an incarnation that has ended.
      to.deleteRange(write, keys.logged(0), keys.logEnd());
      to.deleteRange(write, keys.transaction(0), keys.transactionsEnd());
    }
    for (Lost one : lost) {
      knowsNothing(one.keys);
    }
    byte[] header = to.get(RecordKeys.header());
    if (header == null) {
      throw cannot("its header is");
    }
    to.put(
        write,
        RecordKeys.header(),
        StoreHeader.decode(header).interrupted(Durability.NONE).encode());
  }

  private void checkNotInLog(Lost one) throws RocksDBException {
    try (RocksIterator it = to.newIterator(read)) {
      byte[] end = one.keys.logEnd();
      long first = 0;
      for (it.seek(one.keys.logged(0));
          it.isValid() && Arrays.compareUnsigned(it.key(), end) < 0;
          it.next()) {
        long number = RecordKeys.loggedNumber(it.key());
        first = first == 0 ? number : first;
        if (number - first >= logMax / 2) {
          throw cannot("updates that a peer has not yet, and that the log has dropped, may be");
        }
        ObjectId object = RecordValues.logged(it.value());
        if (one.has(object)) {
          throw cannot(
              "own update "
                  + number
                  + ", of the key '"
                  + object.key()
                  + "', which a peer may not have yet, may be");
        }
      }
      it.status();
    }
  }

  /** A partition is given everything, by everybody, as if it had nothing. */
  private void knowsNothing(RecordKeys keys) throws RocksDBException {
    byte[] stored = to.get(keys.state());
    if (stored == null) {
      return;
    }
    StoredState state = StoredState.decode(stored);
    StoredState nothing =
        new StoredState(
            state.self(),
            0,
            state.timestamp(),
            keysOf(keys),
            0,
            VersionVector.EMPTY,
            Map.of(),
            false,
            false,
            Forgotten.UNKNOWN);
    to.put(write, keys.state(), nothing.encode());
  }

  private long keysOf(RecordKeys keys) throws RocksDBException {
    long count = 0;
    Key last = null;
    try (RocksIterator it = to.newIterator(read)) {
      byte[] end = keys.objectsEnd();
      for (it.seek(keys.objectsBegin());
          it.isValid() && Arrays.compareUnsigned(it.key(), end) < 0;
          it.next()) {
        Key key = RecordKeys.object(it.key()).key();
        count += key.equals(last) ? 0 : 1;
        last = key;
      }
      it.status();
    }
    return count;
  }
}
