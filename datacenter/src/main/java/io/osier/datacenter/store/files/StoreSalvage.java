package io.osier.datacenter.store.files;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.StoredState;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.RecordValues;
import io.osier.datacenter.store.records.ReplicaNumbers;
import io.osier.datacenter.store.records.StoreHeader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;

/**
 * Mends a store with damaged blocks while no process has it open, by a copy. Used by one thread.
 *
 * <ol>
 *   <li>It reads all records. Objects with data in a damaged block, between two readable records,
 *       are lost.
 *   <li>It checks that peers have all that is lost, and otherwise throws and changes nothing: lost
 *       may be only objects, of keyspaces that another datacenter holds, too; none that an own
 *       update in the log names, as a peer may lack that update; and none of a partition that may
 *       have own updates of former incarnations, of which there is no log.
 *   <li>It copies the readable records without those of lost objects. The copy's header makes the
 *       datacenter take a new incarnation. The partitions with lost objects say that they have no
 *       updates of any replica, so that the peers send all that they have: joins leave the copied
 *       objects as they are and bring the lost ones back.
 *   <li>It moves the damaged store aside and the copy into its place.
 * </ol>
 */
final class StoreSalvage {
  /**
   * The result of a mending.
   *
   * @param gaps how many ranges were left out
   * @param partitions the partitions that are fetched anew, in words
   * @param aside where the damaged store is now
   */
  record Mended(int gaps, String partitions, Path aside) {}

  /** The objects left out, both ends included; to the partition's last one if there is no end. */
  private record Lost(RecordKeys keys, ObjectId from, Optional<ObjectId> to) {
    boolean has(ObjectId object) {
      return object.compareTo(from) >= 0 && (to.isEmpty() || object.compareTo(to.get()) <= 0);
    }
  }

  private final Path dir;
  private final long logMax;
  private final Predicate<String> isElsewhere;
  private final RocksDB from;
  private final ReadOptions read;
  private final List<Lost> lost = new ArrayList<>();

  /** The partitions of the lost objects, in words. */
  private String names = "";

  private StoreSalvage(
      Path dir, long logMax, Predicate<String> isElsewhere, RocksDB from, ReadOptions read) {
    this.dir = dir;
    this.logMax = logMax;
    this.isElsewhere = isElsewhere;
    this.from = from;
    this.read = read;
  }

