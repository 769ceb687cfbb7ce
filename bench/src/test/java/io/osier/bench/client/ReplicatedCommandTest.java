package io.osier.bench.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Two datacenters that both take updates. */
final class ReplicatedCommandTest {
  @Test
  void run_twoDatacenters_measuresBothLoads(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("replicated.json");
    int code =
        new CommandLine(new ReplicatedCommand())
            .setCaseInsensitiveEnumValuesAllowed(true)
            .execute(
                "--datacenters=2",
                "--rounds=1",
                "--seconds=0.5",
                "--warm-up=0",
                "--sla=200ms",
                "--json=" + file);
    assertThat(code).isZero();
    JsonNode rows = new ObjectMapper().readTree(file.toFile()).get("results");
    assertThat(rows).hasSize(2);
    for (JsonNode row : rows) {
      for (String figure : List.of("operations/s", "servers' µs/operation", "bytes/update")) {
        assertThat(row.get(figure).get("median").asDouble()).as(figure).isPositive();
      }
      // An update may be visible within the millisecond of its commit.
      for (String figure : List.of("without load p99", "visible ms p99")) {
        assertThat(row.get(figure).get("median").asDouble()).as(figure).isBetween(0.0, 60_000.0);
      }
    }
  }

  @Test
  void run_oneDatacenter_isRefused() {
    assertThat(new CommandLine(new ReplicatedCommand()).execute("--datacenters=1")).isEqualTo(2);
  }
}
