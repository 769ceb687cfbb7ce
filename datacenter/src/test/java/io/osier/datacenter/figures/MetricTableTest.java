package io.osier.datacenter.figures;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The metrics are named as Prometheus wants it, and docs/OPERATIONS.md has all of them. */
class MetricTableTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "OPERATIONS.md");
  private static final String BEGIN = "<!-- metrics: made by MetricTableTest -->\n";
  private static final String END = "<!-- metrics: end -->\n";

  private static String table() {
    return MetricTable.all().stream()
        .map(
            m ->
                "| `%s` | %s | %s | %s |\n"
                    .formatted(
                        m.shownName(), m.type().label(), String.join(", ", m.labels()), m.help()))
        .collect(
            Collectors.joining(
                "", "| metric | type | labels | meaning |\n|---|---|---|---|\n", ""));
  }

  @Test
  void documentation_hasEveryMetric() throws IOException {
    String document = Files.readString(DOCUMENT);
    int begin = document.indexOf(BEGIN);
    int end = document.indexOf(END);
    assertThat(begin).as("the beginning of the table").isPositive();
    assertThat(end).as("the end of the table").isGreaterThan(begin);
    assertThat(document.substring(begin + BEGIN.length(), end))
        .as("paste what is expected between the two comments of %s", DOCUMENT)
        .isEqualTo(table());
  }

  @Test
  void names_areAsPrometheusWantsThem() {
    List<Metric> all = MetricTable.all();
    assertThat(all).extracting(Metric::name).doesNotHaveDuplicates();
    for (Metric metric : all) {
      assertThat(metric.name()).matches("osier(_[a-z]+)+").doesNotEndWith("_total");
      assertThat(metric.help()).as(metric.name()).isNotBlank().doesNotEndWith(".");
      assertThat(metric.labels())
          .as(metric.name())
          .isSubsetOf("keyspace", "peer", "mode", "kind", "reason", "share", "version");
      if (metric.type() == Metric.Type.HISTOGRAM) {
        assertThat(metric.name()).endsWith("_seconds");
      }
    }
  }
}
