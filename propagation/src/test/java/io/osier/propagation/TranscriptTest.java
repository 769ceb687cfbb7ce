package io.osier.propagation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Golden transcripts: a drawing, the commands ({@code >}), and after each everything that came out.
 * With the environment variable {@code OSIER_TRANSCRIPTS} set to a directory they are written there
 * as they are now.
 */
final class TranscriptTest {
  @ParameterizedTest
  @ValueSource(strings = {"catch-up", "gap", "healing-through-a-third", "cut", "switch-of-modes"})
  void everythingThatComesOut_isAsItWas(String name) throws IOException {
    String golden;
    try (InputStream in = getClass().getResourceAsStream(name + ".txt")) {
      golden = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    String now = replayed(golden);
    String directory = System.getenv("OSIER_TRANSCRIPTS");
    if (directory != null) {
      Files.writeString(Path.of(directory, name + ".txt"), now);
    }
    assertThat(now).isEqualTo(golden);
  }

  private static String replayed(String golden) {
    int commands = golden.indexOf("\n> ") + 1;
    StringBuilder text = new StringBuilder(golden.substring(0, commands));
    Script script = new Script();
    golden
        .substring(commands)
        .lines()
        .filter(line -> line.startsWith("> "))
        .forEach(line -> text.append(line).append('\n').append(script.run(line.substring(2))));
    return text.toString();
  }
}
