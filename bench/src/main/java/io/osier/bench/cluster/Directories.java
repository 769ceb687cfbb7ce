package io.osier.bench.cluster;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Deletes the directories of runs. */
public final class Directories {
  private Directories() {}

  /** Deletes a directory with everything in it. */
  public static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
  }

  /** Deletes a directory with everything in it, and prints a line if it cannot. */
  public static void deleteQuietly(Path directory) {
    try {
      delete(directory);
    } catch (IOException e) {
      System.err.println("cannot delete " + directory + ": " + e.getMessage());
    }
  }
}
