package io.osier.bench.run;

import com.typesafe.config.ConfigException;
import io.osier.bench.systems.ScenarioException;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** Runs a scenario: a system, a load, variants in turn, a table. */
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
      defaultValue = "0",
      description = "how often each variant is measured; as the scenario says unless given")
  private int rounds;

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
      description = "write the results, the machine, the commit and the command as JSON")
  private Path json;

  @Spec private CommandSpec spec;

  /** For picocli. */
  public RunCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    ParseResult given = spec.commandLine().getParseResult();
    if (scenario.isEmpty() && !given.matchedOptions().isEmpty()) {
      throw wrongUsage(
          given.matchedOptions().getFirst().longestName() + " needs the name of a scenario");
    }
    if (given.hasMatchedOption("--rounds") && rounds < 1) {
      throw wrongUsage("--rounds must be 1 or more, not " + rounds);
    }
    if (json != null) {
      Path folder = json.toAbsolutePath().getParent();
      if (folder == null || !Files.isDirectory(folder)) {
        throw wrongUsage("the folder of --json " + json + " does not exist");
      }
    }
    if (scenario.isEmpty()) {
      for (String name : Scenario.NAMES) {
        Scenario one = Scenario.read(name, List.of(), false);
        System.out.printf("%-16s %s%n", name, one.config().getString("about"));
      }
      return 0;
    }
    try {
      return run(Scenario.read(scenario, changes, quick));
    } catch (ScenarioException | ConfigException e) {
      throw wrongUsage(String.valueOf(e.getMessage()));
    }
  }

  private int run(Scenario read) throws IOException, InterruptedException {
    Results results = new Results();
    int code = 0;
    try {
      new Runner(new Runner.Options(rounds, onlyCase, onlyVariant, again()), results).run(read);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.reason());
      code = 1;
    } catch (ScenarioException e) {
      writeJson(results, read); // what was measured before
      throw e;
    }
    writeJson(results, read);
    return code;
  }

  private void writeJson(Results results, Scenario read) throws IOException {
    if (json != null) {
      List<String> command = new ArrayList<>(List.of("./osier"));
      command.addAll(spec.root().commandLine().getParseResult().originalArgs());
      results.writeJson(json, read.name(), command);
    }
  }

  /** What another process is given to run the same scenario. */
  private List<String> again() {
    List<String> arguments = new ArrayList<>(List.of(scenario));
    if (quick) {
      arguments.add("--quick");
    }
    changes.forEach(change -> arguments.add("--set=" + change));
    return arguments;
  }

  private ParameterException wrongUsage(String why) {
    return new ParameterException(spec.commandLine(), why);
  }
}
