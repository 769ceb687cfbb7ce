package io.osier.bench.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** Runs YCSB's own client with the binding set. */
@Command(
    name = "ycsb",
    mixinStandardHelpOptions = true,
    description = {
      "Runs YCSB's client against Osier; all options are YCSB's own.",
      "",
      "  osier ycsb -load -P workload -p osier.endpoints=eu=127.0.0.1:7400 -s",
      "  osier ycsb -t -threads 4 -p osier.endpoints=eu=127.0.0.1:7400 \\",
      "      -p workload=site.ycsb.workloads.CoreWorkload -p table=ycsb \\",
      "      -p recordcount=1000 -p operationcount=10000",
      "",
      "Properties of the binding: osier.endpoints, osier.dc, osier.keyspace, osier.timeout.ms."
    })
public final class YcsbCommand implements Callable<Integer> {
  @Unmatched private List<String> arguments = new ArrayList<>();

  /** For picocli. */
  public YcsbCommand() {}

  @Override
  public Integer call() {
    List<String> all = new ArrayList<>(List.of("-db", OsierDB.class.getName()));
    all.addAll(arguments);
    site.ycsb.Client.main(all.toArray(new String[0])); // exits the process itself
    return 0;
  }
}
