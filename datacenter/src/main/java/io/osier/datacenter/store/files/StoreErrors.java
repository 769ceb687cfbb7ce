package io.osier.datacenter.store.files;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Translates RocksDB's errors into a datacenter's, with advice. */
public final class StoreErrors {
  private static final String FIRST_MANIFEST = "MANIFEST-000001\n";

  private StoreErrors() {}

  /** Returns the error of a store that was being opened, read or written. */
  public static OsierException of(Path dir, RocksDBException e) {
    Status status = e.getStatus();
    if (status == null) {
      return fault(dir, e);
    }
    return switch (status.getCode()) {
      case Corruption, NotFound -> damaged(dir, e);
      case IOError -> ofIo(dir, status, e);
      case NotSupported ->
          new OsierException(
              ErrorCode.CONFIGURATION,
              "the store in "
                  + dir
                  + " has a form that this version cannot read: "
                  + e.getMessage()
                  + "; start the version that wrote it",
              e);
      default -> fault(dir, e);
    };
  }

  /** Only the operating system's words tell one error of the disk from another. */
  private static OsierException ofIo(Path dir, Status status, RocksDBException e) {
    String message = String.valueOf(e.getMessage());
    if (status.getSubCode() == Status.SubCode.NoSpace || message.contains("No space left")) {
      return error(
          ErrorCode.STORE_FULL, dir, "finds no space on its disk", e, "make room on the disk");
    }
    if (message.contains("No such file")) {
      return damaged(dir, "a file is missing: " + message, e);
    }
    if (message.contains("lock ") || message.contains("LOCK:")) {
      return error(
          ErrorCode.CONFIGURATION,
          dir,
          "is in use by another process",
          e,
          "stop that, or set osier.store.dir to another directory");
    }
    if (message.contains("Permission denied") || message.contains("Read-only file system")) {
      return error(
          ErrorCode.CONFIGURATION,
          dir,
          "may not be written",
          e,
          "let this process's user read and write osier.store.dir");
    }
    if (message.contains("Too many open files")) {
      return error(
          ErrorCode.CONFIGURATION,
          dir,
          "cannot open its files",
          e,
          "allow this process more open files (ulimit -n), some thousand");
    }
    return error(
        ErrorCode.STORE_DAMAGED,
        dir,
        "cannot be read or written",
        e,
        "look at the disk and the system's log; with the disk mended start again, or 'osier"
            + " rebuild' on another one");
  }

  private static OsierException error(
      ErrorCode code, Path dir, String what, RocksDBException e, String help) {
    return new OsierException(
        code, "the store in " + dir + " " + what + ": " + e.getMessage() + "; " + help, e);
  }

  private static OsierException fault(Path dir, RocksDBException e) {
    return new OsierException(
        ErrorCode.INTERNAL, "the database of the store in " + dir + ": " + e.getMessage(), e);
  }

  /** Returns the error of a store whose bytes are not those that were written. */
  public static OsierException damaged(Path dir, Exception e) {
    return damaged(dir, String.valueOf(e.getMessage()), e);
  }

  private static OsierException damaged(Path dir, String what, @Nullable Exception cause) {
    return new OsierException(
        ErrorCode.STORE_DAMAGED,
        "the store in "
            + dir
            + " is damaged: "
            + what
            + "; nothing that is damaged is served. 'osier rebuild' sets the store aside and"
            + " fetches everything from the peers, 'osier restore' takes a backup",
        cause);
  }

  /**
   * Checks that the files exist without which RocksDB would silently start empty, or without the
   * latest updates: it takes a directory without CURRENT for a new one, and one without a log for
   * one without late writes. Also checks MANIFEST for damage.
   *
   * @throws OsierException STORE_DAMAGED
   */
  public static void checkFiles(Path dir) {
    Path database = StoreLayout.database(dir);
    if (!Files.isDirectory(database)) {
      return;
    }
    List<String> names;
    try (Stream<Path> files = Files.list(database)) {
      names = files.map(f -> f.getFileName().toString()).toList();
    } catch (IOException e) {
      throw unreadable(dir, e);
    }
    boolean used =
        names.stream().anyMatch(n -> n.startsWith("MANIFEST-") || n.endsWith(".sst"))
            || names.contains("CURRENT");
    if (used && !names.contains("CURRENT")) {
      throw damaged(dir, "the file CURRENT is missing", null);
    }
    if (used && names.stream().noneMatch(n -> n.endsWith(".log")) && !isFirstStart(dir)) {
      throw damaged(dir, "its log (a file that ends in .log) is missing", null);
    }
    checkLogs(dir, names.stream().filter(n -> n.startsWith("MANIFEST-")).toList());
  }

  /**
   * Returns whether the first start was killed: the first MANIFEST is replaced before there is a
   * log.
   */
  private static boolean isFirstStart(Path dir) {
    try {
      return Files.readString(StoreLayout.database(dir).resolve("CURRENT")).equals(FIRST_MANIFEST);
    } catch (IOException e) {
      throw unreadable(dir, e);
    }
  }

  /** Checks the checksums of the logs of updates; RocksDB checks those of tables. */
  static void checkUpdates(Path dir) {
    try (Stream<Path> files = Files.list(StoreLayout.database(dir))) {
      List<String> names = files.map(f -> f.getFileName().toString()).toList();
      checkLogs(dir, names.stream().filter(n -> n.endsWith(".log")).toList());
    } catch (IOException e) {
      throw unreadable(dir, e);
    }
  }

  private static void checkLogs(Path dir, List<String> names) {
    for (String name : names) {
      try {
        long at = LogChecksums.firstDamage(StoreLayout.database(dir).resolve(name));
        if (at >= 0) {
          throw damaged(dir, "a checksum is wrong in the file " + name + " at byte " + at, null);
        }
      } catch (IOException e) {
        throw unreadable(dir, e);
      }
    }
  }

  private static OsierException unreadable(Path dir, IOException e) {
    return new OsierException(
        ErrorCode.CONFIGURATION, "osier.store.dir: cannot read " + dir + ": " + e, e);
  }
}
