package io.osier.bench.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsTest {
  @TempDir Path directory;

  private static Results results() {
    Results results = new Results("trial");
    for (double value : new double[] {300, 100, 200}) {
      results.add("1 KB", "op", "operations/s", value);
    }
    results.add("1 KB", "adaptive", "operations/s", 5.5);
    results.add("10 KB", "op", "operations/s", 7);
    results.add("10 KB", "op", "operations/s", 8);
    results.point("over time", "op", 0, 1);
    results.point("over time", "op", 1, 4);
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
  void tableOfAMetric_leavesOutWhatWasNotMeasured() {
    assertThat(results().table("operations/s", "size").lines())
        .containsExactly(
            "operations/s",
            "| size  |            op | adaptive |",
            "|---|---|---|",
            "| 1 KB  | 200 (100-300) |     5.50 |",
            "| 10 KB |    7.50 (7-8) |          |");
  }

  @Test
  void tableOfWorkloads_hasALineForEachAlternativeOfEach() {
    assertThat(results().table("growth", workload -> workload.startsWith("10")).lines())
        .containsExactly(
            "| growth    | operations/s |", "|---|---|", "| 10 KB, op |   7.50 (7-8) |");
  }

  @Test
  void json_hasEveryRoundAndHowItWasMeasured() throws IOException {
    Path file = directory.resolve("trial.json");
    Results results = results();
    results.note("links", "none");
    results.writeJson(file, List.of("./osier", "bench", "trial"));
    JsonNode root = new ObjectMapper().readTree(file.toFile());
    assertThat(root.get("command").asText()).isEqualTo("./osier bench trial");
    assertThat(root.get("machine").get("cores").asInt()).isPositive();
    assertThat(root.get("commit").asText()).isNotEmpty();
    assertThat(root.get("notes").get("links").asText()).isEqualTo("none");
    JsonNode first = root.get("results").get(0);
    assertThat(first.get("workload").asText()).isEqualTo("1 KB");
    assertThat(first.get("operations/s").get("median").asDouble()).isEqualTo(200);
    assertThat(first.get("operations/s").get("rounds")).hasSize(3);
    assertThat(root.get("curves").get("over time").get("op").get(1).get(1).asInt()).isEqualTo(4);
  }

  @Test
  void plots_areImages_andOnlyOfWhatWasMeasured() throws IOException {
    Plots plots = new Plots(results(), directory);
    plots.bars("bars", "Bars", "operations/s");
    plots.bars("part", "Bars", "operations/s", List.of("1 KB"));
    plots.bars("nothing", "Bars", "operations/s", List.of("2 TB"));
    plots.lines("lines", "Lines", "size", "operations/s", true);
    plots.curves("curves", "over time", "s", "operations");
    plots.curves("nothing", "not measured", "s", "operations");
    for (String name : List.of("bars", "part", "lines", "curves")) {
      assertThat(ImageIO.read(directory.resolve(name + ".png").toFile()).getWidth()).isPositive();
    }
    assertThat(Files.exists(directory.resolve("nothing.png"))).isFalse();
  }
}
