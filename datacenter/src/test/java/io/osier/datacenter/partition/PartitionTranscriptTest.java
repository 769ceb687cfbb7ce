package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Golden transcripts of the partition as a whole: a drawing, the commands ({@code >}), and after
 * each the effects. With the environment variable {@code OSIER_TRANSCRIPTS} set to a directory they
 * are written there as they are now.
 */
final class PartitionTranscriptTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "durable-write",
        "parked-demand",
        "conflicting-transactions",
        "rights",
        "switch-of-modes",
        "full-queue",
        "spread"
      })
  void everyEffect_isAsItWas(String name) throws IOException {
    String golden;
    try (InputStream in = getClass().getResourceAsStream(name + ".txt")) {
      golden = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    int commands = golden.indexOf("\n> ") + 1;
    StringBuilder now = new StringBuilder(golden.substring(0, commands));
    Script script = new Script();
    golden
        .substring(commands)
        .lines()
        .filter(line -> line.startsWith("> "))
        .forEach(line -> now.append(line).append('\n').append(script.run(line.substring(2))));
    String directory = System.getenv("OSIER_TRANSCRIPTS");
    if (directory != null) {
      Files.writeString(Path.of(directory, name + ".txt"), now);
    }
    assertThat(now.toString()).isEqualTo(golden);
  }
}
