package io.osier.bench.experiment;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * What an experiment measured: figures of alternatives under workloads, round by round, and curves
 * over time. Gives tables of medians with the least and the most, and JSON with the machine, the
 * JVM, the commit and the command. Not thread-safe.
 */
public final class Results {
  private final String name;

  /** Workload → alternative → metric → the rounds' values. */
  private final Map<String, Map<String, Map<String, List<Double>>>> values = new LinkedHashMap<>();

  /** Chart → curve → points. */
  private final Map<String, Map<String, List<double[]>>> curves = new LinkedHashMap<>();

  /** The machine's own words, and what else a reader must know. */
  private final Map<String, String> notes = new LinkedHashMap<>();

  /**
   * Nothing measured yet.
   *
   * @param name the experiment's
   */
  public Results(String name) {
    this.name = name;
  }

  /** Adds what a round measured. */
  public void add(String workload, String alternative, String metric, double value) {
    values
        .computeIfAbsent(workload, w -> new LinkedHashMap<>())
        .computeIfAbsent(alternative, a -> new LinkedHashMap<>())
        .computeIfAbsent(metric, m -> new ArrayList<>())
        .add(value);
  }

  /** Adds a point to a curve, for what changes over time. */
  public void point(String chart, String curve, double x, double y) {
    curves
        .computeIfAbsent(chart, c -> new LinkedHashMap<>())
        .computeIfAbsent(curve, c -> new ArrayList<>())
        .add(new double[] {x, y});
  }

  /** Remembers what a reader of the file must know, such as settings. */
  public void note(String what, String text) {
    notes.put(what, text);
  }

  Set<String> workloads() {
    return values.keySet();
  }

  /** The alternatives that were measured under any workload. */
  Set<String> alternatives() {
    Set<String> all = new LinkedHashSet<>();
    values.values().forEach(of -> all.addAll(of.keySet()));
    return all;
  }

  /** The rounds' values; empty if it was not measured. */
  List<Double> rounds(String workload, String alternative, String metric) {
    return values
        .getOrDefault(workload, Map.of())
        .getOrDefault(alternative, Map.of())
        .getOrDefault(metric, List.of());
  }

  Map<String, List<double[]>> curves(String chart) {
    return curves.getOrDefault(chart, Map.of());
  }

  /** The middle of the rounds; 0 if it was not measured. */
  public double median(String workload, String alternative, String metric) {
    return median(rounds(workload, alternative, metric));
  }

  private static double median(List<Double> all) {
    if (all.isEmpty()) {
      return 0;
    }
    List<Double> sorted = all.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  /**
   * The table of a workload, a line for each alternative, as Markdown: medians, and after them the
   * range of the rounds if there was more than one.
   */
  public String table(String workload) {
    return table(workload, values.getOrDefault(workload, Map.of()));
  }

  private static String table(String corner, Map<String, Map<String, List<Double>>> rows) {
    Set<String> metrics = new LinkedHashSet<>();
    rows.values().forEach(of -> metrics.addAll(of.keySet()));
    List<List<String>> cells = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(corner));
    head.addAll(metrics);
    cells.add(head);
    rows.forEach(
        (name, of) -> {
          List<String> line = new ArrayList<>(List.of(name));
          metrics.forEach(m -> line.add(cell(of.getOrDefault(m, List.of()))));
          cells.add(line);
        });
    return markdown(cells);
  }

  /** The table of one metric: a line for each workload, a column for each alternative. */
  public String table(String metric, String corner) {
    List<List<String>> cells = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(corner));
    head.addAll(alternatives());
    cells.add(head);
    for (String workload : workloads()) {
      List<String> line = new ArrayList<>(List.of(workload));
      alternatives().forEach(a -> line.add(cell(rounds(workload, a, metric))));
      cells.add(line);
    }
    return metric + "\n" + markdown(cells);
  }

  /** One table of several workloads: a line for each alternative under each of them. */
  public String table(String corner, Predicate<String> wanted) {
    Map<String, Map<String, List<Double>>> rows = new LinkedHashMap<>();
    values.forEach(
        (workload, alternatives) ->
            alternatives.forEach(
                (alternative, of) -> {
                  if (wanted.test(workload)) {
                    rows.put(workload + ", " + alternative, of);
                  }
                }));
    return table(corner, rows);
  }

  private static String cell(List<Double> rounds) {
    if (rounds.isEmpty()) {
      return "";
    }
    double least = rounds.stream().mapToDouble(v -> v).min().orElse(0);
    double most = rounds.stream().mapToDouble(v -> v).max().orElse(0);
    return rounds.size() == 1 || least == most
        ? number(median(rounds))
        : number(median(rounds)) + " (" + number(least) + "-" + number(most) + ")";
  }

  private static String number(double value) {
    double size = Math.abs(value);
    return String.format(
        Locale.ROOT, size >= 100 || value == Math.rint(value) ? "%,.0f" : "%,.2f", value);
  }

  private static String markdown(List<List<String>> cells) {
    StringBuilder text = new StringBuilder();
    int columns = cells.getFirst().size();
    for (int row = 0; row < cells.size(); row++) {
      for (int column = 0; column < columns; column++) {
        int at = column;
        int width = cells.stream().mapToInt(line -> line.get(at).length()).max().orElse(1);
        String format = column == 0 ? "| %-" + width + "s " : "| %" + width + "s ";
        text.append(String.format(Locale.ROOT, format, cells.get(row).get(column)));
      }
      text.append("|\n");
      if (row == 0) {
        text.append("|---".repeat(columns)).append("|\n");
      }
    }
    return text.toString();
  }

  /** Writes everything, and what it was measured with. */
  void writeJson(Path file, List<String> command) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode root = mapper.createObjectNode();
    root.put("experiment", name);
    root.put("when", Instant.now().toString());
    ObjectNode machine = root.putObject("machine");
    machine.put("cores", Runtime.getRuntime().availableProcessors());
    machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put("cpu", processor());
    machine.put("jvm", System.getProperty("java.vm.version"));
    machine.put("options", ManagementFactory.getRuntimeMXBean().getInputArguments().toString());
    root.put("commit", commit());
    root.put("command", String.join(" ", command));
    ObjectNode remarks = root.putObject("notes");
    notes.forEach(remarks::put);
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
    ObjectNode charts = root.putObject("curves");
    curves.forEach(
        (chart, all) -> {
          ObjectNode of = charts.putObject(chart);
          all.forEach((curve, points) -> write(points, of.putArray(curve)));
        });
    mapper.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
  }

  private static void write(Collection<double[]> points, ArrayNode array) {
    points.forEach(p -> array.addArray().add(p[0]).add(p[1]));
  }

  private static String processor() {
    try {
      return Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown";
    }
  }

  /** The commit of the sources, with a mark if they were changed since. */
  private static String commit() {
    try {
      Process git =
          new ProcessBuilder("git", "describe", "--always", "--dirty", "--abbrev=40").start();
      String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return said.isEmpty() ? "unknown" : said;
    } catch (IOException e) {
      return "unknown";
    }
  }
}
