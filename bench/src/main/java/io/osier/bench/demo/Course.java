package io.osier.bench.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import io.osier.datacenter.cli.Table;
import io.osier.protocol.Request;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** What happens while the load runs: a cut, a kill, and what is shown of it each second. */
final class Course {
  static final String VICTIM = "ap";
  private static final long SHOWN_NANOS = 1_000_000_000L;
  private static final int HOT = 4;

  /**
   * One disturbance.
   *
   * @param at the share of the load's time
   * @param ends the phase that ends with it; empty if it is part of one
   */
  private record Step(double at, String ends, String said, Runnable action) {}

  private final LocalCluster cluster;
  private final int seconds;
  private final String sla;
  private final boolean live;
  private final Consumer<String> say;
  private boolean isCut;

  /**
   * A course that has not begun.
   *
   * @param sla as the person wrote it
   * @param live whether a person looks on
   */
  Course(LocalCluster cluster, int seconds, String sla, boolean live, Consumer<String> say) {
    this.cluster = cluster;
    this.seconds = seconds;
    this.sla = sla;
    this.live = live;
    this.say = say;
  }

  private Deque<Step> steps() {
    return new ArrayDeque<>(
        List.of(
            new Step(0.45, "links up", "the link eu - us is cut", () -> cut(true)),
            new Step(0.60, "eu - us cut", "the link eu - us is healed", () -> cut(false)),
            new Step(0.75, "healed", VICTIM + " is killed", () -> cluster.kill(VICTIM)),
            new Step(0.80, "", VICTIM + " is started again", () -> cluster.start(VICTIM))));
  }

  private void cut(boolean now) {
    isCut = now;
    if (now) {
      cluster.cut("eu", "us");
    } else {
      cluster.heal("eu", "us");
    }
  }

  /** Runs until the load's time is over. */
  Phases run(DemoLoad load) {
    Sample last = Sample.of(cluster);
    Phases phases = new Phases(last);
    Deque<Step> steps = steps();
    double at = 0;
    while (at < 1) {
      double next = steps.isEmpty() ? 1 : steps.peek().at;
      LockSupport.parkNanos(Math.min(SHOWN_NANOS, (long) ((next - at) * seconds * 1e9) + 1));
      at = (System.nanoTime() - load.startNanos()) / 1e9 / seconds;
      Sample now = Sample.of(cluster);
      while (!steps.isEmpty() && steps.peek().at <= at) {
        Step step = steps.poll();
        if (!step.ends.isEmpty()) {
          phases.end(step.ends, now);
        }
        step.action.run();
        say.accept("--- " + step.said + " ---");
      }
      show(now, last, load);
      last = now;
    }
    // Even slow reports cannot leave the link cut: the load's time is over, and every step done.
    phases.end(VICTIM + " killed, started again", last);
    return phases;
  }

  private void show(Sample now, Sample before, DemoLoad load) {
    Figures f = now.figures();
    double rate =
        (f.updates() - before.figures().updates()) / ((now.nanos() - before.nanos()) / 1e9);
    long ifOps = f.wanBytesIfOps(now.wanBytes());
    String line =
        String.format(
            Locale.ROOT,
            "%,.0f updates/s | %d objects in state mode | WAN %.2f MB, as operations %.2f MB (%.0f"
                + " %%) | visible after p50 %.0f, p99 %.0f, max %.0f ms, SLA %s%s",
            rate,
            f.sum("state_mode_objects"),
            now.wanBytes() / 1e6,
            ifOps / 1e6,
            100.0 * now.wanBytes() / Math.max(1, ifOps),
            f.visibilityMillis(50),
            f.visibilityMillis(99),
            f.visibilityMicros().getMaxValue() / 1e3,
            sla,
            isCut ? " | eu - us CUT" : "");
    if (!live) {
      say.accept(line);
      return;
    }
    System.out.print("\033[H\033[2J");
    say.accept(line.replace(" | ", "\n         "));
    System.out.println("         acknowledged by counters and sets: " + load.counters().done());
    System.out.println("         dashboard: " + cluster.dashboard(cluster.dcs().getFirst()));
    System.out.println();
    System.out.println(hottest());
  }

  private Table hottest() {
    Table table = new Table("at", "key", "type", "mode", "updates/s", "object B");
    for (String dc : cluster.dcs()) {
      for (JsonNode keyspace : hot(dc)) {
        for (JsonNode h : keyspace.get("hot")) {
          table.add(
              dc,
              h.get("key").asText(),
              h.get("type").asText(),
              h.get("mode").asText(),
              h.get("updates_per_s").asText(),
              h.get("object_bytes").asText());
        }
      }
    }
    return table;
  }

  private JsonNode hot(String dc) {
    try {
      return cluster.inspect(dc, Request.Topic.HOT, HOT).get("keyspaces");
    } catch (OsierException e) {
      return NullNode.getInstance(); // it is being started again
    }
  }
}
