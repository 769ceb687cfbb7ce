package io.osier.bench.storage;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.osier.datacenter.cli.Table;
import java.util.Locale;

/** 75/25 on 1 to 10,000 keys. */
final class Contention implements Part {
  @Override
  public Result measure(Scale scale, ArrayNode json) throws InterruptedException {
    Table table = new Table("keys", "ops/s", "update p50 µs", "p99");
    try (Rig rig = new Rig(scale.dir(), "sync", "256MiB")) {
      new Driver(rig.client, scale.inFlight(), 100, 25, 0).run(scale.seconds(), 1);
      for (int keys : new int[] {1, 10, 100, 1_000, 10_000}) {
        Driver.Outcome o =
            new Driver(rig.client, scale.inFlight(), keys, 25, 0).run(scale.seconds(), 2);
        table.add(
            Integer.toString(keys),
            String.format(Locale.ROOT, "%,.0f", o.operationsPerSecond()),
            Long.toString(o.updateMicros().getValueAtPercentile(50)),
            Long.toString(o.updateMicros().getValueAtPercentile(99)));
        json.addObject()
            .put("keys", keys)
            .put("ops_per_s", Math.round(o.operationsPerSecond()))
            .put("update_p50_us", o.updateMicros().getValueAtPercentile(50))
            .put("update_p99_us", o.updateMicros().getValueAtPercentile(99));
      }
    }
    return new Result("contention: 75/25, sync, uniform over the keys", table);
  }
}
