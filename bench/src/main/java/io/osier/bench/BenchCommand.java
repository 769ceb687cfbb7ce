package io.osier.bench;

import io.osier.bench.crash.CrashCommand;
import io.osier.bench.crash.RestartsCommand;
import io.osier.bench.crash.UpgradeCommand;
import io.osier.bench.fleet.LoadCommand;
import io.osier.bench.fleet.WanCommand;
import io.osier.bench.history.HistoryCommand;
import io.osier.bench.jmh.MemoryCommand;
import io.osier.bench.run.RunCommand;
import io.osier.bench.sample.SocialCommand;
import io.osier.bench.sample.WalletCommand;
import io.osier.bench.smoke.SmokeCommand;
import io.osier.bench.soak.SoakCommand;
import io.osier.bench.start.StartCommand;
import io.osier.bench.systems.EchoCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Groups the measurements and the long tests. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures, and tests at length; docs/BENCHMARKS.md tells what came out.",
    subcommands = {
      RunCommand.class,
      CrashCommand.class,
      RestartsCommand.class,
      EchoCommand.class,
      HistoryCommand.class,
      LoadCommand.class,
      MemoryCommand.class,
      StartCommand.class,
      UpgradeCommand.class,
      WalletCommand.class,
      SocialCommand.class,
      SmokeCommand.class,
      SoakCommand.class,
      WanCommand.class,
    })
public final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec;

  /** For picocli. */
  public BenchCommand() {}

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which one of " + spec.subcommands().keySet() + "?");
  }
}
