package io.osier.bench.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.core.Value;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Inserts into a growing set. */
final class BigSetCommandTest {
  @Test
  void element_differentNumbers_differentElementsOfTheirSize() {
    Set<Value> elements = new HashSet<>();
    for (long i = 0; i < 100_000; i++) {
      Value element = SetInserts.element(i);
      assertThat(((Value.Bytes) element).content()).hasSize(SetInserts.ELEMENT_BYTES);
      elements.add(element);
    }
    assertThat(elements).hasSize(100_000);
  }

  @Test
  void written_ofMetrics_sumsWhatTablesTook() {
    BigSetCommand.Written written =
        BigSetCommand.Written.of(
            """
            # HELP osier_store_log_bytes_total Bytes written to the write-ahead log
            osier_store_log_bytes_total 2048.0
            osier_store_log_syncs_total 7.0
            osier_store_flushed_bytes_total 1000.0
            osier_store_compaction_written_bytes_total{dc="eu"} 24.0
            """);
    assertThat(written).isEqualTo(new BigSetCommand.Written(2048, 1024));
  }

  @Test
  void run_smallSizes_measuresEach(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("bigset.json");
    int code =
        new CommandLine(new BigSetCommand())
            .setCaseInsensitiveEnumValuesAllowed(true)
            .execute(
                "--sizes=5,20",
                "--seconds=0.1",
                "--warm-up=0",
                "--durability=none",
                "--consistency=causal",
                "--beside",
                "--heap=256m",
                "--json=" + file);
    assertThat(code).isZero();
    JsonNode rows = new ObjectMapper().readTree(file.toFile()).get("results");
    for (int i = 0; i < 2; i++) {
      assertThat(rows.get(i).get("alternative").asText()).isEqualTo(i == 0 ? "5" : "20");
      assertThat(rows.get(i).get("inserts/s").get("median").asDouble()).isPositive();
      assertThat(rows.get(i).get("contains p50 us").get("median").asDouble()).isPositive();
    }
    for (String who : new String[] {"read of all", "by a transaction"}) {
      assertThat(rows.get(1).get(who + ": others' longest ms").get("median").asDouble())
          .isPositive();
    }
  }

  @Test
  void run_awayWithoutOthers_isRefused() {
    assertThat(new CommandLine(new BigSetCommand()).execute("--away=5")).isEqualTo(2);
  }

  @Test
  void run_narrowWithoutAway_isRefused() {
    assertThat(new CommandLine(new BigSetCommand()).execute("--narrow", "--datacenters=2"))
        .isEqualTo(2);
  }

  @Test
  void run_sizesThatDoNotGrow_areRefused() {
    assertThat(new CommandLine(new BigSetCommand()).execute("--sizes=20,5")).isEqualTo(2);
  }
}
