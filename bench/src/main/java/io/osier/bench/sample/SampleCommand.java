package io.osier.bench.sample;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Groups the samples. */
@Command(
    name = "sample",
    mixinStandardHelpOptions = true,
    description =
        "Runs a sample program, with two datacenters in its process, and shows what "
            + "happens. Each is one short file of bench/src/main/java/io/osier/bench/sample, to "
            + "be read beside it.",
    subcommands = {
      CartSample.class,
      LeaderboardSample.class,
      LikesSample.class,
      PresenceSample.class
    })
public final class SampleCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which one of " + spec.subcommands().keySet() + "?");
  }
}
