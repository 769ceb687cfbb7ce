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
 * of their history. Not thread-safe.
 */
public final class HistoryLoad implements AutoCloseable {
  /** The keyspace of the registers, as a line of the configuration. */
  public static final String KEYSPACES =
      "    " + Registers.KEYSPACE + " { consistency = causal, sla = 500ms }\n";

  /** The same keyspace, held by two of three datacenters at first; see {@link HolderMoves}. */
  public static final String MOVING = KEYSPACES.replace("causal,", "causal, replicas = [eu, us],");

  private final Recorder recorder;
  private final int keys;
  private final List<OsierClient> clients = new ArrayList<>();
  private final Workers workers = new Workers(this::broken);
  private volatile boolean running = true;

  /**
   * Starts the sessions.
   *
   * @param links the links over which clients reach the datacenters
   * @param sessions how many sessions run at once
   * @param keys how many registers there are
   * @param rate transactions per second of all sessions together
   * @param holders the datacenters that always hold the registers; sessions are pinned there only
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

  /** Ends the sessions, and waits for their last transactions. */
  public void stop() {
    running = false;
    workers.join();
  }

  /** Reads all registers at every datacenter, after {@link #stop} and without faults. */
  public void readAll(LocalCluster cluster) {
    new LastReads(recorder, keys).run(cluster);
  }

  /** Notes a violation. */
  public void broken(String what) {
    recorder.broken(what);
  }

  /** Returns the violations, a line each; for after {@link #stop}. */
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
