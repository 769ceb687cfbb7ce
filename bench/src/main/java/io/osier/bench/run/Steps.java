package io.osier.bench.run;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.osier.bench.cluster.Directories;
import io.osier.bench.cluster.Holdings;
import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.systems.CommandSequence;
import io.osier.bench.systems.OsierCalls;
import io.osier.bench.systems.OsierTarget;
import io.osier.bench.systems.ScenarioException;
import io.osier.bench.systems.Target;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Transaction;
import io.osier.proxy.TransactionOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Executes the steps of a turn, one after the other. {@code do} is one of
 *
 * <ul>
 *   <li>{@code shift}: other keys become hot; the ranks move by {@code by}
 *   <li>{@code narrow, widen} the links between {@code dc} and all others
 *   <li>{@code start, stop, kill} {@code dc}; start waits until it serves
 *   <li>{@code join, leave, give-up} {@code dc}, until the others say so; {@code wipe} its data
 *   <li>{@code hold, let-go}: {@code dc} becomes a holder of the load's keyspace, or ceases to be
 *       one; until that is done
 *   <li>{@code equal}: wait until all datacenters are equal
 *   <li>{@code clear} the set s0; {@code extend} it by {@code by} elements
 *   <li>{@code snapshots}: so many transactions are begun and stay open until the turn ends
 *   <li>{@code expire}: {@code by} objects get deadlines spread over one second, which begins
 *       {@code seconds} after this step; {@code removed, forgotten}: wait until the store says so
 *   <li>{@code sequence}: end the loads and the command sequence, wait until every datacenter shows
 *       its outcome
 * </ul>
 */
