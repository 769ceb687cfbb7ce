package io.osier.bench.peers;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * One system under one load; {@link PeersCommand} starts it in a process of its own, so that what
 * one system leaves behind does not slow down another. Prints progress, and as its last line the
 * figures.
 */
@Command(
    name = "peers-round",
    hidden = true,
    mixinStandardHelpOptions = true,
    description = "One round of 'bench peers', which starts it.")
public final class PeerRoundCommand implements Callable<Integer> {
  /** Begins a line that is meant for the user. */
  static final String PROGRESS = "progress: ";

  /** Begins the line with the figures, a JSON object of names and numbers. */
  static final String FIGURES = "figures: ";

  static final String RATE = "updates/s";
  static final String BYTES = "bytes/1000 updates";
  static final String P50 = "visible p50 ms";
  static final String P99 = "p99 ms";

  /**
   * From the last acknowledgement until all nodes showed everything: whether a system acknowledges
   * faster than it replicates.
   */
  static final String BEHIND = "converged after ms";

  static final String SAMPLES = "probes";

  private static final int OBJECTS = 1_000;
  private static final int ELEMENTS = 100;
  private static final int THREADS = 8;
  private static final int PROBERS = 16;
  private static final long CONVERGE_MILLIS = 60_000;

  /** What is held back by any system leaves within this time, and belongs to the bytes. */
  private static final long SETTLE_NANOS = 1_000_000_000;

  @Option(names = "--system", required = true)
  private PeerSystem system;

  @Option(names = "--kind", required = true)
  private PeerLoad.Kind kind;

  @Option(names = "--seconds", required = true)
  private long seconds;

  @Option(names = "--sla-millis", required = true)
  private long slaMillis;

  @Option(names = "--seed", required = true)
  private long seed;

  /** What the parent reads. Systems print to the other one, which goes to the log. */
  private final PrintStream parent = System.out;

  /** For picocli. */
  public PeerRoundCommand() {}

  @Override
  public Integer call() throws InterruptedException, JsonProcessingException {
    System.setOut(System.err);
    PeerLoad.Shape shape = new PeerLoad.Shape(kind, OBJECTS, ELEMENTS, THREADS, PROBERS, seed);
    try (Peer peer = system.start(Duration.ofMillis(slaMillis))) {
      PeerLoad load = new PeerLoad(peer, shape);
      parent.printf(PROGRESS + "%s: three nodes are up; warming up%n", system);
      load.run(Duration.ofSeconds(seconds).dividedBy(2));
      if (!converged(load)) {
        return 1;
      }
      parent.printf(PROGRESS + "%s: measuring%n", system);
      long before = peer.bytes();
      PeerLoad.Outcome outcome = load.run(Duration.ofSeconds(seconds));
      if (!converged(load)) {
        return 1;
      }
      double behind = (System.nanoTime() - outcome.endedNanos()) / 1e6;
      LockSupport.parkNanos(SETTLE_NANOS);
      Map<String, Double> figures = new LinkedHashMap<>();
      figures.put(RATE, outcome.perSecond());
      figures.put(BYTES, (peer.bytes() - before) * 1_000.0 / outcome.updates());
      figures.put(P50, outcome.delays().getValueAtPercentile(50) / 1e3);
      figures.put(P99, outcome.delays().getValueAtPercentile(99) / 1e3);
      figures.put(BEHIND, behind);
      figures.put(SAMPLES, (double) outcome.delays().getTotalCount());
      parent.println(FIGURES + new ObjectMapper().writeValueAsString(figures));
    }
    return 0;
  }

  private boolean converged(PeerLoad load) {
    List<String> wrong = load.awaitConverged(CONVERGE_MILLIS);
    if (wrong.isEmpty()) {
      return true;
    }
    parent.println(PROGRESS + system + " DID NOT CONVERGE to what it acknowledged: " + wrong);
    return false;
  }
}
