package io.osier.bench.sim;

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
final class SimApp {
  private static final int TIMEOUT_MILLIS_MIN = 2_000;
  private static final int TIMEOUT_MILLIS_MAX = 9_000;

  private final String name;
  private final OsierClient client;
  private final List<SimWay> ways = new ArrayList<>();

  /** Who wants to see what becomes of a request, by what the request is about. */
  private final IdentityHashMap<Object, SimWay.Witness> witnesses = new IdentityHashMap<>();

  /** By transaction; as many as there were. */
  private final Map<TransactionId, SimWay.Witness> transactions = new HashMap<>();

  private final Map<Unit, Integer> learned = new HashMap<>();

  /** Who calls just now. */
  private SimWay.@Nullable Witness caller;

  SimApp(Simulation simulation, String name, Random random) {
    this.name = name;
    int span = TIMEOUT_MILLIS_MAX - TIMEOUT_MILLIS_MIN;
    OsierClient.Builder settings =
        OsierClient.builder()
            .name(name)
            .timeout(Duration.ofMillis(TIMEOUT_MILLIS_MIN + random.nextInt(span)));
    this.client =
        SteppedClient.of(
            settings,
            new SimTimers(simulation.scheduler(), new Random(random.nextLong()), this::drawn),
            changed -> ways(simulation, random, changed));
  }

  private List<? extends Connection> ways(Simulation simulation, Random random, Runnable changed) {
    for (SimDc dc : simulation.dcs()) {
      Random own = new Random(random.nextLong());
      ways.add(new SimWay(simulation, this, dc.self().dc(), own, changed));
    }
    return ways;
  }

  OsierClient client() {
    return client;
  }

  /** Calls; requests of transactions that the call draws are shown to a witness. */
  <T> CompletableFuture<T> calling(SimWay.Witness witness, Supplier<CompletableFuture<T>> calls) {
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
  void witness(Object about, SimWay.Witness witness) {
    witnesses.put(about, witness);
  }

  /** Requests about something are over. */
  void forget(Object about) {
    witnesses.remove(about);
  }

  /** Who wants to see what becomes of the request; null for nobody. */
  SimWay.@Nullable Witness witness(Request request) {
    return switch (request) {
      case Request.Read r -> witnesses.get(r.query());
      case Request.Write w -> witnesses.get(w.operation());
      case Request.Transact t -> transactions.get(t.transaction());
      case Request.Repeat r -> transactions.get(r.step().transaction());
      default -> null;
    };
  }

  /** The client learns what a datacenter has, to go on there without the rest. */
  void learned(Unit unit) {
    learned.merge(unit, 1, Integer::sum);
  }

  /** How often it has learned what a datacenter has of a unit. */
  int learnedOf(Unit unit) {
    return learned.getOrDefault(unit, 0);
  }

  /** A datacenter has crashed. */
  void crashed(SimDc dc) {
    ways.forEach(w -> w.crashed(dc));
  }

  @Override
  public String toString() {
    return name;
  }
}