final class Steps implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Config STEP =
      ConfigFactory.parseString("{ name = \"\", do = \"\", seconds = 0 }");
  private static final Config KEYS =
      ConfigFactory.parseString("{ name = \"\", do = \"\", dc = \"\", by = 0, seconds = 0 }");

  private static final Set<String> DOES_TO_ONE =
      Set.of("narrow widen start stop kill join leave give-up wipe hold let-go".split(" "));
  private static final Set<String> DOES =
      Set.of(
          " shift equal clear extend snapshots expire removed forgotten sequence".split(" ", -1));

  private final Target target;
  private final List<Load> loads;
  private final Config load;
  private final List<Transaction> open = new ArrayList<>();
  private @Nullable OsierClient client;
  private @Nullable Expiry expiry;

  Steps(Target target, List<Load> loads) {
    this.target = target;
    this.loads = loads;
    this.load = loads.getFirst().config();
  }

  /**
   * Returns the steps of a variant; if it names none, a single step that lasts {@code seconds} and
   * does nothing.
   *
   * @throws ScenarioException if a step has a mistake
   */
  static List<Config> of(Config variant) {
    List<Config> steps = new ArrayList<>();
    for (Config step : variant.getConfigList("steps")) {
      Rules.known("step", step.root(), KEYS.root());
      Config one = step.withFallback(STEP);
      String what = one.getString("do");
      if (!DOES.contains(what) && !DOES_TO_ONE.contains(what)) {
        Set<String> all = new TreeSet<>(DOES);
        all.addAll(DOES_TO_ONE);
        all.remove("");
        throw new ScenarioException(
            "a step does one of " + String.join(", ", all) + ", not " + what);
      }
      if (DOES_TO_ONE.contains(what) != one.hasPath("dc")) {
        throw new ScenarioException(
            "a step that does " + what + (one.hasPath("dc") ? " has no dc" : " needs its dc"));
      }
      steps.add(one);
    }
    return steps.isEmpty()
        ? List.of(
            ConfigFactory.parseMap(Map.of("seconds", variant.getDouble("seconds")))
                .withFallback(STEP))
        : steps;
  }

  void run(Config step) throws IOException, InterruptedException {
    String dc = step.hasPath("dc") ? step.getString("dc") : "";
    int by = step.hasPath("by") ? step.getInt("by") : 0;
    String what = step.getString("do");
    switch (what) {
      case "" -> {}
      case "shift" -> loads.forEach(one -> one.draw().shift(by));
      case "narrow", "widen" -> links(what, dc);
      case "start" -> osier().start(dc);
      case "stop", "kill" -> {
        closeClient();
        if (what.equals("kill")) {
          cluster().kill(dc);
        } else {
          cluster().stop(dc);
        }
      }
      case "join", "leave", "give-up", "wipe" -> member(what, dc);
      case "hold", "let-go" -> holder(dc, what.equals("hold"));
      case "equal" -> {
        if (!cluster().awaitEqual(PATIENCE, System.out::println)) {
          throw new OsierException(ErrorCode.UNAVAILABLE, "the datacenters did not become equal");
        }
      }
      case "clear" -> keyspace().set("s0").clear();
      case "extend" -> extend(by);
      case "snapshots" -> {
        TransactionOptions options = TransactionOptions.DEFAULT.limit(PATIENCE);
        for (int i = 0; i < by; i++) {
          open.add(keyspace().begin(options));
        }
      }
      case "expire" -> {
        expiry = new Expiry(target.calls(0, load), Time.REAL);
        expiry.begin(by, step.getDouble("seconds"));
      }
      case "removed", "forgotten" -> {
        requireNonNull(expiry).await(what.equals("forgotten"));
      }
      case "sequence" -> {
        for (Load one : loads) {
          one.stop();
        }
        CommandSequence.end(osier().names(), osier()::client, load.getString("keyspace"));
      }
      default -> throw new ScenarioException("no step can do: " + what);
    }
  }

  private OsierTarget osier() {
    if (target instanceof OsierTarget osier && osier.cluster().isPresent()) {
      return osier;
    }
    throw new ScenarioException("this step needs datacenters that tell their figures");
  }

  private LocalCluster cluster() {
    return osier().cluster().orElseThrow();
  }

  private OsierClient client() {
    if (client == null) {
      client = cluster().only(osier().names().getFirst());
    }
    return client;
  }

  private void closeClient() {
    if (client != null) {
      client.close();
      client = null;
    }
  }

  private Keyspace keyspace() {
    return client().session().keyspace(load.getString("keyspace"));
  }

  private void links(String what, String dc) {
    LocalCluster cluster = cluster();
    for (String other : cluster.dcs()) {
      if (what.equals("narrow")) {
        cluster.links().narrow(dc, other);
      } else {
        cluster.links().widen(dc, other);
      }
    }
  }

  private void extend(int by) {
    long from = load.getInt("elements") + 1_000_000_000L;
    int bytes = load.getInt("bytes");
    keyspace()
        .set("s0")
        .add(
            LongStream.range(from, from + by).mapToObj(n -> OsierCalls.element(n, bytes)).toList());
  }

  private void member(String what, String dc) throws IOException {
    LocalCluster cluster = cluster();
    switch (what) {
      case "join" -> {
        client().admin().addDatacenterAsync(dc, cluster.peerAddress(dc)).join();
        cluster.start(dc);
        await("active", () -> state(dc));
      }
      case "leave" -> {
        client().admin().removeDatacenterAsync(dc, false).join();
        await("ended", () -> cluster.isAlive(dc) ? "runs" : "ended");
        cluster.ended(dc);
      }
      case "give-up" -> {
        await("given up", () -> giveUp(dc)); // not as long as its connection seems to be open
        await("removed", () -> state(dc));
      }
      default -> Directories.delete(cluster.directory().resolve("data").resolve(dc));
    }
  }

  private void holder(String dc, boolean holds) {
    String name = load.getString("keyspace");
    Set<String> holders = new TreeSet<>(Holdings.of(client()).holders(name));
    var unused = holds ? holders.add(dc) : holders.remove(dc);
    client().admin().alterKeyspaceAsync(name, Map.of("replicas", String.join(",", holders))).join();
    await(
        String.join(",", holders),
        () -> {
          Holdings now = Holdings.of(client());
          return now.isWell() ? String.join(",", now.holders(name)) : "changing";
        });
  }

  /** Waits until a datacenter that was started serves clients. */
  void awaitServing(String dc) {
    cluster().awaitReady(dc, PATIENCE);
  }

  private String giveUp(String dc) {
    try {
      client().admin().removeDatacenterAsync(dc, true).join();
      return "given up";
    } catch (CompletionException e) {
      if (e.getCause() instanceof OsierException refused) {
        return "not given up: " + refused.reason();
      }
      throw e;
    }
  }

  private String state(String dc) {
    try {
      JsonNode list = JSON.readTree(client().admin().listDatacentersAsync().join());
      for (JsonNode one : list.path("datacenters")) {
        if (one.path("name").asText().equals(dc)) {
          return one.path("state").asText();
        }
      }
      return "";
    } catch (IOException e) {
      throw new OsierException(ErrorCode.INTERNAL, "the list of datacenters is not JSON", e);
    }
  }

  private static void await(String wanted, Supplier<String> state) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    for (String now = state.get(); !now.equals(wanted); now = state.get()) {
      if (System.nanoTime() > deadline) {
        throw new OsierException(
            ErrorCode.TIMEOUT, "it should be " + wanted + " by now, and is: " + now);
      }
      LockSupport.parkNanos(50_000_000);
    }
  }

  @Override
  public void close() {
    for (Transaction transaction : open) {
      transaction.abort();
    }
    if (expiry != null) {
      expiry.close();
    }
    closeClient();
  }
}
