package io.osier.bench.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/** What {@code osier ycsb a} and its like ask of YCSB's client. */
final class YcsbCommandTest {
  @TempDir private Path dir;

  private Path file() {
    return dir.resolve("workload");
  }

  private Properties written() throws Exception {
    Properties properties = new Properties();
    try (Reader in = Files.newBufferedReader(file())) {
      properties.load(in);
    }
    return properties;
  }

  @Test
  void load_insertsTheRecordsOfALocalServer() throws Exception {
    assertThat(YcsbCommand.withWorkload(List.of("load"), file()))
        .containsExactly(
            "-load", "-P", file().toString(), "-p", "osier.endpoints=local=127.0.0.1:7400");
    assertThat(written()).containsEntry("recordcount", "10000").containsEntry("table", "default");
  }

  @Test
  void furtherArguments_winOverTheWorkload() throws Exception {
    assertThat(
            YcsbCommand.withWorkload(
                List.of("c", "-p", "osier.endpoints=eu=eu:7400", "-threads", "8"), file()))
        .containsExactly(
            "-t", "-P", file().toString(), "-p", "osier.endpoints=eu=eu:7400", "-threads", "8");
  }

  /** YCSB prints a stack trace, or its usage and exits with 0. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-foo | YCSB has no option '-foo'; it has -p",
        "-threads | what belongs to -threads is missing",
        "-threads x | -threads must be a whole number, not \"x\"",
        "-p recordcount | -p must be given NAME=VALUE, not \"recordcount\"",
        "-p recordcount=1e3 | property recordcount must be a whole number, not \"1e3\"",
        "-p maxexecutiontime=-1 | property maxexecutiontime must be a whole number"
      })
  void wrongArgument_isNamed_beforeYcsbSeesIt(String arguments, String message) {
    List<String> all = Stream.concat(Stream.of("a"), Arrays.stream(arguments.split(" "))).toList();
    assertThatThrownBy(() -> YcsbCommand.withWorkload(all, file()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message.replace('"', '\''));
  }

  @Test
  void endpointsOfAFile_areTaken() throws Exception {
    Path own = Files.writeString(dir.resolve("own"), "osier.endpoints=us=us:7400\n");
    assertThat(YcsbCommand.withWorkload(List.of("a", "-P", own.toString()), file()))
        .containsExactly("-t", "-P", file().toString(), "-P", own.toString());
    assertThatThrownBy(() -> YcsbCommand.withWorkload(List.of("a", "-P", "/nowhere/w"), file()))
        .hasMessageContaining("/nowhere/w cannot be read");
  }

  @Test
  void unknownWorkload_isNamed_withThoseThatThereAre() {
    assertThatThrownBy(() -> YcsbCommand.withWorkload(List.of("g"), file()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("there is no workload 'g': load comes first, then a, b, c, d, e or f");
  }

  /** As YCSB's wiki lists them: read, update, scan, insert, read and update what was read. */
  @Test
  void proportions_areThoseOfTheCoreWorkloads() throws Exception {
    Map<String, List<Double>> wanted =
        Map.of(
            "a", List.of(0.5, 0.5, 0.0, 0.0, 0.0),
            "b", List.of(0.95, 0.05, 0.0, 0.0, 0.0),
            "c", List.of(1.0, 0.0, 0.0, 0.0, 0.0),
            "d", List.of(0.95, 0.0, 0.0, 0.05, 0.0),
            "e", List.of(0.0, 0.0, 0.95, 0.05, 0.0),
            "f", List.of(0.5, 0.0, 0.0, 0.0, 0.5));
    for (Map.Entry<String, List<Double>> one : wanted.entrySet()) {
      YcsbCommand.withWorkload(List.of(one.getKey()), file());
      Properties properties = written();
      assertThat(
              Stream.of("read", "update", "scan", "insert", "readmodifywrite")
                  .map(kind -> Double.valueOf(properties.getProperty(kind + "proportion"))))
          .as(one.getKey())
          .containsExactlyElementsOf(one.getValue());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "b", "c", "d", "e", "f"})
  void workload_isOneThatYcsbTakes(String name) throws Exception {
    YcsbCommand.withWorkload(List.of(name), file());
    Properties properties = written();
    Measurements.setProperties(properties);
    new CoreWorkload().init(properties);
    assertThat(properties.getProperty("requestdistribution"))
        .isEqualTo(name.equals("d") ? "latest" : "zipfian");
  }
}
