package io.osier.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.cli.Main;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What a person sees who has mistyped something: what is wrong, and where to read on. */
final class WrongUsageTest {
  private record Said(int code, String words) {}

  private static Said run(String... arguments) {
    StringWriter err = new StringWriter();
    CommandLine commands = Main.commandLine(io.osier.bench.Main.COMMANDS, arguments);
    commands.setErr(new PrintWriter(err, true));
    return new Said(Main.execute(commands, arguments), err.toString().strip());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cli --connect localhost:99999 get x       | port from 1 to 65535    | osier cli",
        "cli --connect localhost get x             | host:port               | osier cli",
        "cli --connect ::1:7400 get x              | in brackets             | osier cli",
        "cli --connect eu=a:1,eu=b:1 get x         | eu twice                | osier cli",
        "cli --connect 1eu=a:1 get x               | 1eu                     | osier cli",
        "cli --connect , get x                     | host:port               | osier cli",
        "cli --timeout soon get x                  | 'soon'                  | osier cli",
        "cli --timeout 0 get x                     | at least 1              | osier cli",
        "cli --conect a:1 get x                    | --conect                | osier cli",
        "cli --any-host get x                      | --                      | osier cli",
        "server --dir a --memory                   | --dir=DIR, --memory     | osier server",
        "server --config a --memory                | osier.store.dir         | osier server",
        "init                                      | --dc                    | osier init",
        "init --dc 9x                              | start with a letter     | osier init",
        "init --dc eu --peers us                   | NAME=HOST:PORT          | osier init",
        "init --dc eu --peers eu=a:1               | eu is this one          | osier init",
        "server --config a b                       | 'b'                     | osier server",
        "server --chek --config a                  | did you mean --check    | osier server",
        "backup --timeout never                    | 'never'                 | osier backup",
        "restore                                   | --config                | osier restore",
        "rebuild                                   | --config                | osier rebuild",
        "verify --nonsense                         | --config                | osier verify",
        "cert                                      | authority               | osier cert",
        "cert dc                                   | NAME                    | osier cert dc",
        "bench                                     | which one               | osier bench",
        "bench load --endpoints eu                 | KEY=VALUE               | osier bench load",
        "bench run nowhere                         | no scenario             | osier bench run",
        "bench run causal --set load.kays=1        | load.kays               | osier bench run",
        "bench run causal --set load.keys=many     | keys has type STRING     | osier bench run",
        "bench run causal --set load.keys          | PATH=VALUE              | osier bench run",
        "bench run causal --case x                 | no such case            | osier bench run",
        "bench crash --once --pairs                | exclude each other      | osier bench crash",
        "bench crash --pairs --former a            | exclude each other      | osier bench crash",
        "bench crash --former a --cycles 3         | no --cycles             | osier bench crash",
        "bench wan                                 | --link                  | osier bench wan",
        "bench wan --link x                        | FROM-TO                 | osier bench wan",
        "bench run causal --rounds 0               | must be 1 or more       | osier bench run",
        "cli --no-password get x                   | for user create         | osier cli",
        "init --dc eu --user ann                   | need --tls              | osier init",
        "sim --seeds many                          | many                    | osier sim",
        "sim --faults members,loss --features holders | does not go with     | osier sim",
        "sim --transport --dcs 4                   | --dcs does not go       | osier sim",
        "demo --nonsense                           | --nonsense              | osier demo",
        "sample                                    |                         | osier sample",
        "serve                                     | did you mean server     | osier"
      })
  void wrongUsage_isTwoLines_andCodeTwo(String line, String says, String command) {
    Said said = run(line.split(" ", -1));
    assertThat(said.words.lines()).hasSize(2);
    assertThat(said.words).startsWith("error: ").endsWith("see: " + command + " --help");
    assertThat(said.words).contains(says == null ? "" : says);
    assertThat(said.code).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"server --config nowhere.conf", "verify --config nowhere.conf"})
  void whatFails_isOneLine_andCodeOne(String line) {
    assertThat(run(line.split(" ", -1)).code).isEqualTo(1);
  }
}
