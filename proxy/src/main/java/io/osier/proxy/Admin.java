package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * Administers all datacenters through the one that is nearest: what is changed there travels to the
 * others. Needs the right {@code admin}. Answers are JSON objects, whose fields docs/OPERATIONS.md
 * tells. Thread-safe.
 *
 * <p>A call whose connection was lost, or whose time was over, fails with an {@link OsierException}
 * that says so: what it asked for may have been done, and listing tells.
 */
public final class Admin {
  private static final String DATACENTER = "dc";

  private final ClientCore client;

  Admin(ClientCore client) {
    this.client = client;
  }

  /** Changes who may do what. */
  public UserAdmin users() {
    return new UserAdmin(this);
  }

  /** The keyspaces: settings, whether they take updates, who changed them last and when. */
  public CompletableFuture<String> listKeyspacesAsync() {
    return ask("keyspace", "list", "", Map.of());
  }

  /**
   * Creates a keyspace at all datacenters, or at the {@code replicas} among the settings. It takes
   * updates once each of them has it, which the answer tells: at most after three seconds, then
   * with those that are waited for.
   *
   * @param name 1 to 64 characters: a letter, then letters, digits, '.', '_' or '-'
   * @param settings by their names in the configuration file, for example {@code sla} to {@code
   *     500ms}; the others are as a configuration file's defaults
   */
  public CompletableFuture<String> createKeyspaceAsync(String name, Map<String, String> settings) {
    return ask("keyspace", "create", name, settings);
  }

  /**
   * Alters settings of a keyspace while it serves: {@code sla}, {@code propagation}, {@code
   * payload}, {@code history}, {@code limits.key}, {@code limits.value}, {@code limits.object}.
   */
  public CompletableFuture<String> alterKeyspaceAsync(String name, Map<String, String> settings) {
    return ask("keyspace", "alter", name, settings);
  }

  /** Drops a keyspace with all that is in it, at every datacenter. */
  public CompletableFuture<String> dropKeyspaceAsync(String name) {
    return ask("keyspace", "drop", name, Map.of());
  }

  /**
   * The datacenters: where the others dial each of them, whether it is {@code active}, {@code
   * joining}, {@code leaving}, {@code left} or {@code removed} and what that waits for, who changed
   * it last and when. Of one that joins, if it is the one that answers, {@code catch_up} says how
   * many objects and bytes have come, how fast, and where that can be estimated how many seconds
   * are left.
   */
  public CompletableFuture<String> listDatacentersAsync() {
    return ask(DATACENTER, "list", "", Map.of());
  }

  /**
   * Adds a datacenter, which joins while the others serve: it catches up, and then is active by
   * itself. Start it with one of the others among its peers.
   *
   * @param name its name, {@code osier.dc} of its configuration
   * @param address where the others dial it: its host and peer port, for example {@code
   *     eu.example:7401}
   */
  public CompletableFuture<String> addDatacenterAsync(String name, String address) {
    return ask(
        DATACENTER,
        "add",
        present(name, "a datacenter's name"),
        Map.of("address", present(address, "a datacenter's address")));
  }

  /**
   * Removes a datacenter: one that runs leaves once it has shipped everything; for a dead one
   * nobody waits any more.
   *
   * @param dead whether it does not run any more; should it come back, it is not let in, and has to
   *     be rebuilt and added again
   */
  public CompletableFuture<String> removeDatacenterAsync(String name, boolean dead) {
    return ask(
        DATACENTER,
        "remove",
        present(name, "a datacenter's name"),
        dead ? Map.of("dead", "true") : Map.of());
  }

  /**
   * Asks the datacenter that requests go to, and by way of it all others that can be reached, what
   * they do, what waits for whom, and what is wrong.
   *
   * @return one JSON object, with each answer as text; docs/OPERATIONS.md tells its fields
   */
  public CompletableFuture<String> whyAsync() {
    return ask("why", "list", "", Map.of());
  }

  /**
   * Asks all datacenters that can be reached, as {@link #whyAsync()}, what waits of a key, for what
   * and since when, and what they counted and decided of it.
   *
   * @return one JSON object, with each answer as text; docs/OPERATIONS.md tells its fields
   */
  public CompletableFuture<String> whyAsync(String keyspace, Key key) {
    if (key.length() > WHY_KEY_MAX) {
      return CompletableFuture.failedFuture(
          new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "a key that is asked about has at most "
                  + WHY_KEY_MAX
                  + " bytes, not "
                  + key.length()));
    }
    String name = Base64.getUrlEncoder().withoutPadding().encodeToString(key.toBytes());
    return ask("why", "list", name, Map.of("keyspace", present(keyspace, "a keyspace's name")));
  }

  /**
   * Asks for anything that datacenters know how to administer.
   *
   * @param subject for example {@code keyspace}
   * @param action for example {@code list}
   * @param name of the one that is meant; empty where all are
   */
  CompletableFuture<String> ask(
      String subject, String action, String name, Map<String, String> settings) {
    SortedMap<String, String> sorted = new TreeMap<>(settings);
    Connection nearest = client.datacenters().nearest();
    return nearest == null
        ? CompletableFuture.failedFuture(client.unavailable())
        : DatacenterQueries.report(
            nearest, new Request.Administer(subject, action, name, sorted), TIMEOUT);
  }

  /** As base 64 it is no larger than a setting may be. */
  private static final int WHY_KEY_MAX = Request.SETTING_BYTES_MAX / 4 * 3;

  /** Beyond what a creation waits for the other datacenters. */
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
}
