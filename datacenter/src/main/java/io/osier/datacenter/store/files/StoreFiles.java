package io.osier.datacenter.store.files;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import io.osier.datacenter.store.DamagedRanges;
import io.osier.datacenter.store.StoreSettings.Durability;
import io.osier.datacenter.store.records.RecordKeys;
import io.osier.datacenter.store.records.StoreHeader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;

/**
 * Works on the files of a datacenter's store while no process has it open: restores a backup, sets
 * a damaged store aside, checks a store for damage.
 */
public final class StoreFiles {
  /** What the file CURRENT of a database says. */
  private static final Pattern MANIFEST = Pattern.compile("MANIFEST-[0-9]+\\n");

  private static final Pattern BACKUP_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");

  /** The end of the names of stores that mending has set aside. */
  static final String ASIDE_DAMAGED = "-damaged";

  private static final DateTimeFormatter ASIDE =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss-SSS", Locale.ROOT);

  private StoreFiles() {}

  /**
   * Moves a complete mended copy ({@link StoreLayout#mended}) to where the store belongs, after the
   * damaged store was moved aside from there: the last step of {@link StoreSalvage#mend}, which
   * each start repeats, since the process may have been killed before it. If the damaged store was
   * not moved aside, the datacenter may have run on with it since, so the copy is out of date and
   * is deleted.
   *
   * @return whether the mended copy is the store now
   */
  static boolean moveMendedIntoPlace(Path dir) throws IOException {
    if (!Files.exists(StoreLayout.mended(dir))) {
      return false;
    }
    if (Files.exists(StoreLayout.database(dir))) {
      delete(StoreLayout.mended(dir));
      return false;
    }
    Files.move(StoreLayout.mended(dir), StoreLayout.database(dir));
    return true;
  }

