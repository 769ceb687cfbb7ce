package io.osier.bench.experiment;

import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command that measures alternatives in turn, prints what came out, and writes it as JSON and as
 * plots. Subclasses say what is measured; the results are written even of a run that was ended by
 * an error.
 */
public abstract class Experiment implements Callable<Integer> {
  @Option(names = "--quick", description = "shorter parts: ends within two minutes")
  private boolean quick;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "how often each alternative is measured; 3 or fewer, with --quick once")
  private Integer rounds;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "write the results, the machine, the commit and the command as JSON")
  private Path jsonFile;

  @Option(
      names = "--plots",
      paramLabel = "DIR",
      description = "write plots (PNG) to this folder; it is made if it is not there")
  private Path plotDirectory;

  @Spec private CommandSpec spec;

  /** For subclasses. */
  protected Experiment() {}

  /** Whether a short run was asked for. */
  protected final boolean quick() {
    return quick;
  }

  /** How often each alternative is measured, 1 or more. */
  protected final int rounds() {
    return rounds(3);
  }

  /** As the other one, with how often where neither that nor a short run was asked for. */
  protected final int rounds(int otherwise) {
    return rounds != null ? rounds : quick ? 1 : otherwise;
  }

  /** What is thrown where options do not fit: the command says it, and ends with 2. */
  protected final ParameterException wrongUsage(String why) {
    return new ParameterException(spec.commandLine(), why);
  }

  /**
   * Measures, prints progress and tables.
   *
   * @param results takes what was measured
   * @throws OsierException if a datacenter did not start or answer
   */
  protected abstract void measure(Results results) throws IOException, InterruptedException;

  /** Draws what was measured. */
  protected abstract void plot(Plots plots) throws IOException;

  @Override
  public final Integer call() throws IOException, InterruptedException {
    if (rounds() < 1) {
      System.err.println("error: --rounds must be 1 or more, not " + rounds);
      return 2;
    }
    if (jsonFile != null) {
      Path parent = jsonFile.toAbsolutePath().getParent();
      if (parent == null || !Files.isDirectory(parent)) {
        System.err.println("error: the folder of --json " + jsonFile + " does not exist");
        return 2;
      }
    }
    if (plotDirectory != null) {
      Files.createDirectories(plotDirectory);
    }
    Results results = new Results(spec.name());
    int code = 0;
    try {
      measure(results);
    } catch (OsierException e) {
      System.err.println("error " + e.code() + ": " + e.getMessage());
      code = 1;
    }
    if (jsonFile != null) {
      results.writeJson(jsonFile, commandLine());
    }
    if (plotDirectory != null) {
      plot(new Plots(results, plotDirectory));
    }
    return code;
  }

  private List<String> commandLine() {
    List<String> words = new ArrayList<>(List.of("./osier"));
    words.addAll(spec.root().commandLine().getParseResult().originalArgs());
    return words;
  }
}
