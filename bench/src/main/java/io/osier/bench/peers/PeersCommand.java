package io.osier.bench.peers;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.experiment.Experiment;
import io.osier.bench.experiment.Plots;
import io.osier.bench.experiment.Results;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Osier beside other stores of CRDTs for the JVM, under the same load. */
@Command(
    name = "peers",
    mixinStandardHelpOptions = true,
    description = {
      "Compares Osier's embedded form with Apache Pekko Distributed Data and with Hazelcast's PN counter: the",
      "same counter increments and the same set adds (100 different elements for each set, so that sets end",
      "at 100 elements), 1000 objects, zipfian 0.99, 8 threads, three nodes in one JVM, each called in",
      "process. Each system runs in a process of its own, in turn. Bytes are the payload of all TCP between",
      "the nodes, counted by forwarders that every system's traffic passes; the delay is from the call at",
      "the first node until the third node shows the update, asked every millisecond under load. After each",
      "load all three nodes must show exactly what was acknowledged. Hazelcast has no set that is a CRDT."
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {
      "0:measured",
      "1:a system did not start, or did not converge to what it had acknowledged",
      "2:wrong usage"
    })
public final class PeersCommand extends Experiment {
  private static final String HEAP = "-Xmx2g";
  private static final long SEED = 7;

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "SYSTEM",
      description = "only these systems: ${COMPLETION-CANDIDATES}")
  private List<PeerSystem> only = List.of(PeerSystem.values());

  /**
   * One thing that is compared under one load.
   *
   * @param name as the results show it
   */
  private record Alternative(String name, PeerSystem system, long slaMillis) {}

  /** A load, and what is compared under it. */
  private record Workload(String name, PeerLoad.Kind kind, List<Alternative> alternatives) {}

  /** For picocli. */
  public PeersCommand() {}

  private List<Workload> workloads() {
    List<Alternative> counters = new ArrayList<>();
    List<Alternative> sets = new ArrayList<>();
    for (PeerSystem system : PeerSystem.values()) {
      if (!only.contains(system)) {
        continue;
      }
      counters.add(new Alternative(system.toString(), system, 100));
      if (system.hasSets()) {
        sets.add(new Alternative(system.toString(), system, 300));
      }
      if (system == PeerSystem.OSIER && !quick()) {
        sets.add(new Alternative("osier, SLA 100 ms", system, 100));
      }
    }
    return List.of(
        new Workload("counter increments", PeerLoad.Kind.COUNTERS, counters),
        new Workload("set adds", PeerLoad.Kind.SETS, sets));
  }

  @Override
  protected void measure(Results results) throws IOException, InterruptedException {
    for (PeerSystem system : only) {
      results.note(system.toString(), system.settings());
      System.out.println(system + ": " + system.settings());
    }
    results.note("heap", HEAP + ", the default collector");
    Path directory = Files.createTempDirectory("osier-peers");
    System.out.println("logs in " + directory);
    List<Workload> workloads = workloads();
    try {
      for (int round = 1; round <= rounds(); round++) {
        for (Workload workload : workloads) {
          for (int i = 0; i < workload.alternatives.size(); i++) {
            // Each comes first, second, … in turn.
            measure(
                results,
                workload,
                workload.alternatives.get((i + round) % workload.alternatives.size()),
                round,
                directory);
          }
        }
      }
    } finally {
      // Also what was measured before one failed.
      for (Workload workload : workloads) {
        if (!workload.alternatives.isEmpty()) {
          System.out.println();
          System.out.println(results.table(workload.name));
        }
      }
    }
  }

  private void measure(
      Results results, Workload workload, Alternative alternative, int round, Path directory)
      throws IOException, InterruptedException {
    String name = round + "-" + workload.name + "-" + alternative.name + ".log";
    Path log = directory.resolve(name.replaceAll("[ ,]+", "-"));
    Map<String, Double> figures = run(workload, alternative, round, log);
    figures.forEach((metric, v) -> results.add(workload.name, alternative.name, metric, v));
    System.out.printf(
        Locale.ROOT,
        "round %d, %s, %-17s %,10.0f updates/s, %,9.0f bytes/1000, visible after %.0f ms%n",
        round,
        workload.name,
        alternative.name,
        figures.get(PeerRoundCommand.RATE),
        figures.get(PeerRoundCommand.BYTES),
        figures.get(PeerRoundCommand.P50));
  }

  /**
   * Runs one system in another process.
   *
   * @throws OsierException UNAVAILABLE if it failed
   */
  private Map<String, Double> run(Workload workload, Alternative alternative, int round, Path log)
      throws IOException, InterruptedException {
    List<String> options = new ArrayList<>(List.of(HEAP));
    options.addAll(alternative.system.javaOptions());
    Process process =
        Jvm.command(
                options,
                "bench",
                "peers-round",
                "--system=" + alternative.system,
                "--kind=" + workload.kind,
                "--seconds=" + (quick() ? 4 : 12),
                "--sla-millis=" + alternative.slaMillis,
                "--seed=" + (SEED + round))
            .redirectError(log.toFile())
            .start();
    Map<String, Double> figures = new LinkedHashMap<>();
    int code;
    try (BufferedReader said = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = said.readLine(); line != null; line = said.readLine()) {
        if (line.startsWith(PeerRoundCommand.PROGRESS)) {
          System.out.println("  " + line.substring(PeerRoundCommand.PROGRESS.length()));
        } else if (line.startsWith(PeerRoundCommand.FIGURES)) {
          figures.putAll(
              new ObjectMapper()
                  .readValue(
                      line.substring(PeerRoundCommand.FIGURES.length()),
                      new TypeReference<Map<String, Double>>() {}));
        }
      }
      code = process.waitFor();
    } finally {
      process.destroy();
    }
    if (code != 0 || figures.isEmpty()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          alternative.name + " failed under the " + workload.name + "; its log is " + log);
    }
    return figures;
  }

  @Override
  protected void plot(Plots plots) throws IOException {
    // Each load by itself: their figures differ by more than a bar can show.
    for (Workload workload : workloads()) {
      List<String> of = List.of(workload.name);
      String suffix = workload.name.replace(' ', '-');
      plots.bars(
          "peers-throughput-" + suffix, "Updates a second, 8 threads", PeerRoundCommand.RATE, of);
      plots.bars(
          "peers-bytes-" + suffix,
          "Bytes between the nodes for 1000 updates",
          PeerRoundCommand.BYTES,
          of);
      plots.bars(
          "peers-delay-" + suffix,
          "Until the third node shows an update",
          PeerRoundCommand.P50,
          of);
    }
  }
}
