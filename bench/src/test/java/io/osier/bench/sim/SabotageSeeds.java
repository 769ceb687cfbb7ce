package io.osier.bench.sim;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The seed at which each sabotage is noticed, so that a test need not look for it. What is found
 * elsewhere is appended to {@code target/sabotage-seeds.txt}.
 */
final class SabotageSeeds {
  /** From which seed on others than the pinned ones are looked for; empty if they are not. */
  static final OptionalLong FROM =
      Stream.ofNullable(Long.getLong("osier.sabotage.from")).mapToLong(n -> n).findFirst();

  private static final String RESOURCE = "sabotage-seeds.txt";
  private static final Path FOUND = Path.of("target", RESOURCE);

  private SabotageSeeds() {}

  /**
   * The seed that a sabotage of a name was noticed at, if pinned ones are asked for; lines are a
   * seed, a blank and the name.
   */
  static OptionalLong pinned(String name) throws IOException {
    if (FROM.isPresent()) {
      return OptionalLong.empty();
    }
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

  /** Notes and prints that a sabotage was noticed at a seed that was looked for. */
  static void pin(String name, long seed) throws IOException {
    String line = seed + " " + name + "\n";
    Files.writeString(FOUND, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    System.out.print("sabotage: noticed at seed " + line);
    if (FROM.isEmpty()) {
      System.out.println(
          "sabotage: the pinned seed is out of date, put that line into " + RESOURCE);
    }
  }
}
