package io.osier.bench;

import io.osier.bench.demo.DemoCommand;
import io.osier.bench.jmh.JmhCommand;
import io.osier.bench.sim.SimCommand;
import io.osier.bench.ycsb.YcsbCommand;
import io.osier.datacenter.cli.BackupCommand;
import io.osier.datacenter.cli.CliCommand;
import io.osier.datacenter.cli.RebuildCommand;
import io.osier.datacenter.cli.RestoreCommand;
import io.osier.datacenter.cli.ServerCommand;
import io.osier.datacenter.cli.VerifyCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The launcher's entry: {@code osier COMMAND}. */
@Command(
    name = "osier",
    mixinStandardHelpOptions = true,
    version = "osier 0.1.0",
    synopsisSubcommandLabel = "COMMAND",
    description = "A geo-replicated store of CRDTs that ships operations or states, per object.",
    subcommands = {
      DemoCommand.class,
      ServerCommand.class,
      CliCommand.class,
      BackupCommand.class,
      RestoreCommand.class,
      RebuildCommand.class,
      VerifyCommand.class,
      SimCommand.class,
      BenchCommand.class,
      YcsbCommand.class,
      JmhCommand.class,
      CommandLine.HelpCommand.class
    })
public final class Main {
  /**
   * The system property with the id of the process that started this one and without which it must
   * not go on, so that a killed demo leaves nothing behind.
   */
  public static final String PARENT = "osier.parent";

  private Main() {}

  /** Runs a command and exits with its code. */
  public static void main(String[] args) {
    Long parent = Long.getLong(PARENT);
    if (parent != null) {
      ProcessHandle.of(parent)
          .ifPresentOrElse(
              p -> p.onExit().thenRun(() -> Runtime.getRuntime().halt(1)),
              () -> Runtime.getRuntime().halt(1));
    }
    System.exit(
        new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }
}
