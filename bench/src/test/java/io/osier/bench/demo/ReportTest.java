package io.osier.bench.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.Figures;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** What the demo says at its end. */
final class ReportTest {
  private final List<Kind> kinds = DemoCommand.kinds();
  private final Map<String, Long> bounds = new HashMap<>();

  private static Figures figures(Map<String, Long> sums, Map<String, Figures> keyspaces) {
    return new Figures(sums, new Histogram(3_600_000_000L, 2), keyspaces);
  }

  /** Of each kind 1,000 bytes as operations: of likes 100 were shipped, of all others 900. */
  private ObjectNode json(long late) {
    Map<String, Figures> keyspaces = new HashMap<>();
    for (Kind kind : kinds) {
      bounds.put(kind.keyspace, 2_000L);
      kind.acknowledged.add(10);
      long shipped = kind.keyspace.equals("likes") ? 100 : 900;
      keyspaces.put(
          kind.keyspace,
          figures(
              Map.of("op_bytes", 1_000L, "shipped_bytes", shipped, "ops_shipped", 4L), Map.of()));
    }
    Map<String, Long> sums =
        Map.of(
            "op_bytes",
            6_000L,
            "shipped_bytes",
            4_600L,
            "saved_bytes",
            5_000L,
            "sla_violations",
            late,
            "violations_by_reason/origin",
            late);
    Course.Sample before = new Course.Sample(figures(Map.of(), Map.of()), 500, Duration.ZERO, 0);
    Course.Sample under =
        new Course.Sample(figures(sums, keyspaces), 5_500, Duration.ofSeconds(9), 1);
    Course.Sample after =
        new Course.Sample(figures(sums, keyspaces), 5_600, Duration.ofSeconds(9), 2);
    return report(
            List.of(
                new Course.Phase("load", before, under, 321, 45),
                new Course.Phase("after", under, after, 654, 98)))
        .json(60);
  }

  private Report report(List<Course.Phase> phases) {
    Contents contents = new Contents(true, 1, Map.of("likes", 7L), Set.of(), 0, 0, 60, 3);
    return new Report(contents, List.of(), 60, 3, 100, kinds, bounds, phases, null);
  }

  @Test
  void bytes_areThoseSinceTheLoadBegan_overheadOnBothSides() {
    ObjectNode json = json(0);
    assertThat(json.get("wan_bytes").asLong()).isEqualTo(5_100);
    assertThat(json.get("plain_bytes").asLong()).isEqualTo(10_100);
    assertThat(json.get("plain_bytes_if_ops").asLong()).isEqualTo(11_500);
    assertThat(json.get("wan_bytes_after_load").asLong()).isEqualTo(100);
  }

  @Test
  void kindThatSavesLittle_hasItsReason_andNoOther() {
    String table = Report.kinds(json(0));
    for (Kind kind : kinds) {
      if (kind.keyspace.equals("likes")) {
        assertThat(table).doesNotContain(kind.why).contains("0.10");
      } else {
        assertThat(table).contains("  " + kind.keyspace + ": " + kind.why);
      }
    }
    assertThat(table).contains("60 %"); // 6 of 10 did not leave by themselves
  }

  @Test
  void operationsAlone_haveNoReasons() {
    assertThat(Report.kinds(json(0).put("operations_alone", true)))
        .doesNotContain("Where less than half is saved");
  }

  @Test
  void whatIsLate_hasItsReasonAndTheMachinesStallBesideIt() {
    assertThat(report(List.of()).summary(json(0), 4_000))
        .contains("Later than its bound: 0 with the links up, 0 because of");
    assertThat(report(List.of()).summary(json(12), 4_000))
        .contains("12 with the links up (12 left late, 0 were long under way")
        .contains("a thread wait for up to 321 ms")
        .contains("stopped a datacenter for up to 45 ms");
  }

  @Test
  void shares_areTenTenths() {
    assertThat(kinds.stream().mapToInt(kind -> kind.tenths).sum()).isEqualTo(10);
  }
}
