package io.osier.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/**
 * Golden transcripts: a drawing, the commands ({@code >}), and after each everything that it
 * printed. With the environment variable {@code OSIER_TRANSCRIPTS} set to a directory, the present
 * ones are written there.
 */
public final class Transcripts {
  private Transcripts() {}

  /**
   * Asserts that the commands of a transcript print what it says.
   *
   * @param of the class beside which the transcript lies
   * @param script runs a command; returns what it printed, in lines
   */
  public static void assertAsItWas(Class<?> of, String name, UnaryOperator<String> script)
      throws IOException {
    String golden;
    try (InputStream in = of.getResourceAsStream(name + ".txt")) {
      golden = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    int commands = golden.indexOf("\n> ") + 1;
    StringBuilder now = new StringBuilder(golden.substring(0, commands));
    golden
        .substring(commands)
        .lines()
        .filter(line -> line.startsWith("> "))
        .forEach(line -> now.append(line).append('\n').append(script.apply(line.substring(2))));
    String directory = System.getenv("OSIER_TRANSCRIPTS");
    if (directory != null) {
      Path file = Path.of(directory, of.getPackageName().replace('.', '/'), name + ".txt");
      Files.createDirectories(file.getParent());
      Files.writeString(file, now);
    }
    assertThat(now.toString()).isEqualTo(golden);
  }
}
