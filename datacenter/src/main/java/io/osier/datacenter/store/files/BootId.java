package io.osier.datacenter.store.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A file beside the database that names the run of the operating system under which the store was
 * opened last. During that run everything handed to the operating system survives, however the
 * process ended; after a restart of the system, writes without an fsync may be lost.
 *
 * <p>Linux draws a name for each of its runs. Elsewhere there is none, and each run counts as
 * another one. Not thread-safe.
 */
public final class BootId {
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int NAME_BYTES_MAX = 100;

  private final Path file;
  private final Optional<String> present;

  private BootId(Path file, Optional<String> present) {
    this.file = file;
    this.present = present;
  }

  /** Returns the boot id of the store in a directory. */
  public static BootId of(Path dir) {
    return new BootId(dir.resolve("kernel"), read(BOOT_ID));
  }

  private static Optional<String> read(Path file) {
    try {
      String name = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
      return Optional.of(name).filter(n -> !n.isEmpty() && n.length() <= NAME_BYTES_MAX);
    } catch (IOException e) {
      return Optional.empty(); // without one nothing is known
    }
  }

  /**
   * Returns whether the operating system has not been restarted since the store was last opened.
   */
  public boolean isSameRun() {
    return present.isPresent() && present.equals(read(file));
  }

  /** Notes the run under which the store is open now; if that fails, nothing is known. */
  public void write() {
    if (isSameRun()) {
      return;
    }
    try {
      if (present.isEmpty()) {
        Files.deleteIfExists(file);
      } else {
        Path next = file.resolveSibling("kernel.next");
        writeDurably(next, present.get());
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
      }
    } catch (IOException e) {
      forget();
    }
  }

  private static void writeDurably(Path file, String text) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
  }

  /** Deletes the note, as after an error of the disk, which may have lost writes. */
  public void forget() {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      // If the file stays, it names this run, and then it was the disk that failed.
    }
  }
}
