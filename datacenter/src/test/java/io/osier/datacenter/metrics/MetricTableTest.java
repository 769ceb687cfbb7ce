package io.osier.datacenter.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.propagation.host.DelayHistogram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The metrics are named as Prometheus wants it, and docs/MONITORING.md has all of them. */
class MetricTableTest {
  private static final Path DOCUMENT = Path.of("..", "docs", "MONITORING.md");
  private static final String BEGIN = "<!-- metrics: made by MetricTableTest -->\n";
  private static final String END = "<!-- metrics: end -->\n";

  /** A list, as lines of a table would be longer than a page of text is wide. */
  private static String list() {
    return MetricTable.all().stream()
        .map(
            m ->
                wrapped(
                    "- `%s` (%s): %s."
                        .formatted(
                            m.name() + (m.type() == Metric.Type.COUNTER ? "_total" : ""),
                            Stream.concat(
                                    Stream.of(m.type().label()),
                                    m.labels().isEmpty()
                                        ? Stream.empty()
                                        : Stream.of("by " + String.join(", ", m.labels())))
                                .collect(Collectors.joining(", ")),
                            m.help())))
        .collect(Collectors.joining());
  }

  /** In lines of at most 100 columns. */
  private static String wrapped(String text) {
    StringBuilder lines = new StringBuilder();
    int column = 0;
    for (String word : text.split(" ")) {
      int length = word.codePointCount(0, word.length());
      if (column > 0 && column + 1 + length > 100) {
        lines.append("\n ");
        column = 1;
      }
      lines.append(column > 0 ? " " : "").append(word);
      column += length + (column > 0 ? 1 : 0);
    }
    return lines.append("\n").toString();
  }

  @Test
  void documentation_hasEveryMetric() throws IOException {
    String document = Files.readString(DOCUMENT);
    int begin = document.indexOf(BEGIN);
    int end = document.indexOf(END);
    assertThat(begin).as("the beginning of the list").isPositive();
    assertThat(end).as("the end of the list").isGreaterThan(begin);
    assertThat(document.substring(begin + BEGIN.length(), end))
        .as("paste what is expected between the two comments of %s", DOCUMENT)
        .isEqualTo(list());
  }

  @Test
  void joining_isThereOnlyWhileItJoins() {
    Map<String, Double> joins =
        joining(
            Optional.of(
                new Snapshot.Joining(
                    1, 3, 100, OptionalLong.of(1_100), 4_096, OptionalLong.of(20))));
    assertThat(joins)
        .containsOnly(
            Map.entry("osier_joining_partitions_complete", 1.0),
            Map.entry("osier_joining_partitions", 3.0),
            Map.entry("osier_joining_objects", 100.0),
            Map.entry("osier_joining_objects_there", 1_100.0),
            Map.entry("osier_joining_bytes", 4_096.0),
            Map.entry("osier_joining_left_seconds", 20.0));
    Snapshot.Joining unknown =
        new Snapshot.Joining(1, 3, 100, OptionalLong.empty(), 4_096, OptionalLong.empty());
    assertThat(joining(Optional.of(unknown))).doesNotContainKey("osier_joining_left_seconds");
    assertThat(joining(Optional.empty())).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "osier_certificate, osier_certificate_expiry_time_seconds, 1800000000",
    "osier_audit, osier_audit_lost, 3",
    "osier_failed, osier_failed_attempts, 7"
  })
  void figuresOfTheDatacenter_areTold(String prefix, String name, double value) {
    assertThat(values(prefix, Optional.empty())).containsOnly(Map.entry(name, value));
  }

  private static Map<String, Double> joining(Optional<Snapshot.Joining> joining) {
    return values("osier_joining", joining);
  }

  private static Map<String, Double> values(String prefix, Optional<Snapshot.Joining> joining) {
    Snapshot snapshot =
        new Snapshot(
            new ReplicaId("eu", 1),
            "a version",
            0,
            0,
            List.of(),
            List.of(),
            joining,
            Map.of("CN=eu", 1_800_000_000L),
            Snapshot.Clients.NONE,
            0,
            Map.of("disk", 3L),
            Map.of("control", 7L),
            Map.of(),
            Optional.empty(),
            Optional.empty(),
            List.of());
    Map<String, Double> values = new TreeMap<>();
    for (Metric metric : MetricTable.all()) {
      if (metric.name().startsWith(prefix)) {
        metric
            .values()
            .read(
                snapshot,
                new Metric.Sink() {
                  @Override
                  public void number(double value, String... labels) {
                    values.put(metric.name(), value);
                  }

                  @Override
                  public void times(DelayHistogram times, String... labels) {
                    throw new AssertionError("a number was expected");
                  }
                });
      }
    }
    return values;
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
          .isSubsetOf(
              "keyspace",
              "peer",
              "to",
              "mode",
              "kind",
              "reason",
              "share",
              "version",
              "certificate",
              "limit",
              "late");
      if (metric.type() == Metric.Type.HISTOGRAM) {
        assertThat(metric.name()).endsWith("_seconds");
      }
    }
  }
}
