package io.osier.bench.sim;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;

/**
 * The seed at which each sabotage is noticed, so that a test need not look for it. They are looked
 * for anew with {@code -Dosier.sabotage.anew=true}: what is found is appended to {@code
 * target/sabotage-seeds.txt}, which then takes the place of the resource.
 */
final class SabotageSeeds {
  /** Whether the pinned seeds are left aside, and others are looked for. */
  static final boolean ANEW = Boolean.getBoolean("osier.sabotage.anew");

  private static final String RESOURCE = "sabotage-seeds.txt";
  private static final Path FOUND = Path.of("target", RESOURCE);

  private SabotageSeeds() {}

  /** The seed that a sabotage of a name was noticed at; lines are a seed, a blank and the name. */
  static OptionalLong pinned(String name) throws IOException {
    try (InputStream in = SabotageSeeds.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        return OptionalLong.empty();
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.endsWith(" " + name))
          .mapToLong(line -> Long.parseLong(line.substring(0, line.indexOf(' '))))
          .findFirst();
    }
  }

  /** Notes and prints that a sabotage was noticed at another seed than the pinned one. */
  static void pin(String name, long seed) throws IOException {
    String line = seed + " " + name + "\n";
    Files.writeString(FOUND, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    System.out.print(
        "sabotage: the pinned seed is out of date, put into " + RESOURCE + ": " + line);
  }
}