  /**
   * Mends a store.
   *
   * @param logMax the most entries of a partition's log that are kept
   * @param isElsewhere tells whether another datacenter holds a keyspace, too, by the store's name
   *     of it; asked while the store is open for reading only
   * @return empty if nothing of it is damaged
   * @throws OsierException STORE_DAMAGED if it cannot be mended this way, STORE_FULL if there is no
   *     room for the copy; the store is then unchanged
   */
  static Optional<Mended> mend(Path dir, long logMax, Predicate<String> isElsewhere) {
    Path copy = StoreLayout.mending(dir);
    try {
      StoreFiles.checkUnused(dir);
      if (Files.exists(copy)) {
        throw new OsierException(
            ErrorCode.STORE_DAMAGED,
            "repairing the store in "
                + dir
                + " did not end at the last start (it crashed or was killed): this start serves"
                + " what is not damaged without trying again, the next one tries again");
      }
      Files.createDirectories(copy); // left by a process that was killed
      StoreSalvage salvage = copy(dir, logMax, isElsewhere, copy);
      if (salvage.lost.isEmpty()) {
        StoreFiles.delete(copy);
        return Optional.empty();
      }
      Files.move(copy, StoreLayout.mended(dir)); // from now on the copy is complete
      Path aside = StoreFiles.moveAside(dir, StoreFiles.ASIDE_DAMAGED);
      StoreFiles.moveMendedIntoPlace(dir);
      StoreFiles.deleteDamaged(dir, aside);
      return Optional.of(new Mended(salvage.lost.size(), salvage.names, aside));
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

  private static StoreSalvage copy(Path dir, long logMax, Predicate<String> isElsewhere, Path copy)
      throws RocksDBException, IOException {
    RocksLibrary.load();
    StoreErrors.checkFiles(dir);
    try (Options options = // as at a start: records missing from the log's end are no damage
            new Options()
                .setParanoidChecks(true)
                .setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords);
        ReadOptions read = new ReadOptions().setFillCache(false);
        RocksDB from = RocksDB.openReadOnly(options, StoreLayout.database(dir).toString())) {
      StoreSalvage salvage = new StoreSalvage(dir, logMax, isElsewhere, from, read);
      salvage.walk(batch -> {}); // before it fills the disk
      if (!salvage.lost.isEmpty()) {
        salvage.checkPeersHaveLost();
        checkRoom(dir);
        salvage.copy(copy);
      }
      return salvage;
    }
  }

  private static void checkRoom(Path dir) throws IOException {
    long bytes = StoreFiles.bytes(StoreLayout.database(dir));
    long free = Files.getFileStore(dir).getUsableSpace();
    if (free < bytes) {
      throw new OsierException(
          ErrorCode.STORE_FULL,
          "repairing the store in "
              + dir
              + " needs a copy of it: "
              + bytes
              + " bytes, but its disk has "
              + free
              + " free: make room and restart");
    }
  }

  private void walk(DamagedWalk.Whole whole) throws RocksDBException {
    lost.clear();
    new DamagedWalk(from, read, this::cannot)
        .walk(whole, (before, after) -> lost.addAll(lost(before, after)));
  }

  private void copy(Path copy) throws RocksDBException {
    try (RocksSettings settings =
            new RocksSettings(Durability.ASYNC, true, false, (during, error) -> {});
        WriteOptions write = new WriteOptions().setDisableWAL(true);
        RocksDB to = RocksDB.open(settings.options(), copy.toString());
        FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
      walk(batch -> to.write(write, batch));
      checkPeersHaveLost(); // of records that could not be read only this time
      deleteLost(to, write);
      to.flush(flush);
      to.syncWal();
    }
  }

  // ---------------------------------------------------------------- lost objects

  /** Returns the objects with data between two readable records. */
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
    throw cannot("the damage between records '" + tag + "' and '" + end + "' is not in an object");
  }

  private OsierException cannot(String why) {
    return new OsierException(
        ErrorCode.STORE_DAMAGED,
        "the store in "
            + dir
            + " cannot be repaired: "
            + why
            + ". 'osier rebuild' sets the store aside and fetches everything from the"
            + " peers, 'osier restore' takes a backup");
  }

  /** Throws if data may be lost that no other datacenter has. */
  private void checkPeersHaveLost() throws RocksDBException {
    byte[] stored = from.get(RecordKeys.header());
    if (stored == null) {
      throw cannot("its header is damaged");
    }
    StoreHeader header = StoreHeader.decode(stored);
    TreeSet<Integer> partitions = new TreeSet<>();
    lost.forEach(l -> partitions.add(l.keys.partition()));
    for (int partition : partitions) {
      if (!isElsewhere.test(header.keyspaceOf(partition))) {
        throw cannot(header.nameOf(partition) + " is damaged, and no other datacenter holds it");
      }
      checkNoFormerIncarnation(header.nameOf(partition), new RecordKeys(partition));
      if (!hasReadableObject(new RecordKeys(partition))) {
        // The partition would look empty, as if it had never had data, and would serve without
        // peers.
        throw cannot("everything of " + header.nameOf(partition) + " is damaged");
      }
    }
    for (Lost one : lost) {
      checkNotInLog(one);
    }
    names = String.join(", ", partitions.stream().map(header::nameOf).toList());
  }

