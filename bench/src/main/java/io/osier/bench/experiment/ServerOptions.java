package io.osier.bench.experiment;

import java.util.List;
import picocli.CommandLine.Option;

/** Options of Java for the datacenters that a command starts, such as those of a profiler. */
public final class ServerOptions {
  @Option(
      names = "--server-options",
      paramLabel = "OPTION",
      split = ",,",
      description = "further options of Java for each datacenter, separated by two commas")
  private List<String> options = List.of();

  /** For picocli. */
  public ServerOptions() {}

  /** What was given, in its order. */
  public List<String> list() {
    return options;
  }
}
