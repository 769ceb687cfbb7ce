package io.osier.bench.sim.app;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.SimTimers;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.Connection;
import io.osier.proxy.OsierClient;
import io.osier.proxy.SteppedClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An application: a client of production, with a way to each datacenter, for some sessions. */
public final class SimApp {
  private static final int TIMEOUT_MILLIS_MIN = 2_000;
  private static final int TIMEOUT_MILLIS_MAX = 9_000;

  private final String name;
  private final OsierClient client;

  /** The datacenter in its own process; null for none. */
  private @Nullable SimInside inside;

  private boolean isGone;

  /** Its connections, one to each datacenter that it reaches. */
  private final List<SimWay> ways = new ArrayList<>();

  /** By operation or query, the witness of its request. */
  private final IdentityHashMap<Object, SimWitness> witnesses = new IdentityHashMap<>();

  /** The witness of each transaction that there was. */
  private final Map<TransactionId, SimWitness> transactions = new HashMap<>();

  private final Map<Unit, Integer> learned = new HashMap<>();

  /** The witness of the call that is being made; null if none is. */
  private @Nullable SimWitness caller;

  /**
   * An application in a process of its own.
   *
   * @param isFar whether it reaches no holder of a keyspace that only some datacenters hold
   */
  public SimApp(Simulation simulation, String name, Random random, boolean isFar) {
    this.name = name;
    OsierClient.Builder settings = settings(random);
    SimTimers timers =
        new SimTimers(simulation.scheduler(), new Random(random.nextLong()), this::drawn);
    this.client =
        SteppedClient.of(settings, timers, changed -> ways(simulation, random, isFar, changed));
  }

  /**
   * An application with a datacenter in its own process, and with no way to another one.
   *
   * @param dc has just started
   */
  public SimApp(Simulation simulation, SimDc dc, Random random) {
    this.name = "the application in " + dc.self();
    OsierClient.Builder settings = settings(random);
    SimTimers timers =
        new SimTimers(simulation.scheduler(), new Random(random.nextLong()), this::drawn);
    SimInside own = new SimInside(simulation, this, dc);
    this.inside = own;
    this.client =
        SteppedClient.of(
            settings, timers, changed -> List.of(SteppedClient.local(own, settings, timers)));
  }

  private OsierClient.Builder settings(Random random) {
    int span = TIMEOUT_MILLIS_MAX - TIMEOUT_MILLIS_MIN;
    return OsierClient.builder()
        .name(name)
        .timeout(Duration.ofMillis(TIMEOUT_MILLIS_MIN + random.nextInt(span)));
  }

  private List<? extends Connection> ways(
      Simulation simulation, Random random, boolean isFar, Runnable changed) {
    List<SimDc> away = isFar ? simulation.holders().away() : List.of();
    for (SimDc dc : away.isEmpty() ? simulation.dcs() : away) {
      Random own = new Random(random.nextLong());
      ways.add(new SimWay(simulation, this, dc.self().dc(), own, changed));
    }
    return ways;
  }

  /** The keyspaces that a datacenter tells clients as its own. */
  static List<Reply.KeyspaceInfo> keyspacesOf(Simulation simulation, SimDc dc) {
    return simulation.units().stream()
        .filter(unit -> unit.partition() == 0 && isOfDc(dc, unit))
        .map(unit -> Reply.KeyspaceInfo.of(unit.policy()))
        .toList();
  }

  private static boolean isOfDc(SimDc dc, Unit unit) {
    return dc.serves(unit) || dc.control().follows(unit.policy());
  }

  /** The keyspaces that a datacenter tells clients as held elsewhere. */
  static Reply.Elsewhere elsewhere(Simulation simulation, SimDc dc) {
    return new Reply.Elsewhere(
        simulation.units().stream()
            .filter(unit -> unit.partition() == 0 && !isOfDc(dc, unit))
            .map(
                unit ->
                    new Reply.HeldElsewhere(
                        Reply.KeyspaceInfo.of(unit.policy()), dc.control().serving(unit.policy())))
            .toList(),
        Map.of());
  }

  /** Whether it has a way to a datacenter. */
  public boolean reaches(String dc) {
    return ways.stream().anyMatch(w -> w.dc().equals(dc));
  }

  /** Whether it is in the process of a datacenter, and can use no other. */
  public boolean isEmbedded() {
    return inside != null;
  }

  /** Its process has crashed. */
  public void isGone() {
    isGone = true;
    if (inside != null) {
      inside.crash();
    }
  }

  /** Whether its process runs. */
  public boolean isRunning() {
    return !isGone;
  }

  public OsierClient client() {
    return client;
  }

  /** Makes a call; the requests of a transaction that begins in it are shown to a witness. */
  public <T> CompletableFuture<T> calling(
      SimWitness witness, Supplier<CompletableFuture<T>> calls) {
    caller = witness;
    try {
      return calls.get();
    } finally {
      caller = null;
    }
  }

  /** A transaction's id was drawn. */
  private void drawn(UUID id) {
    if (caller != null) {
      transactions.put(
          new TransactionId(id.getMostSignificantBits(), id.getLeastSignificantBits()), caller);
    }
  }

  /**
   * From now on requests about something are shown to a witness.
   *
   * @param about the operation or the query, which no other request has
   */
  public void witness(Object about, SimWitness witness) {
    witnesses.put(about, witness);
  }

  /** Requests about something are over. */
  public void forget(Object about) {
    witnesses.remove(about);
  }

  /** The witness of an operation or a query; null if it has none. */
  @Nullable SimWitness witnessOf(Object asked) {
    return witnesses.get(asked);
  }

  /** The witness of a request; null if it has none. */
  @Nullable SimWitness witness(Request request) {
    return switch (request) {
      case Request.Read r -> witnesses.get(r.query());
      case Request.Write w -> witnesses.get(w.operation());
      case Request.ReadAll r -> witnesses.get(r.reads().getFirst().query());
      case Request.WriteAll w -> witnesses.get(w.updates().getFirst().operation());
      case Request.Transact t -> transactions.get(t.transaction());
      case Request.Repeat r -> transactions.get(r.step().transaction());
      default -> null;
    };
  }

  /**
   * Notes that the client has learned what a datacenter has of a unit, to go on without the rest.
   */
  void learned(Unit unit) {
    learned.merge(unit, 1, Integer::sum);
  }

  /** How often it has learned what a datacenter has of a unit. */
  public int learnedOf(Unit unit) {
    return learned.getOrDefault(unit, 0);
  }

  /** What a datacenter serves has changed. */
  public void told(SimDc dc) {
    ways.forEach(w -> w.told(dc));
  }

  /** A datacenter has crashed. */
  public void crashed(SimDc dc) {
    ways.forEach(w -> w.crashed(dc));
  }

  @Override
  public String toString() {
    return name;
  }
}