  /**
   * Checks that no backup was being restored when the process was killed: the former store may be
   * aside already, so that the directory looks like a new store's, and if it is not, it is the one
   * that was to be replaced. Moves a mended store into place.
   *
   * @throws OsierException CONFIGURATION
   */
  public static void checkRestored(Path dir) throws IOException {
    moveMendedIntoPlace(dir);
    if (Files.exists(StoreLayout.restoring(dir))) {
      boolean hasFormer = Files.exists(StoreLayout.database(dir));
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.store.dir: a backup was being restored in "
              + dir
              + " and was interrupted: run 'osier restore' again, or delete "
              + StoreLayout.restoring(dir)
              + (hasFormer ? " to start with the former store" : " to start with nothing"));
    }
  }

  /**
   * Returns the place of a backup of this name: beside the store, so that both can share files.
   *
   * @throws OsierException INVALID_ARGUMENT if the name is not allowed, or taken
   */
  public static Path backup(Path dir, String name) {
    if (!BACKUP_NAME.matcher(name).matches()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a backup's name has letters, digits, '.', '_' and '-' and starts with none of '.' and"
              + " '-', not: "
              + name);
    }
    Path path = dir.resolve("backups").resolve(name);
    if (Files.exists(path)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "there is a backup '" + name + "' already: " + path);
    }
    return path;
  }

  /** Returns the bytes of all files below a directory. */
  public static long bytes(Path path) {
    try (Stream<Path> files = Files.walk(path)) {
      return files.mapToLong(f -> Files.isRegularFile(f) ? f.toFile().length() : 0).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Replaces a store by a backup. The backup stays as it is; the present store, if there is one, is
   * set aside. The datacenter gets a new incarnation when it starts: other datacenters know dots
   * that it gave after the backup, which must not be given again (invariant I3).
   *
   * @return the place of the former store
   * @throws OsierException CONFIGURATION if a process has the store open or the backup is of
   *     another datacenter, STORE_DAMAGED if the backup is damaged, STORE_FULL if it cannot be
   *     copied
   */
  public static Optional<Path> restore(Path dir, Path backup, String cluster, String dc) {
    if (!Files.isRegularFile(backup.resolve("CURRENT"))) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, backup + " is not a backup: there is no database in it");
    }
    checkUnused(dir);
    Path copy = StoreLayout.restoring(dir);
    try {
      delete(copy);
      Files.createDirectories(copy);
      try (Stream<Path> files = Files.list(backup)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          // A copy, not a link: a damaged sector must not damage both.
          Files.copy(file, copy.resolve(file.getFileName()));
        }
      }
      prepare(copy, backup, cluster, dc);
      Optional<Path> former = setAside(dir);
      Files.move(copy, StoreLayout.database(dir));
      return former;
    } catch (NoSuchFileException e) {
      throw new OsierException(
          ErrorCode.STORE_DAMAGED,
          "the backup " + backup + " is damaged: a file is missing: " + inBackup(e, copy, backup),
          e);
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.STORE_FULL, "cannot restore into " + dir + ": " + e.getMessage(), e);
    } finally {
      deleteQuietly(copy);
    }
  }

  /** Checks a copy of a backup, and marks it so that the next start takes a new incarnation. */
  private static void prepare(Path copy, Path backup, String cluster, String dc)
      throws IOException {
    String manifest = Files.readString(backup.resolve("CURRENT"), StandardCharsets.ISO_8859_1);
    if (!MANIFEST.matcher(manifest).matches()) {
      throw new OsierException(
          ErrorCode.STORE_DAMAGED, "the backup " + backup + " is damaged: its file CURRENT is");
    }
    if (LogChecksums.firstDamage(copy.resolve(manifest.strip())) >= 0) {
      throw new OsierException(
          ErrorCode.STORE_DAMAGED, "the backup " + backup + " is damaged: its MANIFEST is");
    }
    RocksLibrary.load();
    try (Options options = new Options().setParanoidChecks(true);
        RocksDB db = RocksDB.open(options, copy.toString());
        WriteOptions sync = new WriteOptions().setSync(true)) {
      byte[] bytes = db.get(RecordKeys.header());
      if (bytes == null) {
        throw new OsierException(
            ErrorCode.STORE_DAMAGED, "the backup " + backup + " has no header");
      }
      StoreHeader header = StoreHeader.decode(bytes);
      if (!header.cluster().equals(cluster) || !header.dc().equals(dc)) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            "the backup %s is of '%s' in cluster '%s', not of '%s' in '%s'"
                .formatted(backup, header.dc(), header.cluster(), dc, cluster));
      }
      db.verifyChecksum();
      db.put(sync, RecordKeys.header(), header.interrupted(Durability.NONE).encode());
    } catch (RocksDBException e) {
      throw new OsierException(
          ErrorCode.STORE_DAMAGED,
          "the backup " + backup + " is damaged: " + inBackup(e, copy, backup),
          e);
    }
  }

  /** Returns what is wrong with a file, which was found in the copy and is so in the backup. */
  private static String inBackup(Exception e, Path copy, Path backup) {
    return String.valueOf(e.getMessage()).replace(copy.toString(), backup.toString());
  }

  /**
   * Sets a store aside. The datacenter then starts empty, as a new incarnation, and gets the data
   * that its peers have.
   *
   * @return its new place; empty if there is no store
   * @throws OsierException CONFIGURATION if a process has the store open
   */
  public static Optional<Path> setAside(Path dir) {
    checkUnused(dir);
    try {
      moveMendedIntoPlace(dir);
      Optional<Path> aside = Optional.empty();
      if (Files.exists(StoreLayout.database(dir))) {
        aside = Optional.of(moveAside(dir, ""));
      }
      delete(StoreLayout.mending(dir));
      Files.deleteIfExists(damageNote(dir)); // was a note about the store that is aside
      return aside;
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "cannot set aside the store in " + dir + ": " + e, e);
    }
  }

  /** Moves a store aside, under a name with this end, and returns its new place. */
  static Path moveAside(Path dir, String end) throws IOException {
    String time = ASIDE.format(Instant.now().atOffset(ZoneOffset.UTC));
    return Files.move(StoreLayout.database(dir), dir.resolve("db.aside-" + time + end));
  }

  /** Deletes the stores that mending has set aside, except the newest. */
  static void deleteDamaged(Path dir, Path newest) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.list(dir)) {
      all = files.toList();
    }
    for (Path path : all) {
      String name = path.getFileName().toString();
      if (name.startsWith("db.aside-") && name.endsWith(ASIDE_DAMAGED) && !path.equals(newest)) {
        deleteQuietly(path);
      }
    }
  }

  /**
   * Returns the place of the note that a running datacenter makes when it meets damage: the next
   * start then looks for it.
   */
  public static Path damageNote(Path dir) {
    return dir.resolve("damaged");
  }

  /**
   * Mends a store in which damage was met, if possible: readable data stays, and the peers send all
   * data of the partitions with damage, as in a rebuild of these alone.
   *
   * @param logMax the most entries of a partition's log that are kept
   * @param isElsewhere tells whether another datacenter holds a keyspace, too, by the store's name
   *     of it; asked while the store is open for reading only
   * @return what was done, in words; empty if no damage was met or none is found any more
   * @throws OsierException STORE_DAMAGED, STORE_FULL or CONFIGURATION if it cannot be mended; the
   *     store is then unchanged
   */
  public static Optional<String> mend(Path dir, long logMax, Predicate<String> isElsewhere) {
    try {
      if (moveMendedIntoPlace(dir)) {
        Files.deleteIfExists(damageNote(dir));
        return Optional.of("the repair had ended already");
      }
      if (!Files.exists(damageNote(dir))) {
        return Optional.empty();
      }
      Optional<StoreSalvage.Mended> mended = StoreSalvage.mend(dir, logMax, isElsewhere);
      Files.deleteIfExists(damageNote(dir));
      return mended.map(
          m ->
              ("%d damaged ranges were left out; everything of %s is fetched from the"
                      + " peers; the damaged store is %s now")
                  .formatted(m.gaps(), m.partitions(), m.aside()));
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "cannot repair the store in " + dir + ": " + e, e);
    }
  }

  /**
   * The result of a verification that found no damage.
   *
   * @param bytes of the store's files
   * @param logEndsEarly whether the log ends within a record, as after a crash; that record was not
   *     confirmed. A file that was cut off later looks the same
   */
  public record Verified(long bytes, boolean logEndsEarly) {}

  /**
   * Reads everything, the log included, and compares checksums. If there is damage, the next start
   * looks for it, too; if there is none, an earlier note of damage is deleted.
   *
   * @throws OsierException CONFIGURATION if a process has the store open or there is none,
   *     STORE_DAMAGED with the damage
   */
  public static Verified verify(Path dir) {
    checkUnused(dir);
    Path database = StoreLayout.database(dir);
    if (!Files.exists(database)) {
      throw new OsierException(ErrorCode.CONFIGURATION, "there is no store in " + dir);
    }
    StoreErrors.checkFiles(dir);
    StoreErrors.checkUpdates(dir);
    try {
      verify(dir, WALRecoveryMode.AbsoluteConsistency);
      DamagedRanges.forget(damageNote(dir));
      return new Verified(bytes(database), false);
    } catch (RocksDBException e) {
      // Perhaps only the log's last record is incomplete. Any other damage is an error here, too.
    }
    try {
      verify(dir, WALRecoveryMode.TolerateCorruptedTailRecords);
      DamagedRanges.forget(damageNote(dir));
      return new Verified(bytes(database), true);
    } catch (RocksDBException e) {
      OsierException error = StoreErrors.of(dir, e);
      if (error.code() == ErrorCode.STORE_DAMAGED) {
        DamagedRanges.make(damageNote(dir));
      }
      throw error;
    }
  }

  private static void verify(Path dir, WALRecoveryMode log) throws RocksDBException {
    RocksLibrary.load();
    try (Options options = new Options().setParanoidChecks(true).setWalRecoveryMode(log);
        RocksDB db = RocksDB.openReadOnly(options, StoreLayout.database(dir).toString())) {
      byte[] header = db.get(RecordKeys.header());
      if (header == null) {
        throw new OsierException(ErrorCode.STORE_DAMAGED, "the store in " + dir + " has no header");
      }
      StoreHeader.decode(header);
      db.verifyChecksum();
    } catch (MalformedException e) {
      throw StoreErrors.damaged(dir, e);
    }
  }

  /**
   * Checks that no other process has locked RocksDB's lock file. Must not be called by a process
   * that has the store open: closing the channel would release that process's own lock.
   */
  static void checkUnused(Path dir) {
    Path lock = StoreLayout.database(dir).resolve("LOCK");
    if (!Files.exists(lock)) {
      return;
    }
    try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
        FileLock taken = channel.tryLock()) {
      if (taken == null) {
        throw new OverlappingFileLockException();
      }
    } catch (OverlappingFileLockException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "the store in " + dir + " is in use by a running process: stop the datacenter first",
          e);
    } catch (IOException e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION, "cannot look at " + lock + ": " + e.getMessage(), e);
    }
  }

  static void delete(Path path) throws IOException {
    if (Files.exists(path)) {
      List<Path> all;
      try (Stream<Path> files = Files.walk(path)) {
        all = files.sorted(Comparator.reverseOrder()).toList();
      }
      for (Path file : all) {
        Files.delete(file);
      }
    }
  }

  static void deleteQuietly(Path path) {
    try {
      delete(path);
    } catch (IOException e) {
      // the next restore deletes what is left
    }
  }
}
