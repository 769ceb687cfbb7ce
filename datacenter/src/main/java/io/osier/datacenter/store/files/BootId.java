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
 * opened last. As long as it is the same run, all that was handed to the operating system is there,
 * however the process ended; after another one, what no fsync has made durable may be lost.
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

  /** Of the store in a directory. */
  public static BootId of(Path dir) {
    return new BootId(dir.resolve("kernel"), read(BOOT_ID));
  }

  private static Optional<String> read(Path file) {
    try {
      String name = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
      return Optional.of(name).filter(n -> !n.isEmpty() && n.length() <= NAME_BYTES_MAX);
    } catch (IOException e) {
      return Optional.empty(); // none is there, which says that nothing is known
    }
  }

  /** Whether the operating system has run on since the store was opened last. */
  public boolean isSameRun() {
    return present.isPresent() && present.equals(read(file));
  }

  /** Notes under which run the store is open now; if that fails, nothing is known. */
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

  /** From now on nothing is known, as after an error of the disk: it may have lost something. */
  public void forget() {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      // What is left there is the name of this run at most, and then the disk is what failed.
    }
  }
}
