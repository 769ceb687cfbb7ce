package io.osier.bench.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** What idle datacenters take. */
final class IdleCommandTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--seconds=0 | --seconds must be more than 0",
        "--warm-up=-1 | --warm-up not less",
        "--durability=often | expected one of",
      })
  void run_wrongArguments_saysWhatIsWrong(String argument, String said) {
    StringWriter told = new StringWriter();
    int code = new CommandLine(new IdleCommand()).setErr(new PrintWriter(told)).execute(argument);
    assertThat(code).isEqualTo(2);
    assertThat(told.toString()).contains(said);
  }

  @Test
  void run_shortly_measuresEachDatacenterWithAndWithoutCounters(@TempDir Path directory)
      throws IOException {
    Path file = directory.resolve("idle.json");
    int code =
        new CommandLine(new IdleCommand())
            .setCaseInsensitiveEnumValuesAllowed(true)
            .execute(
                "--warm-up=0", "--seconds=1", "--threads", "--durability=memory", "--json=" + file);
    assertThat(code).isZero();
    JsonNode rows = new ObjectMapper().readTree(file.toFile()).get("results");
    for (String workload : new String[] {"nothing stored", "1,000 counters"}) {
      for (String dc : new String[] {"eu", "us", "ap"}) {
        assertThat(figure(rows, workload, dc, "% of a core")).isPositive();
      }
      assertThat(figure(rows, workload, "all links", "bytes/s")).isPositive();
      assertThat(figure(rows, "eu's threads, " + workload, "all others", "turns/s"))
          .isNotNegative();
    }
  }

  private static double figure(JsonNode rows, String workload, String alternative, String metric) {
    for (JsonNode row : rows) {
      if (row.get("workload").asText().equals(workload)
          && row.get("alternative").asText().equals(alternative)) {
        return row.get(metric).get("median").asDouble();
      }
    }
    throw new AssertionError("nothing of " + alternative + " with " + workload);
  }
}
