package io.osier.bench.run;

import com.fasterxml.jackson.databind.JsonNode;
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
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What was measured: by case, row and figure, a value for each round. Used by one thread. */
final class Results {
  private final Map<String, Map<String, Map<String, List<Double>>>> values = new LinkedHashMap<>();
  private final Map<String, String> notes = new LinkedHashMap<>();

  /** Adds a round's value. */
  void add(String of, String row, String figure, double value) {
    values
        .computeIfAbsent(of, c -> new LinkedHashMap<>())
        .computeIfAbsent(row, r -> new LinkedHashMap<>())
        .computeIfAbsent(figure, f -> new ArrayList<>())
        .add(value);
  }

  /**
   * Remembers what a reader must know.
   *
   * @return whether it was known
   */
  boolean note(String what, String text) {
    return text.equals(notes.put(what, text));
  }

  /** Whether there is a figure of a case. */
  boolean isMeasured(String of) {
    return values.containsKey(of);
  }

  /** The rounds' values; empty if it was not measured. */
  List<Double> rounds(String of, String row, String figure) {
    return values
        .getOrDefault(of, Map.of())
        .getOrDefault(row, Map.of())
        .getOrDefault(figure, List.of());
  }

  /** The middle of the rounds; 0 if it was not measured. */
  double median(String of, String row, String figure) {
    return median(rounds(of, row, figure));
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
   * The table of a case, a line for each row, as Markdown: medians, and after them the range of the
   * rounds if there was more than one.
   */
  String table(String of) {
    Map<String, Map<String, List<Double>>> rows = values.getOrDefault(of, Map.of());
    Set<String> figures = new LinkedHashSet<>();
    rows.values().forEach(row -> figures.addAll(row.keySet()));
    List<List<String>> cells = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(of));
    head.addAll(figures);
    cells.add(head);
    rows.forEach(
        (name, row) -> {
          List<String> line = new ArrayList<>(List.of(name));
          figures.forEach(figure -> line.add(cell(row.getOrDefault(figure, List.of()))));
          cells.add(line);
        });
    return markdown(cells);
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
  void writeJson(Path file, String scenario, List<String> command) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode root = mapper.createObjectNode();
    root.put("scenario", scenario);
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
        (of, rows) ->
            rows.forEach(
                (name, figures) -> {
                  ObjectNode row = results.addObject().put("case", of).put("row", name);
                  ObjectNode cells = row.putObject("figures");
                  figures.forEach(
                      (figure, all) -> {
                        ObjectNode cell = cells.putObject(figure).put("median", median(all));
                        all.forEach(cell.putArray("rounds")::add);
                      });
                }));
    mapper.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
  }

  /** Adds what another process has written as JSON. */
  void addJson(Path file) throws IOException {
    for (JsonNode row : new ObjectMapper().readTree(file.toFile()).get("results")) {
      row.get("figures")
          .properties()
          .forEach(
              figure -> {
                for (JsonNode value : figure.getValue().get("rounds")) {
                  add(
                      row.get("case").asText(),
                      row.get("row").asText(),
                      figure.getKey(),
                      value.asDouble());
                }
              });
    }
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
