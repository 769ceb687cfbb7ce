package io.osier.bench.storage;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.osier.datacenter.cli.Table;
import java.util.Locale;

/** 75/25, uniform, on data that fits the cache and on ten times as much. */
final class CacheSizes implements Part {
  /** What a counter weighs in the cache, about. */
  private static final int COUNTER_WEIGHT = 360;

  @Override
  public Result measure(Scale scale, ArrayNode json) throws InterruptedException {
    Table table =
        new Table("keys", "fit the cache", "ops/s", "read p50 µs", "p99", "update p50 µs", "p99");
    int keys = scale.quick() ? 100_000 : 1_000_000;
    for (int times : new int[] {1, 10}) {
      // Room for all, with a margin, or for a tenth.
      long bytes = Math.max(2 << 20, (long) keys * COUNTER_WEIGHT * 3 / 2 / (times == 1 ? 1 : 15));
      try (Rig rig = new Rig(scale.dir().resolve("x" + times), "sync", bytes + "B")) {
        rig.fill(keys, keys);
        Driver.Outcome o =
            new Driver(rig.client, scale.inFlight(), keys, 25, 0).run(scale.seconds(), 3);
        table.add(
            String.format(Locale.ROOT, "%,d", keys),
            times == 1 ? "all" : "a tenth",
            String.format(Locale.ROOT, "%,.0f", o.operationsPerSecond()),
            Long.toString(o.readMicros().getValueAtPercentile(50)),
            Long.toString(o.readMicros().getValueAtPercentile(99)),
            Long.toString(o.updateMicros().getValueAtPercentile(50)),
            Long.toString(o.updateMicros().getValueAtPercentile(99)));
        json.addObject()
            .put("keys", keys)
            .put("times_the_cache", times)
            .put("ops_per_s", Math.round(o.operationsPerSecond()))
            .put("read_p50_us", o.readMicros().getValueAtPercentile(50))
            .put("read_p99_us", o.readMicros().getValueAtPercentile(99));
      }
    }
    return new Result("cache: 75/25, sync, uniform over the counters", table);
  }
}