  /** Returns whether a partition has an object outside its lost ranges. */
  private boolean hasReadableObject(RecordKeys keys) {
    byte[] begin = keys.objectsBegin();
    for (Lost one : lost) {
      if (one.keys.partition() == keys.partition()) {
        if (hasBetween(begin, keys.objectBegin(one.from))) {
          return true;
        }
        begin = one.to.map(keys::objectEnd).orElseGet(keys::objectsEnd);
      }
    }
    return hasBetween(begin, keys.objectsEnd());
  }

  private boolean hasBetween(byte[] begin, byte[] end) {
    try (RocksIterator it = from.newIterator(read)) {
      it.seek(begin);
      return it.isValid() && Arrays.compareUnsigned(it.key(), end) < 0; // false if it is unreadable
    }
  }

  /**
   * Throws if the partition may have updates of former incarnations: only the last one has a log,
   * which tells what a peer may lack.
   */
  private void checkNoFormerIncarnation(String name, RecordKeys keys) throws RocksDBException {
    byte[] stored = from.get(keys.state());
    if (stored == null) {
      throw cannot("the record of what " + name + " has is missing");
    }
    StoredState state = StoredState.decode(stored);
    ReplicaNumbers named = new ReplicaNumbers(); // the replicas that records of any partition name
    named.read(from::get);
    List<ReplicaId> replicas = new ArrayList<>(named.all());
    for (int i = 0; i < state.through().size(); i++) {
      replicas.add(state.through().replica(i));
    }
    for (ReplicaId replica : replicas) {
      ReplicaId life = HolderTerms.life(replica); // the data of an ended term was dropped
      if (life.dc().equals(state.self().dc()) && !life.equals(HolderTerms.life(state.self()))) {
        throw cannot(
            name
                + " has updates of "
                + replica
                + ", a former incarnation, which may be damaged; no log has them, and a peer may"
                + " lack them");
      }
    }
  }

  private void deleteLost(RocksDB to, WriteOptions write) throws RocksDBException {
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
      // Their numbers are those of an incarnation that has ended.
      to.deleteRange(write, keys.logged(0), keys.logEnd());
      to.deleteRange(write, keys.transaction(0), keys.transactionsEnd());
    }
    for (Lost one : lost) {
      resetProgress(to, write, one.keys);
    }
    byte[] header = to.get(RecordKeys.header());
    if (header == null) {
      throw cannot("its header is damaged");
    }
    to.put(
        write,
        RecordKeys.header(),
        StoreHeader.decode(header).interrupted(Durability.NONE).encode());
  }

  private void checkNotInLog(Lost one) throws RocksDBException {
    try (RocksIterator it = from.newIterator(read)) {
      byte[] end = one.keys.logEnd();
      long first = 0;
      for (it.seek(one.keys.logged(0));
          it.isValid() && Arrays.compareUnsigned(it.key(), end) < 0;
          it.next()) {
        long number = RecordKeys.loggedNumber(it.key());
        first = first == 0 ? number : first;
        if (number - first >= logMax / 2) {
          throw cannot("updates that a peer lacks and the log has dropped may be damaged");
        }
        ObjectId object = RecordValues.logged(it.value());
        if (one.has(object)) {
          throw cannot(
              "own update "
                  + number
                  + " of the key '"
                  + object.key()
                  + "' may be damaged, and a peer may lack it");
        }
      }
      it.status();
    }
  }

  /** Makes a partition ask its peers for everything, as if it had no data. */
  private void resetProgress(RocksDB to, WriteOptions write, RecordKeys keys)
      throws RocksDBException {
    byte[] stored = to.get(keys.state());
    if (stored == null) {
      // see checkNoFormerIncarnation
      throw cannot("the record of what a partition has is missing");
    }
    StoredState state = StoredState.decode(stored);
    StoredState nothing =
        StoredState.uncommitted(
            state.self(), state.timestamp(), keysOf(to, keys), VersionVector.EMPTY);
    to.put(write, keys.state(), nothing.encode());
  }

  private static long keysOf(RocksDB to, RecordKeys keys) throws RocksDBException {
    long count = 0;
    Key last = null;
    try (RocksIterator it = to.newIterator()) {
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
