package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.protocol.AdminRequest;
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
 * Administers all datacenters through the nearest one, which sends changes on to the others. Needs
 * the right {@code admin}. A call is sent once, to one datacenter, and takes at most the client's
 * time limit ({@link OsierClient.Builder#timeout}). Thread-safe.
 *
 * <pre>{@code
 * KeyspaceStatus shop = client.admin().ensureKeyspace("shop", k -> k.sla(Duration.ofMillis(500)));
 * for (DatacenterStatus dc : client.admin().datacenters()) {
 *   System.out.println(dc.name() + " " + dc.state());
 * }
 * }</pre>
 *
 * <p>If the connection is lost, or the time limit ends, after a change was sent, the call fails
 * with {@link OutcomeUnknownException}; a list call then shows whether it was made. Methods that
 * return text return the datacenter's answer: a JSON object, described in docs/MONITORING.md.
 */
public final class Admin {
  private static final String DATACENTER = "dc";
  private static final String KEYSPACE = "keyspace";
  private static final String LIST = "list";
  private static final String WHY = "why";

  /** Longest key of {@link #whyAsync}, in bytes: its base 64 form must fit into a setting. */
  private static final int WHY_KEY_MAX = Request.SETTING_BYTES_MAX / 4 * 3;

  /** The settings that cannot be altered after a keyspace was created. */
  private static final Set<String> FIXED = Set.of("consistency", "hash", "partitions", "replicas");

  private final ClientCore client;

  Admin(ClientCore client) {
    this.client = client;
  }

  /** Returns the administration of users and their rights. */
  public UserAdmin users() {
    return new UserAdmin(this);
  }

  // ---------------------------------------------------------------- keyspaces

  /** Returns all keyspaces, ordered by name. */
  public List<KeyspaceStatus> keyspaces() {
    return Calls.join(keyspacesAsync());
  }

  /** As {@link #keyspaces}. */
  public CompletableFuture<List<KeyspaceStatus>> keyspacesAsync() {
    return listKeyspacesAsync().thenApply(AdminAnswers::keyspaces);
  }

  /** Lists the keyspaces: settings, whether they take updates, who changed them last and when. */
  public CompletableFuture<String> listKeyspacesAsync() {
    return ask(KEYSPACE, LIST, "", Map.of());
  }

  /**
   * Makes sure that a keyspace exists with these settings, however often it is called: creates it,
   * alters the settings that differ while it serves, or does nothing.
   *
   * <pre>{@code
   * client.admin().ensureKeyspace("shop", k -> k.sla(Duration.ofMillis(500)));
   * }</pre>
   *
   * @param name 1 to 64 characters: a letter, then letters, digits, '.', '_' or '-'
   * @param settings settings that are not named are not compared, nor are the {@code replicas} of
   *     an existing keyspace whose holders follow the load ({@code placement})
   * @return the keyspace after the call. The call waits at most three seconds until every
   *     datacenter has opened a new keyspace, which then takes updates ({@link
   *     KeyspaceStatus#isActive})
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
      differing.remove("replicas"); // the holders have changed with the load since
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
                  + "' exists already, with other settings that cannot be altered: "
                  + String.join("; ", fixed)
                  + "; ask for the settings that it has, or take another name"));
    }
    return one(there.name(), alterKeyspaceAsync(there.name(), differing));
  }

  /**
   * Creates a keyspace at all datacenters, or at the {@code replicas} among the settings.
   *
   * @return the new keyspace, as of {@link #ensureKeyspace}
   * @throws io.osier.core.InvalidRequestException if a keyspace of that name exists, or a setting
   *     is out of range
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
   * updates once each of them has opened it. The answer comes then, or after three seconds, naming
   * the datacenters that are still awaited.
   *
   * @param name 1 to 64 characters: a letter, then letters, digits, '.', '_' or '-'
   * @param settings by their names in the configuration file, for example {@code sla} to {@code
   *     500ms}; settings that are not named have a configuration file's defaults
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
   * @return the keyspace after the change
   * @throws io.osier.core.InvalidRequestException if no keyspace has that name, or a setting is out
   *     of range or cannot be altered
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
   * {@code limits.object}, {@code replicas}, and those that say which datacenters may hold it:
   * {@code placement}, {@code holders-min}, {@code allow}, {@code deny}.
   */
  public CompletableFuture<String> alterKeyspaceAsync(String name, Map<String, String> settings) {
    return ask(KEYSPACE, "alter", named(name), settings);
  }

  /**
   * Drops a keyspace with all its objects, at every datacenter.
   *
   * @throws io.osier.core.InvalidRequestException if no keyspace has that name, or configuration
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

  /** Returns the keyspace of this name from the datacenter's answer. */
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
   * Lists the keyspaces whose holders follow the load: who holds them and who decides, the next
   * step and its reason, the rates of requests at each datacenter, and which datacenters should
   * hold them by these rates. docs/PLACEMENT.md describes the fields.
   */
  public CompletableFuture<String> placementAsync() {
    return ask("placement", LIST, "", Map.of());
  }

  // ---------------------------------------------------------------- datacenters

  /** Returns all datacenters, ordered by name. */
  public List<DatacenterStatus> datacenters() {
    return Calls.join(datacentersAsync());
  }

  /** As {@link #datacenters}. */
  public CompletableFuture<List<DatacenterStatus>> datacentersAsync() {
    return listDatacentersAsync().thenApply(AdminAnswers::datacenters);
  }

  /**
   * Lists the datacenters: the address at which the others dial each of them, whether it is {@code
   * active}, {@code joining}, {@code leaving}, {@code left} or {@code removed}, what a change of
   * that state waits for, who changed it last and when. If the datacenter that answers is joining
   * itself, {@code catch_up} says how many objects and bytes it has received, how fast, and how
   * many seconds are left where that can be estimated.
   */
  public CompletableFuture<String> listDatacentersAsync() {
    return ask(DATACENTER, LIST, "", Map.of());
  }

  /**
   * Adds a datacenter. It joins while the others serve: it catches up, and then becomes active by
   * itself. Start its process with one of the others among its peers.
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
   * Removes a datacenter. A running one leaves once it has shipped all its updates; for a dead one
   * the others no longer wait.
   *
   * @param dead whether its process runs no more; should it return, the others refuse it, and it
   *     has to be rebuilt and added again
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
   * Asks the nearest datacenter, and through it all others that it can reach, what they are doing,
   * what waits for which datacenter, and what is wrong.
   *
   * @return one JSON object, with each answer as text; docs/MONITORING.md describes its fields
   */
  public CompletableFuture<String> whyAsync() {
    return ask(WHY, LIST, "", Map.of());
  }

  /**
   * Asks all datacenters that can be reached, as {@link #whyAsync()}, about one key: which of its
   * requests and updates wait, for what and since when, and what each datacenter counted and
   * decided about it. Where the keyspace has homes, the holders of the key's home are asked.
   *
   * @return one JSON object, with each answer as text; docs/MONITORING.md describes its fields
   */
  public CompletableFuture<String> whyAsync(String keyspace, Key key) {
    if (present(key, "a key").length() > WHY_KEY_MAX) {
      return CompletableFuture.failedFuture(
          OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "a key that is asked about has at most %s bytes, not %s"
                  .formatted(WHY_KEY_MAX, key.length())));
    }
    String name = Base64.getUrlEncoder().withoutPadding().encodeToString(key.toBytes());
    String all = present(keyspace, "a keyspace's name");
    return client
        .whenNearest() // its greeting named the homes
        .thenCompose(
            at -> {
              String home = DatacenterQueries.home(client.datacenters(), all, key);
              return ask(WHY, LIST, name, Map.of(KEYSPACE, home));
            });
  }

  /**
   * Sends an administrative request of any kind.
   *
   * @param subject for example {@code keyspace}
   * @param action for example {@code list}
   * @param name the subject's name; empty for all of them
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
                  new AdminRequest.Administer(subject, action, name, sorted),
                  client.settings().timeout().minusNanos(waited),
                  !action.equals(LIST));
            });
  }
}
