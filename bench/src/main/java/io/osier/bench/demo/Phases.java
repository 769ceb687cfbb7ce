package io.osier.bench.demo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.osier.datacenter.cli.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * What happened between the disturbances: which shipments were late, in which phase and why. What a
 * phase's end holds up is late in the next one. Not thread-safe.
 */
final class Phases {
  private record Phase(String name, Sample from, Sample to) {
    long count(String sum) {
      return to.figures().sum(sum) - from.figures().sum(sum);
    }

    long reason(String reason) {
      return count("violations_by_reason/" + reason);
    }

    double seconds() {
      return (to.nanos() - from.nanos()) / 1e9;
    }

    double cpuSeconds() {
      return (to.datacenterCpu().toNanos() - from.datacenterCpu().toNanos()) / 1e9;
    }

    double p99Millis() {
      Histogram since = to.figures().visibilityMicros().copy();
      try {
        since.subtract(from.figures().visibilityMicros());
      } catch (IllegalArgumentException e) {
        return 0; // a report is missing in between
      }
      return since.getValueAtPercentile(99) / 1e3;
    }
  }

  private final List<Phase> phases = new ArrayList<>();
  private Sample last;

  Phases(Sample start) {
    last = start;
  }

  /** The phase that began with the last one's end is over. */
  void end(String name, Sample now) {
    phases.add(new Phase(name, last, now));
    last = now;
  }

  Table table() {
    Table table =
        new Table(
            "phase",
            "s",
            "updates/s",
            "p99 ms",
            "late, links up",
            "left late",
            "long way",
            "waited",
            "late, outage",
            "datacenters' processor s");
    for (Phase p : phases) {
      table.add(
          p.name,
          String.format(Locale.ROOT, "%.1f", p.seconds()),
          String.format(Locale.ROOT, "%,.0f", p.count("updates") / p.seconds()),
          String.format(Locale.ROOT, "%.0f", p.p99Millis()),
          Long.toString(p.count("sla_violations")),
          Long.toString(p.reason("origin")),
          Long.toString(p.reason("way")),
          Long.toString(p.reason("dependency")),
          Long.toString(p.count("late_after_outage")),
          String.format(Locale.ROOT, "%.1f", p.cpuSeconds()));
    }
    return table;
  }

  void write(ArrayNode json) {
    for (Phase p : phases) {
      json.addObject()
          .put("phase", p.name)
          .put("seconds", p.seconds())
          .put("updates", p.count("updates"))
          .put("visibility_p99_ms", p.p99Millis())
          .put("sla_violations", p.count("sla_violations"))
          .put("left_late", p.reason("origin"))
          .put("long_way", p.reason("way"))
          .put("waited", p.reason("dependency"))
          .put("late_after_outage", p.count("late_after_outage"))
          .put("datacenters_cpu_seconds", p.cpuSeconds());
    }
  }
}
