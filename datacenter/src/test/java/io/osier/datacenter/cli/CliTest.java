package io.osier.datacenter.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.server.TestCluster;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CliTest {
  private TestCluster cluster;

  @BeforeAll
  void start() {
    cluster = new TestCluster("eu");
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  private record Run(int code, String out, String err) {}

  private Run run(String... words) {
    List<String> all =
        new ArrayList<>(List.of("--connect", "127.0.0.1:" + cluster.clientPort("eu")));
    all.addAll(List.of(words));
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream o = new ByteArrayOutputStream();
    ByteArrayOutputStream e = new ByteArrayOutputStream();
    System.setOut(new PrintStream(o, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(e, true, StandardCharsets.UTF_8));
    try {
      int code = new CommandLine(new CliCommand()).execute(all.toArray(new String[0]));
      return new Run(
          code,
          o.toString(StandardCharsets.UTF_8).strip(),
          e.toString(StandardCharsets.UTF_8).strip());
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "counter incr c 5            | counter get c        | 5",
        "counter decr c2             | counter get c2       | -1",
        "gcounter incr g             | gcounter get g       | 1",
        "register set r hello        | register get r       | hello",
        "mvregister set m 4.5        | mvregister get m     | {4.5}",
        "ewflag on e                 | ewflag get e         | true",
        "dwflag off d                | dwflag get d         | false",
        "set add s b a               | set get s            | {a, b}",
        "set add s1 7                | set has s1 7         | true",
        "gset add gs x               | gset size gs         | 1",
        "rwset add rs x              | rwset get rs         | {x}",
        "lwwset add ls x             | lwwset get ls        | {x}",
        "lwwset-remove add lr x      | lwwset-remove get lr | {x}",
        "map set u name=Ada age=36   | map get u            | {age: 36, name: Ada}",
        "map update u2 n counter incr 3 | map get u2 n      | {n: 3}",
        "set clear nothing           | get nothing          | (nothing)",
      })
  void everyType(String write, String read, String expected) {
    Run written = run(write.strip().split(" +"));
    assertThat(written).isEqualTo(new Run(0, "done", ""));
    assertThat(run(read.strip().split(" +"))).isEqualTo(new Run(0, expected, ""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "counter mul x            | error INVALID_ARGUMENT: a counter has no 'mul'; it has incr",
        "conter get x             | error INVALID_ARGUMENT: there is no type 'conter'; the types are",
        "counter incr x many      | error INVALID_ARGUMENT: 'many' must be a whole number",
        "counter                  | error INVALID_ARGUMENT: after 'counter' come an operation",
        "map set x novalue        | error INVALID_ARGUMENT: map set KEY FIELD=VALUE",
        "--keyspace nope get x    | error UNKNOWN_KEYSPACE: ",
      })
  void wrongCommand_saysWhatWouldBeRight(String command, String error) {
    Run run = run(command.strip().split(" +"));
    assertThat(run.code).isEqualTo(1);
    assertThat(run.err).startsWith(error.strip());
  }

  @Test
  void inspections_areShown() {
    run("counter", "incr", "seen");
    assertThat(run("stat").out).contains("keyspace shop").contains("updates");
    assertThat(run("hot").out).contains("mode").contains("seen");
    assertThat(run("peers").out).contains("connected");
    assertThat(run("--json", "stat").out).startsWith("{\"dc\":\"eu\"");
    assertThat(run("--json", "counter", "get", "seen").out)
        .isEqualTo("{\"type\":\"counter\",\"exists\":true,\"value\":1}");
    assertThat(run("scan").out).contains("key").contains("seen");
  }

  @Test
  void usage_isExitCodeTwo() {
    assertThat(run("--nonsense").code).isEqualTo(2);
    assertThat(run("--help").out).contains("Examples:");
  }

  @Test
  void words_splitAtBlanksOutsideQuotes() {
    assertThat(CliCommand.split("set add  k \"two words\" x"))
        .containsExactly("set", "add", "k", "two words", "x");
  }
}
