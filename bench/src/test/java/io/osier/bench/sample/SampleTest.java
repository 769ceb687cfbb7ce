package io.osier.bench.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Each sample comes to its end, and is short. */
final class SampleTest {
  private static final int LINES_MAX = 150;

  private static Stream<String> samples() {
    return new CommandLine(new SampleCommand()).getSubcommands().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("samples")
  void sample_comesToItsEnd(String name) {
    assertThat(new CommandLine(new SampleCommand()).execute(name)).isZero();
  }

  @Test
  void samples_areShort() throws IOException {
    try (Stream<Path> files = Files.list(sources())) {
      List<Path> samples = files.filter(f -> f.toString().endsWith("Sample.java")).toList();
      assertThat(samples).hasSameSizeAs(samples().toList());
      for (Path sample : samples) {
        assertThat(Files.readAllLines(sample)).as("%s", sample).hasSizeLessThan(LINES_MAX);
      }
    }
  }

  private static Path sources() {
    Path here = Path.of("src/main/java/io/osier/bench/sample");
    return Files.exists(here) ? here : Path.of("bench").resolve(here);
  }
}
