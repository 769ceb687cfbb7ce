package io.osier.bench.jmh;

import io.osier.bench.systems.Targets;
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

  @Override
  public Integer call() throws ReflectiveOperationException {
    Class<?> jmh;
    try {
      // By name: the launcher's own build, with Maven's -Dquick, has no JMH.
      jmh = Class.forName("org.openjdk.jmh.Main");
    } catch (ClassNotFoundException e) {
      System.err.println("error: " + Targets.onlyInFullBuild("JMH"));
      return 1;
    }
    String[] all = arguments.toArray(new String[0]);
    jmh.getMethod("main", String[].class).invoke(null, (Object) all);
    return 0;
  }
}
