package io.osier.datacenter.cli.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * Renders what {@code top} shows for people, in a number of columns and rows: what is wrong, the
 * links, the keyspaces, hot objects. Where there is little room, links that are up become one line,
 * the keyspaces of a datacenter become one line, and the least hot objects are left out. Pure.
 */
final class TopText {
  /** The most hot objects shown. */
  private static final int HOT_MAX = 20;

  /** Rows that are left for hot objects before keyspaces are added up: a heading and a few. */
  private static final int HOT_ROWS = 5;

  /**
   * A column of the table of keyspaces.
   *
   * @param wide whether it is shown only where all columns have room
   */
  private record Column(String title, boolean wide, Function<ObjectNode, String> text) {}

  private static final List<Column> COLUMNS =
      List.of(
          new Column("dc", false, k -> k.get("dc").asText()),
          new Column("keyspace", false, k -> k.get("keyspace").asText()),
          new Column("bound", false, TopText::bound),
          new Column("updates/s", false, k -> number(k.get("updates_per_s"))),
          new Column("applied/s", false, k -> number(k.get("applied_per_s"))),
          new Column("shipped", false, k -> perSecond(k.get("arrived_bytes_per_s"))),
          new Column("as operations", true, k -> perSecond(k.get("op_bytes_per_s"))),
          new Column("saved", false, TopText::saved),
          new Column("in state mode", true, k -> number(k.get("state_mode_objects"))),
          new Column("p99 ms since start", true, k -> number(k.get("visibility_p99_ms"))),
          new Column("late/s", false, k -> number(k.get("late_per_s"))),
          new Column("queued", true, k -> number(k.get("queued"))),
          new Column("refused/s", false, k -> number(k.get("refused_per_s"))));

  private final TopView view;
  private final String arrow;
  private final int columns;

  /**
   * @param arrow the text between the ends of a link
   * @param columns the number of characters of a line
   */
  TopText(TopView view, String arrow, int columns) {
    this.view = view;
    this.arrow = arrow;
    this.columns = columns;
  }

  /** Returns the lines, about as many as there are rows for. */
  List<String> lines(int rows) {
    List<String> lines = new ArrayList<>();
    for (String trouble : view.troubles) {
      addWrapped(lines, "! " + trouble);
    }
    if (view.troubles.size() > 1 && lines.size() > rows / 2) {
      lines.subList(rows / 2, lines.size()).clear();
      lines.add("! ... 'why' says all of it");
    }
    List<String> links = links(view.links);
    if (links.size() > rows / 4) {
      List<ClusterLook.Way> notUp =
          view.links.stream().filter(link -> !link.state().equals(ClusterLook.Way.UP)).toList();
      links = new ArrayList<>(links(notUp));
      if (notUp.size() < view.links.size()) {
        int up = view.links.size() - notUp.size();
        links.add(up + (up == 1 ? " link is up" : " links are up"));
      }
    }
    addSection(lines, links);
    int room = rows - lines.size() - HOT_ROWS;
    List<String> keyspaces = keyspaces(view.keyspaces);
    addSection(lines, keyspaces.size() < room ? keyspaces : keyspaces(sums()));
    addSection(lines, hot(rows - lines.size() - 2));
    lines.replaceAll(ValueText::harmless); // keys may contain anything
    return lines;
  }

  private static void addSection(List<String> lines, List<String> section) {
    if (!section.isEmpty()) {
      if (!lines.isEmpty()) {
        lines.add("");
      }
      lines.addAll(section);
    }
  }

  private void addWrapped(List<String> lines, String text) {
    String rest = text;
    while (rest.length() > columns) {
      int blank = rest.lastIndexOf(' ', columns);
      int end = blank > 2 ? blank : columns;
      lines.add(rest.substring(0, end));
      rest = "  " + rest.substring(end).strip();
    }
    lines.add(rest);
  }

  private List<String> links(List<ClusterLook.Way> of) {
    Table table = new Table("link", "state", "what waits");
    of.forEach(link -> table.add(link.from() + arrow + link.to(), link.state(), link.waits()));
    return table.isEmpty() ? List.of() : table.toString().lines().toList();
  }

  private List<String> keyspaces(List<ObjectNode> of) {
    List<String> all = keyspaces(of, COLUMNS);
    return all.stream().allMatch(line -> line.length() <= columns)
        ? all
        : keyspaces(of, COLUMNS.stream().filter(column -> !column.wide).toList());
  }

  private static List<String> keyspaces(List<ObjectNode> of, List<Column> shown) {
    Table table = new Table(shown.stream().map(Column::title).toArray(String[]::new));
    of.forEach(k -> table.add(shown.stream().map(column -> column.text.apply(k)).toArray()));
    return table.toString().lines().toList();
  }

  /** Returns for each datacenter the sums over its keyspaces; what was not measured counts as 0. */
  private List<ObjectNode> sums() {
    Map<String, ObjectNode> sums = new LinkedHashMap<>();
    Map<String, Integer> counts = new LinkedHashMap<>();
    for (ObjectNode k : view.keyspaces) {
      String dc = k.get("dc").asText();
      ObjectNode sum = sums.computeIfAbsent(dc, of -> JsonNodeFactory.instance.objectNode());
      k.properties()
          .forEach(
              e -> sum.put(e.getKey(), sum.path(e.getKey()).asDouble() + e.getValue().asDouble()));
      sum.put("dc", dc).put("keyspace", "all " + counts.merge(dc, 1, Integer::sum));
      sum.putNull("sla_ms").putNull("visibility_p99_ms"); // have no sum
    }
    return List.copyOf(sums.values());
  }

  /** Returns the hottest objects that have room. */
  private List<String> hot(int rows) {
    int most = Math.min(Math.min(HOT_MAX, rows), view.hot.size());
    if (most <= 0) {
      return List.of();
    }
    Table table = new Table("hot object", "dc", "keyspace", "type", "mode", "updates/s", "size");
    for (ObjectNode h : view.hot.subList(0, most)) {
      table.add(
          h.get("key").asText(),
          h.get("dc").asText(),
          h.get("keyspace").asText(),
          h.get("type").asText(),
          h.get("mode").asText(),
          number(h.get("updates_per_s")),
          bytes(h.get("object_bytes").asDouble()));
    }
    return table.toString().lines().toList();
  }

  private static String bound(ObjectNode keyspace) {
    JsonNode sla = keyspace.get("sla_ms");
    return sla.isNull() ? "" : Durations.text(sla.asLong());
  }

  private static String saved(ObjectNode keyspace) {
    double ops = keyspace.get("op_bytes_per_s").asDouble();
    double saved = 1 - keyspace.get("arrived_bytes_per_s").asDouble() / ops;
    return ops < 1 ? "" : Math.round(100 * saved) + "%";
  }

  private static String number(JsonNode of) {
    double value = of.asDouble();
    return of.isNull()
        ? ""
        : String.format(
            Locale.ROOT, value < 10 && value != Math.rint(value) ? "%.1f" : "%.0f", value);
  }

  private static String perSecond(JsonNode bytes) {
    return bytes.isNull() ? "" : bytes(bytes.asDouble()) + "/s";
  }

  /** Returns for example {@code 1.2 kB}: as the dashboard, by thousands. */
  private static String bytes(double value) {
    if (value < 1e3) {
      return Math.round(value) + " B";
    }
    return value < 1e6
        ? String.format(Locale.ROOT, "%.1f kB", value / 1e3)
        : String.format(Locale.ROOT, "%.1f MB", value / 1e6);
  }
}
