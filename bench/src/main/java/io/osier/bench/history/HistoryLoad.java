package io.osier.bench.history;

import io.osier.bench.cluster.ClientLinks;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.cluster.Workers;
import io.osier.proxy.OsierClient;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Sessions that read and write registers at random in a causal keyspace of a cluster, and the check
 * of what they saw. Not thread-safe.
 */
public final class HistoryLoad implements AutoCloseable {
  /** The keyspace of the registers, as a line of the configuration. */
  public static final String KEYSPACES =
      "    " + Registers.KEYSPACE + " { consistency = causal, sla = 500ms }\n";

  /** The same, held by two of three datacenters at first: see {@link HolderMoves}. */
  public static final String MOVING = KEYSPACES.replace("causal,", "causal, replicas = [eu, us],");

  private final Recorder recorder;
  private final int keys;
  private final List<OsierClient> clients = new ArrayList<>();
  private final Workers workers = new Workers(this::broken);
  private volatile boolean running = true;

  /**
   * Starts the sessions.
   *
   * @param links over which they reach the datacenters
   * @param sessions how many at a time
   * @param keys how many registers
   * @param rate transactions per second to aim at, of all sessions
   * @param holders those that hold the registers all the time; sessions are pinned there alone
   */
  public HistoryLoad(
      LocalCluster cluster,
      ClientLinks links,
      int sessions,
      int keys,
      int rate,
      Collection<String> holders,
      Random random) {
    this.recorder = new Recorder(holders);
    this.keys = keys;
    for (String dc : cluster.dcs()) {
      clients.add(links.client(dc));
    }
    Races races = new Races();
    for (int i = 0; i < sessions; i++) {
      RandomSession session =
          new RandomSession(
              clients,
              List.copyOf(holders),
              recorder,
              races,
              keys,
              1_000_000_000L * sessions / rate,
              () -> running,
              new Random(random.nextLong()));
      workers.start("session-" + i, session);
    }
  }

  /** Ends the sessions, and waits for what they do. */
  public void stop() {
    running = false;
    workers.join();
  }

  /** Reads everything at every datacenter, after {@link #stop}, when nothing is disturbed. */
  public void readAll(LocalCluster cluster) {
    new LastReads(recorder, keys).run(cluster);
  }

  /** Notes what must not happen and did. */
  public void broken(String what) {
    recorder.broken(what);
  }

  /** What is wrong with what was done and seen, a line each; for when all sessions are over. */
  public List<String> violations() {
    List<String> all = new ArrayList<>();
    History history = recorder.history();
    if (history.txns().isEmpty()) {
      all.add("nothing was done that could be wrong");
    }
    history.violation().ifPresent(v -> all.add("not causal: " + v));
    Optional.ofNullable(recorder.broken()).ifPresent(all::add);
    return all;
  }

  public String summary() {
    return recorder.summary();
  }

  @Override
  public void close() {
    running = false;
    clients.forEach(OsierClient::close);
  }
}
