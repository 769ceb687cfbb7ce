package io.osier.bench.growth;

import io.osier.bench.cluster.Directories;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How throughput, memory, starts and links grow with objects, partitions and datacenters. */
@Command(
    name = "growth",
    mixinStandardHelpOptions = true,
    description = {
      "Measures in three parts how a datacenter does as it grows. size: one process with a store"
          + " (durability",
      "async) and more and more counters, once with a cache for all of them and once for a tenth:"
          + " increments",
      "of random counters with 256 in flight, the server's processor time, heap of an object, and"
          + " how long it",
      "takes from a start until a client is served, after a proper stop and after kill -9."
          + " partitions: the",
      "same load on 1 to 8 partitions, a process each, in turn. datacenters: 2 to 10 of them in"
          + " virtual time,",
      "with the load of 'replicas': bytes on the links, when all are equal, and the real processor"
          + " time of all",
      "of them together, the simulator's own included."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:measured", "1:it could not be run", "2:wrong usage"})
public final class GrowthCommand extends Experiment {
  private static final String SIZE = "size";
  private static final String PARTITIONS = "partitions";
  private static final String DATACENTERS = "datacenters";
  private static final List<String> PARTS = List.of(SIZE, PARTITIONS, DATACENTERS);
  private static final int SIZE_MIN = 100;
  private static final int SIZE_MAX = 10_000_000;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "PART",
      description = "only these parts: size, partitions, datacenters; all unless given")
  private List<String> only = PARTS;

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "N,N,…",
      description =
          "how many counters, 100 to 10000000 and growing; 10000,100000,1000000, with --quick"
              + " without the last")
  private @Nullable List<Integer> sizes;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "of each load that is measured; 8, with --quick 2")
  private @Nullable Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description = "seconds of load before each process is measured; 15, with --quick 3")
  private @Nullable Double warmUp;

  @Spec private CommandSpec spec;

  private final List<Part> measured = new ArrayList<>();

  /** For picocli. */
  public GrowthCommand() {}

  private List<Integer> sizes() {
    return sizes != null
        ? sizes
        : quick() ? List.of(10_000, 100_000) : List.of(10_000, 100_000, 1_000_000);
  }

  private double seconds() {
    return seconds != null ? seconds : quick() ? 2 : 8;
  }

  private double warmUp() {
    return warmUp != null ? warmUp : quick() ? 3 : 15;
  }

  private void check() {
    if (!PARTS.containsAll(only) || new HashSet<>(only).size() < only.size()) {
      throw wrong("--only must be some of " + PARTS + ", each once, not " + only);
    }
    int former = SIZE_MIN - 1;
    for (int size : sizes()) {
      if (size <= former || size > SIZE_MAX) {
        throw wrong(
            "--sizes must be %d to %d and grow, not %s".formatted(SIZE_MIN, SIZE_MAX, sizes()));
      }
      former = size;
    }
    if (!(seconds() > 0) || !(warmUp() >= 0)) {
      throw wrong("--seconds must be more than 0, and --warm-up not less");
    }
  }

  private ParameterException wrong(String what) {
    return new ParameterException(spec.commandLine(), what);
  }

  private Part part(String name) {
    return switch (name) {
      case SIZE -> new Sizes(sizes());
      case PARTITIONS -> new Partitions();
      case DATACENTERS -> new Datacenters();
      default -> throw new IllegalStateException(name);
    };
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    check();
    Path directory = Files.createTempDirectory("osier-growth");
    System.out.println("logs and data in " + directory);
    results.note("updates in flight", Integer.toString(Part.IN_FLIGHT));
    results.note("durability", "async");
    Part.Scale scale = new Part.Scale(quick(), rounds(), warmUp(), seconds());
    for (String name : only) {
      Part part = part(name);
      measured.add(part);
      part.measure(results, scale, directory);
      System.out.println();
      System.out.println(results.table(name, part::owns));
    }
    Directories.delete(directory);
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    for (Part part : measured) {
      part.plot(plots);
    }
  }
}
