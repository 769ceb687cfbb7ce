package io.osier.bench;

import io.osier.bench.crash.CrashCommand;
import io.osier.bench.fleet.LoadCommand;
import io.osier.bench.fleet.WanCommand;
import io.osier.bench.jmh.MemoryCommand;
import io.osier.bench.run.RunCommand;
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
    description =
        "Measures, and tests at length; docs/BENCHMARKS.md tells what came out. Exit "
            + "codes: 0 if all is right, 1 if something is not or it could not be run, 2 after "
            + "wrong usage.",
    subcommands = {
      RunCommand.class,
      CrashCommand.class,
      EchoCommand.class,
      LoadCommand.class,
      MemoryCommand.class,
      StartCommand.class,
      SmokeCommand.class,
      SoakCommand.class,
      WanCommand.class,
    })
public final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which one of " + spec.subcommands().keySet() + "?");
  }
}
