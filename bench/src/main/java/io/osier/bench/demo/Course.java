package io.osier.bench.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.LocalCluster;
import io.osier.core.OsierException;
import io.osier.datacenter.cli.session.Table;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The disturbances while the load runs, a cut and a kill, and the line that is printed each second.
 */
final class Course implements AutoCloseable {
  static final String VICTIM = "ap";
  private static final long SHOWN_NANOS = 1_000_000_000L;
  private static final int HOT = 4;

  /**
   * The counters at a moment.
   *
   * @param cpu the processor time of the datacenters' processes so far
   */
  record Sample(Figures figures, long wanBytes, Duration cpu, long nanos) {
    static Sample of(LocalCluster cluster) {
      return new Sample(Figures.of(cluster), cluster.wanBytes(), cluster.cpu(), System.nanoTime());
    }
  }

  /**
   * The time between two disturbances. An update that a disturbance holds up is late in the next
   * phase.
   *
   * @param name the state of the links and datacenters in this phase
   * @param stallMillis the longest time that this machine let a thread wait meanwhile
   * @param collectionMillis the longest pause of a datacenter for a garbage collection meanwhile
   */
  record Phase(String name, Sample from, Sample to, long stallMillis, double collectionMillis) {
    Figures figures() {
      return to.figures.since(from.figures);
    }

    double seconds() {
      return (to.nanos - from.nanos) / 1e9;
    }

    double cpuSeconds() {
      return (to.cpu.toNanos() - from.cpu.toNanos()) / 1e9;
    }
  }

  /**
   * A disturbance, or its end.
   *
   * @param at when it happens, as a share of the load's time
   * @param ends the name of the phase that ends with it; empty if none does
   */
  private record Step(double at, String ends, String said, Runnable action) {}

  private final LocalCluster cluster;
  private final int seconds;
  private final boolean live;
  private final Consumer<String> say;
  private final List<Phase> phases = new ArrayList<>();
  private final Stalls stalls = new Stalls();

  /** By datacenter, the collections that were counted in earlier phases. */
  private final Map<String, Integer> collections = new HashMap<>();

  private final Sample first;
  private @Nullable Comeback comeback;
  private boolean isCut;
  private long shownDone;

  /**
   * Begins the first phase now.
   *
   * @param live whether the terminal shows the present state instead of a line each second
   */
  Course(LocalCluster cluster, int seconds, boolean live, Consumer<String> say) {
    this.cluster = cluster;
    this.seconds = seconds;
    this.live = live;
    this.say = say;
    this.first = Sample.of(cluster);
    takeLongestCollection();
  }

  /** Returns how the killed datacenter came back; null before it was started again. */
  @Nullable Comeback comeback() {
    return comeback;
  }

  /** Returns the phases that have ended. */
  List<Phase> phases() {
    return phases;
  }

  private void cut(boolean now) {
    isCut = now;
    if (now) {
      cluster.links().cut("eu", "us");
    } else {
      cluster.links().heal("eu", "us");
    }
  }

  private void startAgain() {
    cluster.start(VICTIM);
    comeback = new Comeback(cluster, VICTIM);
  }

  /** Ends the present phase, and begins the next one. */
  void end(String name) {
    Sample from = phases.isEmpty() ? first : phases.getLast().to;
    phases.add(
        new Phase(
            name, from, Sample.of(cluster), stalls.takeWorstMillis(), takeLongestCollection()));
  }

  private double takeLongestCollection() {
    double longest = 0;
    for (String dc : cluster.dcs()) {
      List<Double> all = cluster.collectionsMillis(dc);
      int over = collections.getOrDefault(dc, 0);
      longest = all.stream().skip(over).mapToDouble(d -> d).reduce(longest, Math::max);
      collections.put(dc, all.size());
    }
    return longest;
  }

  @Override
  public void close() {
    stalls.close();
  }

  /** Disturbs and prints until the load's time is over. */
  void run(DemoLoad load, long startNanos) {
    Deque<Step> steps =
        new ArrayDeque<>(
            List.of(
                new Step(0.45, "links up", "the link eu - us is cut", () -> cut(true)),
                new Step(0.60, "eu - us cut", "the link eu - us is healed", () -> cut(false)),
                new Step(0.75, "healed", VICTIM + " is killed", () -> cluster.kill(VICTIM)),
                new Step(0.80, "", VICTIM + " is started again", this::startAgain)));
    Sample last = first;
    double at = 0;
    while (at < 1) {
      double next = steps.isEmpty() ? 1 : steps.peek().at;
      LockSupport.parkNanos(Math.min(SHOWN_NANOS, (long) ((next - at) * seconds * 1e9) + 1));
      at = (System.nanoTime() - startNanos) / 1e9 / seconds;
      while (!steps.isEmpty() && steps.peek().at <= at) {
        Step step = steps.poll();
        if (!step.ends.isEmpty()) {
          end(step.ends);
        }
        step.action.run();
        say.accept("--- " + step.said + " ---");
      }
      Sample now = Sample.of(cluster);
      show(now, last, load);
      last = now;
    }
    // However slow the reports were, every step is done now, so the link is healed.
    end(VICTIM + " killed, started again");
  }

  private void show(Sample now, Sample before, DemoLoad load) {
    Figures f = now.figures.since(first.figures);
    long wanBytes = now.wanBytes - first.wanBytes;
    long plain = f.plainBytes(wanBytes);
    long ifOps = f.plainBytesIfOps(wanBytes);
    String line =
        String.format(
            Locale.ROOT,
            "%,.0f updates/s | %d objects in state mode | WAN %.2f MB, not compressed %.2f MB, %.0f"
                + " %% of operations' %.2f MB | visible after p50 %.0f, p99 %.0f ms | late with the"
                + " links up: %d%s",
            (load.done() - shownDone) / ((now.nanos - before.nanos) / 1e9),
            f.sum("state_mode_objects"),
            wanBytes / 1e6,
            plain / 1e6,
            100.0 * plain / Math.max(1, ifOps),
            ifOps / 1e6,
            f.visibilityMillis(50),
            f.visibilityMillis(99),
            f.sum("sla_violations"),
            isCut ? " | eu - us CUT" : "");
    shownDone = load.done();
    if (!live) {
      say.accept(line);
      return;
    }
    System.out.print("\033[H\033[2J");
    say.accept(line.replace(" | ", "\n         "));
    System.out.println("         acknowledged updates: " + load.done());
    System.out.println("         dashboard: " + cluster.dashboard(cluster.dcs().getFirst()));
    System.out.println("\n" + hottest());
  }

  private Table hottest() {
    List<String> columns = List.of("key", "type", "mode", "updates_per_s", "object_bytes");
    Table table = new Table("at", "key", "type", "mode", "updates/s", "object B");
    for (String dc : cluster.dcs()) {
      for (JsonNode keyspace : hot(dc)) {
        for (JsonNode h : keyspace.get("hot")) {
          List<Object> cells = new ArrayList<>(List.of(dc));
          columns.forEach(column -> cells.add(h.get(column).asText()));
          table.add(cells.toArray());
        }
      }
    }
    return table;
  }

  private JsonNode hot(String dc) {
    try {
      return cluster.inspect(dc, Request.Topic.HOT, HOT).get("keyspaces");
    } catch (OsierException e) {
      return NullNode.getInstance(); // the datacenter is being started again
    }
  }
}
