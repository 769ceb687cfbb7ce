package io.osier.bench.run;

import com.typesafe.config.ConfigException;
import io.osier.bench.systems.ScenarioException;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs a scenario, and prints a table for each of its cases. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    description =
        "Runs a scenario and prints a table for each of its cases: its variants are "
            + "measured in turn, round by round; medians, with the least and the most in "
            + "brackets. Without a name it lists the scenarios. A file of one's own has the same "
            + "form: defaults.conf in bench/src/main/resources/io/osier/bench/run, where the "
            + "scenarios are, explains every key.")
public final class RunCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "SCENARIO",
      arity = "0..1",
      defaultValue = "",
      description = "the name of a scenario, or a file")
  private String scenario;

  @Option(names = "--quick", description = "fewer and shorter parts, as the scenario says")
  private boolean quick;

  @Option(
      names = "--rounds",
      description = "how often each variant is measured; as the scenario says unless given")
  private @Nullable Integer rounds;

  @Option(
      names = "--set",
      paramLabel = "PATH=VALUE",
      description = "change something of the scenario, such as --set load.in-flight=16")
  private List<String> changes = List.of();

  @Option(names = "--case", defaultValue = "", description = "run this case only")
  private String onlyCase;

  @Option(names = "--variant", defaultValue = "", description = "run this variant only")
  private String onlyVariant;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "write every round's figures as JSON, by case and row")
  private @Nullable Path json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (scenario.isEmpty()) {
      for (String name : Scenario.NAMES) {
        Scenario one = Scenario.read(name, List.of(), false);
        System.out.printf("%-16s %s%n", name, one.config().getString("about"));
      }
      return 0;
    }
    List<String> all = new ArrayList<>(changes);
    if (rounds != null) {
      all.add("rounds=" + rounds);
    }
    Results results = new Results();
    try {
      new Runner(onlyCase, onlyVariant, again(), results).run(Scenario.read(scenario, all, quick));
      return 0;
    } catch (ScenarioException | ConfigException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      return 1;
    } finally {
      if (json != null) {
        results.writeJson(json);
      }
    }
  }

  /** Returns the arguments by which another process runs the same scenario. */
  private List<String> again() {
    List<String> arguments = new ArrayList<>(List.of(scenario));
    if (quick) {
      arguments.add("--quick");
    }
    changes.forEach(change -> arguments.add("--set=" + change));
    return arguments;
  }
}
