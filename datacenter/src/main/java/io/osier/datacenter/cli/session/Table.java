package io.osier.datacenter.cli.session;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A plain text table with a header. Not thread-safe. */
public final class Table {
  private final List<String[]> rows = new ArrayList<>();

  public Table(String... header) {
    rows.add(header);
  }

  public void add(Object... cells) {
    rows.add(Arrays.stream(cells).map(Table::text).toArray(String[]::new));
  }

  boolean isEmpty() {
    return rows.size() == 1;
  }

  private static String text(Object cell) {
    return ValueText.harmless(String.valueOf(cell));
  }

  @Override
  public String toString() {
    int columns = rows.getFirst().length;
    int[] widths = new int[columns];
    for (String[] row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row[i].length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        line.append(row[i]).append(" ".repeat(widths[i] - row[i].length() + 2));
      }
      text.append(text.isEmpty() ? "" : "\n").append(line.toString().stripTrailing());
    }
    return text.toString();
  }
}
