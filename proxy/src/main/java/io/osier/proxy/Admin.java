package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.admin.AdminAnswers;
import io.osier.proxy.call.DatacenterQueries;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.future.CallFuture;
import io.osier.proxy.future.Calls;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * Administers all datacenters through the one that is nearest: what is changed there travels to the
 * others. Needs the right {@code admin}. A call takes at most the client's time limit ({@link
 * OsierClient.Builder#timeout}), and is asked once, of one datacenter. Thread-safe.
 *
 * <pre>{@code
 * KeyspaceStatus shop = client.admin().ensureKeyspace("shop", k -> k.sla(Duration.ofMillis(500)));
 * for (DatacenterStatus dc : client.admin().datacenters()) {
 *   System.out.println(dc.name() + " " + dc.state());
 * }
 * }</pre>
 *
 * <p>A change whose connection was lost, or whose time was over, after it was sent fails with
 * {@link OutcomeUnknownException}: listing tells what became of it. Methods that return text give
 * the datacenter's answer as it is, a JSON object whose fields docs/MONITORING.md tells.
 */
public final class Admin {
  private static final String DATACENTER = "dc";
  private static final String KEYSPACE = "keyspace";
  private static final String LIST = "list";
  private static final String WHY = "why";

  /** As base 64 it is no larger than a setting may be. */
  private static final int WHY_KEY_MAX = Request.SETTING_BYTES_MAX / 4 * 3;

  /** What of a keyspace stays as it was created. */
  private static final Set<String> FIXED =
      Set.of("consistency", "hash", "homes", "partitions", "replicas");

  private final ClientCore client;

  Admin(ClientCore client) {
    this.client = client;
  }

  /** Changes who may do what. */
  public UserAdmin users() {
    return new UserAdmin(this);
  }

  // ---------------------------------------------------------------- keyspaces

  /** The keyspaces, in the order of their names. */
  public List<KeyspaceStatus> keyspaces() {
    return Calls.join(keyspacesAsync());
  }

  /** As {@link #keyspaces}. */
  public CompletableFuture<List<KeyspaceStatus>> keyspacesAsync() {
    return listKeyspacesAsync().thenApply(AdminAnswers::keyspaces);
  }

  /** The keyspaces: settings, whether they take updates, who changed them last and when. */
  public CompletableFuture<String> listKeyspacesAsync() {
    return ask(KEYSPACE, LIST, "", Map.of());
  }

  /**
   * Lets a keyspace be there with these settings, whoever asks how often: creates it, alters what
   * differs while it serves, or does nothing.
   *
   * <pre>{@code
   * client.admin().ensureKeyspace("shop", k -> k.sla(Duration.ofMillis(500)));
   * }</pre>
   *
   * @param name 1 to 64 characters: a letter, then letters, digits, '.', '_' or '-'
   * @param settings what it is to be like; what is not said does not matter, nor do the replicas of
   *     a keyspace that is there whose holders follow the load ({@code placement})
   * @return as it is then. If it was created, it takes updates once every datacenter has it, which
   *     is waited for at most three seconds; {@link KeyspaceStatus#isActive} tells
   * @throws io.osier.core.InvalidRequestException if a setting is out of range, or one differs that
   *     cannot be altered (consistency, hash, homes, partitions, replicas): the message names each,
   *     and nothing was changed
   */
  public KeyspaceStatus ensureKeyspace(String name, UnaryOperator<KeyspaceOptions> settings) {
    return Calls.join(ensureKeyspaceAsync(name, settings));
  }

  /** As {@link #ensureKeyspace}. */
  public CompletableFuture<KeyspaceStatus> ensureKeyspaceAsync(
      String name, UnaryOperator<KeyspaceOptions> settings) {
    SortedMap<String, String> wanted = settings(settings);
    return find(name)
        .thenCompose(
            there -> {
              if (there.isPresent()) {
                return alignAsync(there.get(), wanted);
              }
              CompletableFuture<KeyspaceStatus> created =
                  one(name, createKeyspaceAsync(name, wanted));
              return created.exceptionallyCompose(
                  error ->
                      find(name) // somebody else may have created it meanwhile
                          .thenCompose(
                              now ->
                                  now.isPresent()
                                      ? alignAsync(now.get(), wanted)
                                      : CompletableFuture.failedFuture(
                                          Calls.asOsier(error, false))));
            });
  }

