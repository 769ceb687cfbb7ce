package io.osier.bench.growth;

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

/** How a datacenter does as it grows. */
final class GrowthCommandTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--only=size,links | --only must be some of [size, partitions, datacenters]",
        "--only=size,size | each once, not [size, size]",
        "--sizes=99 | --sizes must be 100 to 10000000 and grow, not [99]",
        "--sizes=100,10000001 | --sizes must be 100 to 10000000 and grow",
        "--sizes=200,100 | --sizes must be 100 to 10000000 and grow",
        "--sizes=many | 'many' is not an int",
        "--seconds=0 | --seconds must be more than 0",
        "--seconds=NaN | --seconds must be more than 0",
        "--warm-up=-1 | --warm-up not less",
      })
  void run_wrongArguments_saysWhatIsWrong(String argument, String said) {
    StringWriter told = new StringWriter();
    int code = new CommandLine(new GrowthCommand()).setErr(new PrintWriter(told)).execute(argument);
    assertThat(code).isEqualTo(2);
    assertThat(told.toString()).contains(said);
  }

  @Test
  void run_smallestSize_measuresLoadHeapAndStarts(@TempDir Path directory) throws IOException {
    JsonNode rows = results(directory, "--only=size", "--sizes=100");
    assertThat(rows).hasSize(2);
    for (JsonNode row : rows) {
      assertThat(row.get("workload").asText()).isEqualTo("100 counters");
      assertThat(median(row, "updates/s")).isPositive();
      assertThat(median(row, "heap bytes/object")).isPositive();
      // With the counter by which a start is measured; a tenth of so few is less than a cache has.
      assertThat(median(row, "% in memory")).isBetween(100.0, 101.0);
      assertThat(median(row, "start s")).isPositive();
      assertThat(median(row, "start after kill -9 s")).isPositive();
    }
    assertThat(rows.get(0).get("alternative").asText()).isEqualTo("all in memory");
    assertThat(rows.get(1).get("alternative").asText()).isEqualTo("a tenth in memory");
  }

  @Test
  void run_datacenters_measuresEachInVirtualTime(@TempDir Path directory) throws IOException {
    JsonNode rows = results(directory, "--only=datacenters");
    assertThat(rows).hasSize(3 * 4);
    assertThat(rows.get(0).get("workload").asText()).isEqualTo("2 datacenters");
    assertThat(median(rows.get(0), "link bytes/operation")).isPositive();
    // Operations to four others are more than to one.
    assertThat(median(rows.get(8), "link bytes/operation"))
        .isGreaterThan(2 * median(rows.get(0), "link bytes/operation"));
  }

  private static JsonNode results(Path directory, String... options) throws IOException {
    Path file = directory.resolve("growth.json");
    CommandLine command = new CommandLine(new GrowthCommand());
    String[] all = new String[options.length + 4];
    System.arraycopy(options, 0, all, 4, options.length);
    all[0] = "--quick";
    all[1] = "--seconds=0.1";
    all[2] = "--warm-up=0";
    all[3] = "--json=" + file;
    assertThat(command.execute(all)).isZero();
    return new ObjectMapper().readTree(file.toFile()).get("results");
  }

  private static double median(JsonNode row, String metric) {
    return row.get(metric).get("median").asDouble();
  }
}
