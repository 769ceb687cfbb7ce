package io.osier.bench.experiment;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What was measured of alternatives under workloads, round by round: medians with the least and the
 * most, as a table, and as JSON with the machine, the JVM, the commit and the command. Not
 * thread-safe.
 */
final class Comparison {
  private final String name;
  private final List<String> metrics;

  /** Workload → alternative → metric → the rounds' values. */
  private final Map<String, Map<String, Map<String, List<Double>>>> values = new LinkedHashMap<>();

  /**
   * An empty comparison.
   *
   * @param metrics in the order of the table's columns
   */
  Comparison(String name, List<String> metrics) {
    this.name = name;
    this.metrics = List.copyOf(metrics);
  }

  /** Adds what a round measured. */
  void add(String workload, String alternative, String metric, double value) {
    values
        .computeIfAbsent(workload, w -> new LinkedHashMap<>())
        .computeIfAbsent(alternative, a -> new LinkedHashMap<>())
        .computeIfAbsent(metric, m -> new ArrayList<>())
        .add(value);
  }

  private static double median(List<Double> all) {
    List<Double> sorted = all.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  /** The table of a workload: medians, and in brackets the least and the most. */
  String table(String workload) {
    StringBuilder text = new StringBuilder(workload).append('\n');
    text.append(String.format(Locale.ROOT, "%-14s", ""));
    metrics.forEach(m -> text.append(String.format(Locale.ROOT, " %24s", m)));
    text.append('\n');
    values
        .get(workload)
        .forEach(
            (alternative, of) -> {
              text.append(String.format(Locale.ROOT, "%-14s", alternative));
              for (String metric : metrics) {
                List<Double> all = of.getOrDefault(metric, List.of(0.0));
                String cell =
                    String.format(
                        Locale.ROOT,
                        "%,.0f (%,.0f-%,.0f)",
                        median(all),
                        all.stream().mapToDouble(v -> v).min().orElse(0),
                        all.stream().mapToDouble(v -> v).max().orElse(0));
                text.append(String.format(Locale.ROOT, " %24s", cell));
              }
              text.append('\n');
            });
    return text.toString();
  }

  /** Writes everything, and what it was measured with. */
  void writeJson(Path file, List<String> command) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode root = mapper.createObjectNode();
    root.put("experiment", name);
    ObjectNode machine = root.putObject("machine");
    machine.put("cores", Runtime.getRuntime().availableProcessors());
    machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put("jvm", System.getProperty("java.vm.version"));
    machine.put("options", ManagementFactory.getRuntimeMXBean().getInputArguments().toString());
    root.put("commit", commit());
    root.put("command", String.join(" ", command));
    ArrayNode results = root.putArray("results");
    values.forEach(
        (workload, alternatives) ->
            alternatives.forEach(
                (alternative, of) -> {
                  ObjectNode row = results.addObject();
                  row.put("workload", workload);
                  row.put("alternative", alternative);
                  of.forEach(
                      (metric, all) -> {
                        ObjectNode cell = row.putObject(metric);
                        cell.put("median", median(all));
                        all.forEach(cell.putArray("rounds")::add);
                      });
                }));
    mapper.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
  }

  private static String commit() {
    try {
      Process git = new ProcessBuilder("git", "rev-parse", "HEAD").start();
      return new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }
}
