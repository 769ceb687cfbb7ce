package io.osier.bench.storage;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.bench.cluster.Directories;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures the durable store: one datacenter in this process, the client library on loopback. */
@Command(
    name = "storage",
    mixinStandardHelpOptions = true,
    description = {
      "Measures one durable datacenter in this process through the client library on loopback:",
      "  mixes       reads and updates from 99/1 to 1/99, for none, async and sync, in turn",
      "  raw         RocksDB alone, writing batches of the same size and bytes with sync",
      "  contention  75/25 on 1 to 10,000 keys",
      "  cache       75/25, uniform, on data that fits the cache and on ten times as much",
      "  recovery    from the start to the first answer, by objects and by log records",
      "  memory      of a key in memory: counters, registers, sets of ten elements"
    })
public final class StorageCommand implements Callable<Integer> {
  private static final List<String> PARTS =
      List.of("mixes", "raw", "contention", "cache", "recovery", "memory");

  @Spec private CommandSpec spec;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "PART",
      description = "only these parts (default: all)")
  private List<String> only = PARTS;

  @Option(names = "--quick", description = "short runs: a look, not a result")
  private boolean quick;

  @Option(
      names = "--in-flight",
      defaultValue = "512",
      paramLabel = "N",
      description = "requests under way (default: ${DEFAULT-VALUE})")
  private int inFlight;

  @Option(names = "--json", paramLabel = "FILE", description = "write the results as JSON")
  private File jsonFile;

  private final ObjectMapper mapper = new ObjectMapper();
  private final ObjectNode results = mapper.createObjectNode();

  /** For picocli. */
  public StorageCommand() {}

  @Override
  public Integer call() throws Exception {
    if (!Set.copyOf(PARTS).containsAll(only)) {
      throw new ParameterException(
          spec.commandLine(), "--only must be some of " + PARTS + ", not " + only);
    }
    if (inFlight < 2) {
      throw new ParameterException(spec.commandLine(), "--in-flight must be at least 2");
    }
    Path dir = Files.createTempDirectory("osier-storage");
    try {
      for (String part : only) {
        Part.Scale scale = new Part.Scale(dir.resolve(part), quick, inFlight);
        Part.Result result = part(part).measure(scale, results.putArray(part));
        System.out.println();
        System.out.println(result.title());
        System.out.println(result.table());
      }
    } finally {
      Directories.delete(dir);
    }
    if (jsonFile != null) {
      mapper.writerWithDefaultPrettyPrinter().writeValue(jsonFile, results);
    }
    return 0;
  }

  private static Part part(String name) {
    return switch (name) {
      case "mixes" -> new Mixes();
      case "raw" -> new RawRocks();
      case "contention" -> new Contention();
      case "cache" -> new CacheSizes();
      case "recovery" -> new Recovery();
      case "memory" -> new HeapOfKeys();
      default -> throw new IllegalStateException(name);
    };
  }
}
