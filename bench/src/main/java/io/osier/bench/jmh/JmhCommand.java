package io.osier.bench.jmh;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** Runs JMH's own main with the benchmarks of this module. */
@Command(
    name = "jmh",
    mixinStandardHelpOptions = true,
    description = {
      "Runs micro-benchmarks; all options are JMH's own.",
      "",
      "  osier jmh -l               lists them",
      "  osier jmh CrdtBenchmark    runs one"
    })
public final class JmhCommand implements Callable<Integer> {
  @Unmatched private List<String> arguments = new ArrayList<>();

  /** For picocli. */
  public JmhCommand() {}

  @Override
  public Integer call() throws IOException {
    org.openjdk.jmh.Main.main(arguments.toArray(new String[0]));
    return 0;
  }
}
