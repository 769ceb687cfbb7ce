package io.osier.datacenter.store.files;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

/**
 * Loads RocksDB's native library, which is in its jar for some systems and must be unpacked.
 *
 * <p>RocksDB unpacks it at every start, into a file that stays behind if the process is killed. If
 * the launcher names a folder, the library is unpacked there once, and the next starts use that
 * file.
 */
final class RocksLibrary {
  /** The system property that names the folder in which the library is kept between starts. */
  static final String KEPT = "osier.native.dir";

  private static final int BUFFER_BYTES = 1 << 18;

  private RocksLibrary() {}

  /**
   * Loads the library unless it is loaded.
   *
   * @throws OsierException CONFIGURATION if it cannot be loaded here, with advice
   */
  static void load() {
    try {
      if (!isLoadedFromFolder(System.getProperty(KEPT))) {
        RocksDB.loadLibrary();
      }
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

  private static boolean isLoadedFromFolder(@Nullable String folder) {
    if (folder == null) {
      return false;
    }
    // RocksDB uses different names for the library in its jar and in a folder.
    String inJar = Environment.getJniLibraryFileName("rocksdb");
    Path there = Path.of(folder).toAbsolutePath();
    Path kept = there.resolve(Environment.getJniLibraryFileName("rocksdbjni"));
    if (!keep(RocksDB.class.getResource("/" + inJar), kept)) {
      return false;
    }
    try {
      RocksDB.loadLibrary(List.of(there.toString()));
      return true;
    } catch (UnsatisfiedLinkError e) {
      return false; // a folder from which programs may not run
    }
  }

  /**
   * Makes sure that a file is the same as in a jar. Several processes may do so at once.
   *
   * @param entry the file in the jar; null if there is none
   * @param kept the file, in a folder that need not exist
   * @return whether it is; false if it is in no jar, or cannot be written
   */
  static boolean keep(@Nullable URL entry, Path kept) {
    try {
      if (entry == null || !(entry.openConnection() instanceof JarURLConnection connection)) {
        return false;
      }
      if (!isWhole(kept, connection.getJarEntry())) {
        Path folder = requireNonNull(kept.getParent());
        Files.createDirectories(folder);
        Path unpacked = Files.createTempFile(folder, "unpacked", "");
        try {
          try (InputStream in = connection.getInputStream()) {
            Files.copy(in, unpacked, StandardCopyOption.REPLACE_EXISTING);
          }
          Files.move(unpacked, kept, StandardCopyOption.ATOMIC_MOVE);
        } finally {
          Files.deleteIfExists(unpacked);
        }
      }
      return true;
    } catch (IOException | SecurityException e) {
      return false;
    }
  }

  /**
   * Returns whether a file is the one in the jar: loading a damaged library crashes the process.
   */
  private static boolean isWhole(Path file, JarEntry wanted) throws IOException {
    if (!Files.isRegularFile(file) || Files.size(file) != wanted.getSize()) {
      return false;
    }
    CRC32 sum = new CRC32();
    byte[] buffer = new byte[BUFFER_BYTES];
    try (InputStream in = Files.newInputStream(file)) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        sum.update(buffer, 0, n);
      }
    }
    return sum.getValue() == wanted.getCrc();
  }

  private static String reason(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause.getMessage() == null ? cause.toString() : cause.getMessage();
  }
}
