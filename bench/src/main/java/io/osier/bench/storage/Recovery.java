package io.osier.bench.storage;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.osier.datacenter.cli.Table;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** From the start to the first answer, by objects and by log records. */
final class Recovery implements Part {
  /** A peer that is never there: all of the log is kept for it. */
  private static final String AWAY = "away = \"127.0.0.1:1\"";

  @Override
  public Result measure(Scale scale, ArrayNode json) {
    Table table = new Table("objects", "log records", "start to first answer, ms");
    int[][] cases =
        scale.quick()
            ? new int[][] {{10_000, 10_000}, {100_000, 100_000}}
            : new int[][] {{100_000, 100_000}, {100_000, 1_000_000}, {1_000_000, 1_000_000}};
    for (int[] c : cases) {
      Path own = scale.dir().resolve(c[0] + "-" + c[1]);
      try (Rig rig = new Rig(own, "async", "64MiB", AWAY)) {
        rig.fill(c[0], c[1]);
      }
      List<Double> times = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        long began = System.nanoTime();
        try (Rig rig = new Rig(own, "sync", "64MiB", AWAY)) {
          rig.space().counter("k" + (c[0] / 2)).get();
          times.add((System.nanoTime() - began) / 1e6);
        }
      }
      times.sort(Comparator.naturalOrder());
      table.add(
          String.format(Locale.ROOT, "%,d", c[0]),
          String.format(Locale.ROOT, "%,d", c[1]),
          String.format(Locale.ROOT, "%.0f", times.get(1)));
      json.addObject()
          .put("objects", c[0])
          .put("log_records", c[1])
          .put("millis", Math.round(times.get(1)));
    }
    return new Result(
        "recovery: opening the store, listening, connecting, reading one object (median of 3)",
        table);
  }
}
