package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {
  @TempDir Path directory;

  private static Results results() {
    Results results = new Results();
    for (double value : new double[] {300, 100, 200}) {
      results.add("1 KB", "op", "operations/s", value);
    }
    results.add("1 KB", "adaptive", "operations/s", 5.5);
    results.add("10 KB", "op", "operations/s", 7);
    results.add("10 KB", "op", "operations/s", 8);
    return results;
  }

  @Test
  void table_hasMedianAndRangeOfEachAlternative() {
    assertThat(results().table("1 KB").lines())
        .containsExactly("1 KB      operations/s", "op        200 (100-300)", "adaptive  5.50");
    assertThat(results().table("10 KB").lines()).endsWith("op     7.50 (7-8)");
  }

  @Test
  void addJson_hasWhatAnotherProcessMeasured() throws IOException {
    Path file = directory.resolve("trial.json");
    results().writeJson(file);
    Results both = results();
    both.addJson(file);
    assertThat(both.rounds("1 KB", "op", "operations/s"))
        .containsExactly(300.0, 100.0, 200.0, 300.0, 100.0, 200.0);
  }
}
