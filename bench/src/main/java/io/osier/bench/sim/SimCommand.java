package io.osier.bench.sim;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs simulations of many seeds. */
@Command(
    name = "sim",
    mixinStandardHelpOptions = true,
    description = {
      "Simulates datacenters, clients and faults in virtual time and checks convergence, that every",
      "acknowledged update is there exactly once, per-object causal order, session guarantees and",
      "SLAs. The same seed gives the same run.",
      "",
      "  osier sim --dcs 3 --seeds 1..100",
      "  osier sim --dcs 5 --seeds 42 --faults partitions,crashes --trace trace.txt",
      "",
      "The last line reads: N seeds, F failures, H simulated hours."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:no failures", "1:failures", "2:wrong usage"})
public final class SimCommand implements Callable<Integer> {
  @Option(
      names = "--dcs",
      defaultValue = "3",
      paramLabel = "N",
      description = "datacenters, 2 to 10 (default: ${DEFAULT-VALUE})")
  private int dcs;

  @Option(
      names = "--seeds",
      defaultValue = "1..20",
      paramLabel = "A..B",
      description = "one seed or a range (default: ${DEFAULT-VALUE})")
  private String seeds;

  @Option(
      names = "--faults",
      defaultValue = "all",
      paramLabel = "LIST",
      description =
          "none, all, or some of loss,duplicates,reorder,partitions,crashes,slow,clocks"
              + " (default: ${DEFAULT-VALUE}); each seed draws from them")
  private String faults;

  @Option(
      names = "--minutes",
      defaultValue = "5",
      paramLabel = "M",
      description = "virtual minutes of load for each seed, 1 to 600 (default: ${DEFAULT-VALUE})")
  private int minutes;

  @Option(names = "--trace", paramLabel = "FILE", description = "write every event to a file")
  private File traceFile;

  @Option(names = "--verbose", description = "print a line for each seed")
  private boolean verbose;

  /** For picocli. */
  public SimCommand() {}

  @Override
  public Integer call() throws IOException {
    long first;
    long last;
    Set<Fault> wanted;
    try {
      String[] range = seeds.split("\\.\\.", -1);
      first = Long.parseLong(range[0]);
      last = Long.parseLong(range[range.length - 1]);
      wanted = faults();
      if (range.length > 2 || last < first || dcs < 2 || dcs > 10 || minutes < 1 || minutes > 600) {
        throw new IllegalArgumentException("a value is out of range");
      }
    } catch (IllegalArgumentException e) {
      System.err.println(
          "--dcs must be 2 to 10, --seeds a number or A..B, --minutes 1 to 600, --faults none, all or a"
              + " list of "
              + Arrays.toString(Fault.values()).toLowerCase(Locale.ROOT)
              + " ("
              + e.getMessage()
              + ")");
      return 2;
    }
    SimOptions options = new SimOptions(dcs, wanted, minutes * 60);
    int failures = 0;
    long nanos = 0;
    try (PrintStream trace =
        traceFile == null ? null : new PrintStream(traceFile, StandardCharsets.UTF_8)) {
      for (long seed = first; seed <= last; seed++) {
        Simulation simulation = new Simulation(options, seed, trace);
        failures += run(simulation, seed) ? 0 : 1;
        nanos += simulation.elapsedNanos();
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%d seeds, %d failures, %.1f simulated hours%n",
        last - first + 1,
        failures,
        nanos / 3.6e12);
    return failures == 0 ? 0 : 1;
  }

  private Set<Fault> faults() {
    return switch (faults) {
      case "all" -> EnumSet.allOf(Fault.class);
      case "none" -> EnumSet.noneOf(Fault.class);
      default -> {
        Set<Fault> some = EnumSet.noneOf(Fault.class);
        for (String name : faults.split(",", -1)) {
          some.add(Fault.valueOf(name.trim().toUpperCase(Locale.ROOT)));
        }
        yield some;
      }
    };
  }

  private boolean run(Simulation simulation, long seed) {
    try {
      simulation.run();
      if (verbose) {
        System.out.printf(
            Locale.ROOT,
            "seed %d: %.0f s, %d updates, %d of them checked against their SLA%n",
            seed,
            simulation.elapsedNanos() / 1e9,
            simulation.updates(),
            simulation.slaChecked());
      }
      return true;
    } catch (Violation e) {
      failed(simulation, seed, e, e.about);
    } catch (RuntimeException e) {
      failed(simulation, seed, e, "");
      e.printStackTrace(System.out);
    }
    return false;
  }

  private void failed(Simulation simulation, long seed, RuntimeException e, String about) {
    System.out.println("seed " + seed + " FAILED: " + e.getMessage());
    System.out.println("  the last events about it:");
    System.out.print(simulation.trace().about(about));
    System.out.println("  the streams:");
    System.out.print(simulation.streams());
    System.out.printf(
        "  repeat with: osier sim --dcs %d --seeds %d --faults %s --minutes %d%n",
        dcs, seed, faults, minutes);
  }
}
