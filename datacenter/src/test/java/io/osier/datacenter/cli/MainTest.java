package io.osier.datacenter.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
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
