package io.osier.bench.run;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.datacenter.cli.session.Table;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Measured values: by case, row and figure, one for each round. Used by one thread. */
public final class Results {
  private final Map<String, Map<String, Map<String, List<Double>>>> values = new LinkedHashMap<>();

  /** Adds the value of one round. */
  public void add(String of, String row, String figure, double value) {
    values
        .computeIfAbsent(of, c -> new LinkedHashMap<>())
        .computeIfAbsent(row, r -> new LinkedHashMap<>())
        .computeIfAbsent(figure, f -> new ArrayList<>())
        .add(value);
  }

  /** Returns the values of all rounds; empty if the figure was not measured. */
  List<Double> rounds(String of, String row, String figure) {
    return values
        .getOrDefault(of, Map.of())
        .getOrDefault(row, Map.of())
        .getOrDefault(figure, List.of());
  }

  /**
   * Returns a table of a case, with a line for each row: the medians, and in brackets the range of
   * the rounds if their values differ.
   */
  public String table(String of) {
    Map<String, Map<String, List<Double>>> rows = values.getOrDefault(of, Map.of());
    Set<String> head = new LinkedHashSet<>(List.of(of));
    rows.values().forEach(row -> head.addAll(row.keySet()));
    Table table = new Table(head.toArray(new String[0]));
    rows.forEach(
        (name, row) ->
            table.add(
                head.stream()
                    .map(figure -> figure.equals(of) ? name : cell(row.get(figure)))
                    .toArray()));
    return table.toString();
  }

  private static String cell(@Nullable List<Double> rounds) {
    if (rounds == null) {
      return "";
    }
    List<Double> sorted = rounds.stream().sorted().toList();
    double least = sorted.getFirst();
    double most = sorted.getLast();
    double median = (sorted.get((sorted.size() - 1) / 2) + sorted.get(sorted.size() / 2)) / 2;
    return least == most
        ? number(median)
        : number(median) + " (" + number(least) + "-" + number(most) + ")";
  }

  private static String number(double value) {
    boolean isWhole = Math.abs(value) >= 100 || value == Math.rint(value);
    return String.format(Locale.ROOT, isWhole ? "%,.0f" : "%,.2f", value);
  }

  /** Writes every round's value, by case, row and figure. */
  void writeJson(Path file) throws IOException {
    new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(file.toFile(), values);
  }

  /** Adds the values that another process has written by {@link #writeJson}. */
  void addJson(Path file) throws IOException {
    new ObjectMapper()
        .readValue(
            file.toFile(),
            new TypeReference<Map<String, Map<String, Map<String, List<Double>>>>>() {})
        .forEach(
            (of, rows) ->
                rows.forEach(
                    (row, figures) ->
                        figures.forEach(
                            (figure, all) -> all.forEach(value -> add(of, row, figure, value)))));
  }
}
