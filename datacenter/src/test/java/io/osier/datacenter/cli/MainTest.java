package io.osier.datacenter.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.cli.command.CliCommand;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

@ResourceLock(Resources.SYSTEM_ERR)
final class MainTest {
  @Command(name = "further")
  static final class Further implements Callable<Integer> {
    @Override
    public Integer call() {
      return 7;
    }
  }

  private static String said(String... arguments) throws Exception {
    String logging = "logback.configurationFile";
    String configured = System.setProperty(logging, "logback-test.xml"); // or the program sets it
    PrintStream before = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      int code = Main.run(List.of(), arguments);
      return code + " " + said.toString(StandardCharsets.UTF_8);
    } finally {
      System.setErr(before);
      if (configured == null) {
        System.clearProperty(logging);
      } else {
        System.setProperty(logging, configured);
      }
    }
  }

  @Test
  void plainServer_saysWhatAnyServerSays() throws Exception {
    assertThat(said("server", "--config", "/nowhere/eu.conf"))
        .startsWith("1 error CONFIGURATION")
        .isEqualTo(said("server", "--config=/nowhere/eu.conf"));
    assertThat(said("server", "--config", "--check")).startsWith("2 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "get k",
        "--json get k --timeout 3",
        "--connect=eu=localhost:1,us=localhost:2 --keyspace shop counter incr k -3",
        "--user ada --password-file secret --authorities ca.pem top --once",
        "dc remove us --dead",
        "counter incr k",
        ""
      })
  void plainArguments_areReadAsPicocliReadsThem(String line) {
    List<String> arguments = line.isEmpty() ? List.of() : List.of(line.split(" "));
    CommandLine commands = new CommandLine(new CliCommand());
    commands.parseArgs(arguments.toArray(String[]::new));
    CliCommand byPicocli = commands.getCommand();
    assertThat(CliCommand.plain(arguments).orElseThrow())
        .usingRecursiveComparison()
        .ignoringFields("spec")
        .withEqualsForType(
            (a, b) -> a == b || String.valueOf(a).equals(String.valueOf(b)), Path.class)
        .isEqualTo(byPicocli);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--help",
        "--jsno get k",
        "get k --dead",
        "-- get k",
        "--json --json get k",
        "get k --keyspace",
        "--timeout x get k",
        "--tls get k",
        "--json=true get k"
      })
  void rarerArguments_areLeftToPicocli(String line) {
    assertThat(CliCommand.plain(List.of(line.split(" ")))).isEmpty();
  }

  @Test
  void timeLimitThatIsNone_isRefused() throws Exception {
    assertThat(said("backup", "--timeout", "0"))
        .startsWith("2 ")
        .contains("--timeout must be at least 1 second");
  }

  @Test
  void rebuildWithoutPeers_saysWhoIsToBeNamed(@TempDir Path dir) throws Exception {
    Path file = Files.writeString(dir.resolve("eu.conf"), "osier { dc = eu, keyspaces { a {} } }");
    assertThat(said("rebuild", "--config", file.toString()))
        .startsWith("1 error CONFIGURATION: osier.peers is empty: name there a datacenter");
  }

  @Test
  void oneCommand_isTheOneThatStandsAmongAll() {
    CommandLine all = Main.commandLine(List.of(Further.class));
    assertThat(all.getSubcommands()).containsKeys("server", "cli", "train", "help", "further");
    all.getSubcommands()
        .forEach(
            (name, command) -> {
              CommandLine one = Main.commandLine(List.of(Further.class), name);
              assertThat(one.getSubcommands()).containsKey(name);
              assertThat(requireNonNull(one.getSubcommands().get(name), name).getUsageMessage())
                  .isEqualTo(command.getUsageMessage());
            });
    assertThat(Main.commandLine(List.of(), "server").getSubcommands()).hasSize(1);
    assertThat(Main.commandLine(List.of(), "unknown").getSubcommands()).hasSizeGreaterThan(5);
    assertThat(Main.commandLine(List.of(Further.class), "further").execute("further")).isEqualTo(7);
  }
}
