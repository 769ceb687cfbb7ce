package io.osier.datacenter.store;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import org.rocksdb.RocksDB;

/** RocksDB's native library, which is in its jar for some systems and is unpacked to be loaded. */
final class RocksLibrary {
  private RocksLibrary() {}

  /**
   * Loads it unless that is done.
   *
   * @throws OsierException CONFIGURATION if it cannot be loaded here, with what helps
   */
  static void load() {
    try {
      RocksDB.loadLibrary();
    } catch (RuntimeException | LinkageError e) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.store.dir: RocksDB's native library cannot be loaded on "
              + System.getProperty("os.name")
              + " "
              + System.getProperty("os.arch")
              + " ("
              + reason(e)
              + "). Osier's distribution has it for Linux with glibc on x86_64 and aarch64; for"
              + " another system put RocksDB's own jar in the place of lib/rocksdbjni-*.jar. It is"
              + " unpacked into "
              + System.getProperty("java.io.tmpdir")
              + ", from where programs must be allowed to run, or where ROCKSDB_SHAREDLIB_DIR says."
              + " With osier.store.dir = \"\" everything is in memory, and it is not needed",
          e);
    }
  }

  private static String reason(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause.getMessage() == null ? cause.toString() : cause.getMessage();
  }
}
