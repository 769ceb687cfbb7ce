package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
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
  void median_isTheMiddleOfTheRounds() {
    assertThat(results().median("1 KB", "op", "operations/s")).isEqualTo(200);
    assertThat(results().median("10 KB", "op", "operations/s")).isEqualTo(7.5);
    assertThat(results().median("10 KB", "adaptive", "operations/s")).isZero();
  }

  @Test
  void table_hasMedianAndRangeOfEachAlternative() {
    assertThat(results().table("1 KB").lines())
        .containsExactly(
            "| 1 KB     |  operations/s |",
            "|---|---|",
            "| op       | 200 (100-300) |",
            "| adaptive |          5.50 |");
  }

  @Test
  void json_hasEveryRoundAndHowItWasMeasured() throws IOException {
    Path file = directory.resolve("trial.json");
    Results results = results();
    results.note("links", "none");
    results.writeJson(file, "trial", List.of("./osier", "bench", "trial"));
    JsonNode root = new ObjectMapper().readTree(file.toFile());
    assertThat(root.get("command").asText()).isEqualTo("./osier bench trial");
    assertThat(root.get("machine").get("cores").asInt()).isPositive();
    assertThat(root.get("commit").asText()).isNotEmpty();
    assertThat(root.get("notes").get("links").asText()).isEqualTo("none");
    JsonNode first = root.get("results").get(0);
    assertThat(first.get("case").asText()).isEqualTo("1 KB");
    assertThat(first.get("figures").get("operations/s").get("median").asDouble()).isEqualTo(200);
    assertThat(first.get("figures").get("operations/s").get("rounds")).hasSize(3);
  }

  @Test
  void addJson_hasWhatAnotherProcessMeasured() throws IOException {
    Path file = directory.resolve("trial.json");
    results().writeJson(file, "trial", List.of());
    Results both = results();
    both.addJson(file);
    assertThat(both.rounds("1 KB", "op", "operations/s"))
        .containsExactly(300.0, 100.0, 200.0, 300.0, 100.0, 200.0);
  }
}