  private CompletableFuture<KeyspaceStatus> alignAsync(
      KeyspaceStatus there, SortedMap<String, String> wanted) {
    SortedMap<String, String> differing = new TreeMap<>(wanted);
    differing.entrySet().removeIf(s -> s.getValue().equals(there.settings().get(s.getKey())));
    if (!there.settings().getOrDefault("placement", "fixed").equals("fixed")) {
      differing.remove("replicas"); // it began with them, and they follow the load since
    }
    if (differing.isEmpty()) {
      return CallFuture.completed(there);
    }
    List<String> fixed = new ArrayList<>();
    differing.forEach(
        (setting, value) -> {
          if (FIXED.contains(setting)) {
            fixed.add(setting + " is " + there.settings().get(setting) + ", not " + value);
          }
        });
    if (!fixed.isEmpty()) {
      return CompletableFuture.failedFuture(
          OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "keyspace '"
                  + there.name()
                  + "' is there, and differs in what cannot be altered: "
                  + String.join("; ", fixed)
                  + "; ask for what it is, or take another name"));
    }
    return one(there.name(), alterKeyspaceAsync(there.name(), differing));
  }

  /**
   * Creates a keyspace at all datacenters, or at the {@code replicas} among the settings.
   *
   * @return as of {@link #ensureKeyspace}
   * @throws io.osier.core.InvalidRequestException if there is one of that name, or a setting is out
   *     of range
   */
  public KeyspaceStatus createKeyspace(String name, UnaryOperator<KeyspaceOptions> settings) {
    return Calls.join(createKeyspaceAsync(name, settings));
  }

  /** As {@link #createKeyspace}. */
  public CompletableFuture<KeyspaceStatus> createKeyspaceAsync(
      String name, UnaryOperator<KeyspaceOptions> settings) {
    return one(name, createKeyspaceAsync(name, settings(settings)));
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
    return ask(KEYSPACE, "create", named(name), settings);
  }

  /**
   * Alters settings of a keyspace while it serves: all but consistency, hash, homes and partitions.
   *
   * <pre>{@code
   * client.admin().alterKeyspace("shop", k -> k.sla(Duration.ofSeconds(2)));
   * }</pre>
   *
   * @return as it is then
   * @throws io.osier.core.InvalidRequestException if there is none of that name, or a setting is
   *     out of range or cannot be altered
   */
  public KeyspaceStatus alterKeyspace(String name, UnaryOperator<KeyspaceOptions> settings) {
    return Calls.join(alterKeyspaceAsync(name, settings));
  }

  /** As {@link #alterKeyspace}. */
  public CompletableFuture<KeyspaceStatus> alterKeyspaceAsync(
      String name, UnaryOperator<KeyspaceOptions> settings) {
    return one(name, alterKeyspaceAsync(name, settings(settings)));
  }

  /**
   * Alters settings of a keyspace while it serves: {@code sla}, {@code propagation}, {@code
   * payload}, {@code history}, {@code stale-reads}, {@code limits.key}, {@code limits.value},
   * {@code limits.object}, {@code replicas}, and who may hold it: {@code placement}, {@code
   * holders-min}, {@code allow}, {@code deny}.
   */
  public CompletableFuture<String> alterKeyspaceAsync(String name, Map<String, String> settings) {
    return ask(KEYSPACE, "alter", named(name), settings);
  }

  /**
   * Drops a keyspace with all that is in it, at every datacenter.
   *
   * @throws io.osier.core.InvalidRequestException if there is none of that name, or configuration
   *     files name it
   */
  public void dropKeyspace(String name) {
    Calls.join(dropKeyspaceAsync(name));
  }

  /** As {@link #dropKeyspace}. */
  public CompletableFuture<String> dropKeyspaceAsync(String name) {
    return ask(KEYSPACE, "drop", named(name), Map.of());
  }

  private static String named(String name) {
    return present(name, "a keyspace's name");
  }

  private static SortedMap<String, String> settings(UnaryOperator<KeyspaceOptions> of) {
    return present(
            present(of, "a keyspace's settings").apply(KeyspaceOptions.DEFAULT),
            "a keyspace's settings")
        .settings();
  }

  private CompletableFuture<Optional<KeyspaceStatus>> find(String name) {
    String wanted = named(name);
    return keyspacesAsync()
        .thenApply(all -> all.stream().filter(k -> k.name().equals(wanted)).findFirst());
  }

  /** The keyspace that an answer shows. */
  private static CompletableFuture<KeyspaceStatus> one(
      String name, CompletableFuture<String> answer) {
    return answer.thenApply(
        json ->
            AdminAnswers.keyspaces(json).stream()
                .filter(k -> k.name().equals(name))
                .findFirst()
                .orElseThrow(
                    () ->
                        OsierException.of(
                            ErrorCode.UNKNOWN_KEYSPACE,
                            "keyspace '" + name + "' was dropped meanwhile")));
  }

  /**
   * The keyspaces whose holders follow their load: who holds them and who decides, what happens
   * next and why, what is asked of them where, and who should hold them by the present rates.
   * docs/PLACEMENT.md tells the fields.
   */
  public CompletableFuture<String> placementAsync() {
    return ask("placement", LIST, "", Map.of());
  }

  // ---------------------------------------------------------------- datacenters

  /** The datacenters, in the order of their names. */
  public List<DatacenterStatus> datacenters() {
    return Calls.join(datacentersAsync());
  }

  /** As {@link #datacenters}. */
  public CompletableFuture<List<DatacenterStatus>> datacentersAsync() {
    return listDatacentersAsync().thenApply(AdminAnswers::datacenters);
  }

  /**
   * The datacenters: where the others dial each of them, whether it is {@code active}, {@code
   * joining}, {@code leaving}, {@code left} or {@code removed} and what that waits for, who changed
   * it last and when. Of one that joins, if it is the one that answers, {@code catch_up} says how
   * many objects and bytes have come, how fast, and where that can be estimated how many seconds
   * are left.
   */
  public CompletableFuture<String> listDatacentersAsync() {
    return ask(DATACENTER, LIST, "", Map.of());
  }

  /**
   * Adds a datacenter, which joins while the others serve: it catches up, and then is active by
   * itself. Start it with one of the others among its peers.
   *
   * @param name its name, {@code osier.dc} of its configuration
   * @param address where the others dial it: its host and peer port, for example {@code
   *     eu.example:7401}
   */
  public void addDatacenter(String name, String address) {
    Calls.join(addDatacenterAsync(name, address));
  }

  /** As {@link #addDatacenter}. */
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
  public void removeDatacenter(String name, boolean dead) {
    Calls.join(removeDatacenterAsync(name, dead));
  }

  /** As {@link #removeDatacenter}. */
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
   * @return one JSON object, with each answer as text; docs/MONITORING.md tells its fields
   */
  public CompletableFuture<String> whyAsync() {
    return ask(WHY, LIST, "", Map.of());
  }

  /**
   * Asks all datacenters that can be reached, as {@link #whyAsync()}, what waits of a key, for what
   * and since when, and what they counted and decided of it: those that hold the key's home, where
   * the keyspace has homes.
   *
   * @return one JSON object, with each answer as text; docs/MONITORING.md tells its fields
   */
  public CompletableFuture<String> whyAsync(String keyspace, Key key) {
    if (present(key, "a key").length() > WHY_KEY_MAX) {
      return CompletableFuture.failedFuture(
          OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "a key that is asked about has at most "
                  + WHY_KEY_MAX
                  + " bytes, not "
                  + key.length()));
    }
    String name = Base64.getUrlEncoder().withoutPadding().encodeToString(key.toBytes());
    String all = present(keyspace, "a keyspace's name");
    return client
        .whenNearest() // who has told which homes there are
        .thenCompose(
            at -> {
              String home = DatacenterQueries.home(client.datacenters(), all, key);
              return ask(WHY, LIST, name, Map.of(KEYSPACE, home));
            });
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
    long began = client.timers().nanoTime();
    return client
        .whenNearest()
        .thenCompose(
            nearest -> {
              long waited = client.timers().nanoTime() - began;
              return DatacenterQueries.report(
                  nearest,
                  new Request.Administer(subject, action, name, sorted),
                  client.settings().timeout().minusNanos(waited),
                  !action.equals(LIST));
            });
  }
}
