package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.security.User;
import io.osier.datacenter.security.UserRecords;
import io.osier.datacenter.security.Users;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a datacenter what the keyspace {@code _osier} says, and changes what it says for operators.
 * All is done in steps by one thread: {@link ControlLoop}'s, or a test's.
 */
public final class ControlPlane {
  private static final Logger LOG = LoggerFactory.getLogger(ControlPlane.class);

  /** So many partitions may there be of all keyspaces when another one is created. */
  static final int PARTITIONS_MAX = 512;

  /** The object of {@code _osier} that says which keyspaces there are. */
  public static final ObjectId KEYSPACES = ControlState.KEYSPACES;

  /** The object of {@code _osier} that says which datacenters there are. */
  public static final ObjectId DATACENTERS = Membership.OBJECT;

  /**
   * Another datacenter.
   *
   * @param address where it is dialled, as host:port
   * @param incarnationMin an older incarnation has been given up
   */
  public record Peer(String address, long incarnationMin) {}

  /**
   * With whom this datacenter replicates.
   *
   * @param others by name
   * @param gone the names that were of the cluster, and are not any more
   * @param sharers those that get a part of the rights of new bounded counters
   * @param joins whether this one has not caught up with all of them yet
   * @param rank of this one's clock: no two have the same
   */
  public record Peers(
      SortedMap<String, Peer> others,
      Set<String> gone,
      Set<String> sharers,
      boolean joins,
      int rank) {
    public Peers {
      gone = Set.copyOf(gone);
      sharers = Set.copyOf(sharers);
      others = Collections.unmodifiableSortedMap(new TreeMap<>(others));
    }
  }

  /**
   * What a datacenter had that was given up.
   *
   * @param from its name
   * @param membership tells it from others of that name
   * @param heirs of these the first that holds a keyspace gets the rights there
   */
  public record Estate(String from, String membership, List<String> heirs) {
    public Estate {
      heirs = List.copyOf(heirs);
    }
  }

  /** The datacenter that is governed. Called by the control plane's thread. */
  public interface Host {
    /**
     * Asks the partition of {@code _osier}; waits for the answer.
     *
     * @return a failure if there is none in time
     */
    Reply ask(Request request, int timeoutMillis);

    /**
     * Opens a keyspace that was created at run time.
     *
     * @param created tells it from another creation of its name
     * @param first whether this datacenter never had it, so that there is nothing to catch up with
     * @param awaited see {@link #await}; from the first moment on
     */
    void open(KeyspacePolicy policy, String created, boolean first, List<String> awaited);

    /** Drops a keyspace with all that is in it. */
    void drop(String name, String created);

    /**
     * Whether {@code _osier} has here what it ever had: a store that was not written durably may
     * have lost the end of it, which comes back from the others.
     */
    boolean isSettled();

    /**
     * Deletes what the store has of keyspaces that are neither open nor among these.
     *
     * @param creations by name
     */
    void dropOthers(Map<String, String> creations);

    /** From now on a keyspace that is open behaves so. */
    void configure(KeyspacePolicy policy);

    /** Until these have opened a keyspace it takes no updates. */
    void await(String name, List<String> datacenters);

    /** From now on this datacenter replicates with these. */
    void setPeers(Peers peers);

    /**
     * Whether everything is here that the others had, since each is a peer, or since {@link
     * #compareAnew}; also of those that are no peers any more.
     */
    boolean isComplete();

    /** From now on {@link #isComplete} tells of what the others have from now on. */
    void compareAnew();

    /** Whether the others have everything that was written here in {@code _osier}. */
    boolean isShipped();

    /** Whether a datacenter can be reached now. */
    boolean isConnected(String name);

    /** What keeps this datacenter from having joined, or left, in words. */
    List<String> progress();

    /** How far it is if it joins; empty if it does not. */
    default Optional<CatchUp> catchUp() {
      return Optional.empty();
    }

    /**
     * From now on this keeps it from being one like the others; nothing if that is empty. Said once
     * at least, when it is known whether it joins.
     */
    void hinders(List<String> words);

    /**
     * Takes no updates any more, as long as something hinders it ({@link #hinders}). Called again
     * and again.
     *
     * @return whether none is under way, and the others have everything that was done here
     */
    boolean isQuiet();

    /**
     * Takes over the rights of a datacenter that was given up, where they fall to this one. Called
     * again and again.
     *
     * @return whether the others have what that changed
     */
    boolean inherit(Estate estate);

    /**
     * Takes no updates any more, and gives away what only this one may use. Called again and again.
     *
     * @param heirs who may get that, in this order; not empty
     * @return whether all is done, and the others have everything
     */
    boolean leave(List<String> heirs);

    /** This datacenter is none of the cluster any more: ends it. */
    void end(String why);

    /** The users that the configuration names: they count until somebody changes users. */
    default List<User> configuredUsers() {
      return List.of();
    }

    /** From now on these are all users. */
    default void users(Users all) {}
  }

  private final String dc;
  private final Map<String, KeyspacePolicy> configured;
  private final LongSupplier millis;
  private final Host host;
  private final ControlObjects objects;
  private final MemberPlane members;
  private final UserPlane users;

  /** What the keyspaces that are open here are like, and of those of run time the creation. */
  private final Map<String, KeyspacePolicy> applied = new TreeMap<>();

  private final Map<String, String> open = new TreeMap<>();

  /** What could not be done, so that it is said once. */
  private final Map<String, String> troubles = new TreeMap<>();

  private ControlState state = ControlState.NOTHING;
  private long changes = -1;
  private long lastCreatedMillis;

  /** Whether {@code _osier} says which datacenters there are. */
  private boolean namesDatacenters;

  /**
   * Whether {@code _osier} was read after it was settled, so that the store has nothing any more of
   * what was dropped while this did not run.
   */
  private boolean cleaned;

  /**
   * Of a datacenter that starts.
   *
   * @param datacenters the addresses of all that the configuration file names, by name; this one's
   *     own is empty
   * @param configured the keyspaces that its configuration file names
   * @param millis the wall clock
   */
  public ControlPlane(
      String dc,
      SortedMap<String, Optional<String>> datacenters,
      Map<String, KeyspacePolicy> configured,
      LongSupplier millis,
      Host host) {
    this.dc = dc;
    this.configured = new TreeMap<>(configured);
    this.millis = millis;
    this.host = host;
    this.applied.putAll(configured);
    this.objects = new ControlObjects(host::ask);
    this.members = new MemberPlane(dc, datacenters, objects, millis, host);
    this.users = new UserPlane(dc, objects, millis, host);
  }

  /** Who changed something last, and when, for an error; nothing if nobody has. */
  static String changed(String by, long atMillis) {
    return atMillis == 0
        ? ""
        : " (changed last by "
            + by
            + " at "
            + Instant.ofEpochMilli(atMillis).truncatedTo(ChronoUnit.SECONDS)
            + ")";
  }

  /**
   * Takes the datacenters that the store knew when this one ended; first of all.
   *
   * @param object what is there of {@link #DATACENTERS}
   * @throws OsierException CONFIGURATION if this one is none of them any more
   */
  public void recoverDatacenters(Reading.Fields object) {
    members.recover(object);
  }

  /**
   * Opens what the store knew when this datacenter ended, before anything is asked.
   *
   * @param keyspaces what is there of {@link ControlState#KEYSPACES}
   * @throws OsierException CONFIGURATION if the configuration file names a keyspace that was
   *     created at run time: they would be two of one name
   */
  public void recover(Reading.Fields keyspaces) {
    state = ControlState.of(keyspaces, configured.keySet(), members.names());
    if (!state.clashing().isEmpty()) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.keyspaces."
              + state.clashing().getFirst()
              + ": a keyspace of this name was created at run time, and has its data: take it out"
              + " of the file, or drop the other one first (osier cli keyspace drop)");
    }
    follow();
  }

  /**
   * Takes the users that the store knew when this datacenter ended.
   *
   * @param object what is there of {@link UserRecords#OBJECT}
   */
  public void recoverUsers(Reading.Fields object) {
    users.take(object);
  }

  // ---------------------------------------------------------------- what others have changed

  /** Whether it has once read what {@code _osier} says. */
  public boolean isKnown() {
    return changes >= 0;
  }

  /** Looks whether something has changed, and does what follows. */
  public void look() {
    OptionalLong count = objects.changes();
    if (count.isEmpty()) {
      return; // it is catching up, or ends
    }
    boolean cleans = !cleaned && host.isSettled();
    if ((count.getAsLong() != changes || cleans) && read()) {
      changes = count.getAsLong();
      if (cleans && state.clashing().isEmpty()) {
        host.dropOthers(state.creations());
        cleaned = true;
      }
    }
    if (changes < 0) {
      return;
    }
    objects.isRead();
    members.follow();
    follow();
    tell();
    if (isIgnorant()) {
      host.hinders(
          List.of(
              "datacenter '"
                  + dc
                  + "' has not heard yet from the others which keyspaces there are"));
    } else {
      members.tell(missing());
    }
    users.tell();
  }

  /**
   * Whether nobody has told yet which keyspaces there are: no file, and no other datacenter. It may
   * be one that joins and cannot reach the others. Waiting costs nothing, as it has none to serve.
   */
  private boolean isIgnorant() {
    return !cleaned && !namesDatacenters && configured.isEmpty() && state.created().isEmpty();
  }

  private boolean read() {
    Optional<Reading.Fields> datacenters = objects.map(DATACENTERS);
    Optional<Reading.Fields> keyspaces = objects.map(KEYSPACES);
    Optional<Reading.Fields> allUsers = objects.map(UserRecords.OBJECT);
    if (datacenters.isEmpty() || keyspaces.isEmpty() || allUsers.isEmpty()) {
      return false;
    }
    members.take(datacenters.get());
    namesDatacenters = Membership.of(datacenters.get()).isInForce();
    state = ControlState.of(keyspaces.get(), configured.keySet(), members.names());
    users.take(allUsers.get());
    if (changes < 0) {
      users.letIn();
    }
    return true;
  }

  /** Opens, drops and configures keyspaces, so that they are as they should be. */
  private void follow() {
    for (Map.Entry<String, String> e : List.copyOf(open.entrySet())) {
      if (!e.getValue().equals(state.creations().get(e.getKey()))) {
        trying(
            e.getKey(),
            () -> {
              host.drop(e.getKey(), e.getValue());
              open.remove(e.getKey());
              applied.remove(e.getKey());
            });
      }
    }
    for (KeyspaceDefinition wanted : state.created().values()) {
      if (wanted.policy().heldBy(dc) && !open.containsKey(wanted.name())) {
        trying(
            wanted.name(),
            () -> {
              host.open(wanted.policy(), wanted.created(), !wanted.isOpenAt(dc), awaited(wanted));
              open.put(wanted.name(), wanted.created());
              applied.put(wanted.name(), wanted.policy());
            });
      }
      if (open.containsKey(wanted.name())) {
        host.await(wanted.name(), awaited(wanted));
        configure(wanted.policy());
      }
    }
    configured.values().forEach(policy -> configure(state.altered(policy, members.names())));
  }

  /** Who must open it before it takes updates: of its members those that are there. */
  private List<String> awaited(KeyspaceDefinition keyspace) {
    return keyspace.awaited().stream().filter(members.names()::contains).toList();
  }

  private void configure(KeyspacePolicy wanted) {
    if (!wanted.equals(applied.get(wanted.name()))) {
      trying(
          wanted.name(),
          () -> {
            host.configure(wanted);
            applied.put(wanted.name(), wanted);
          });
    }
  }

  private void trying(String keyspace, Runnable what) {
    try {
      what.run();
      troubles.remove(keyspace);
    } catch (RuntimeException e) {
      if (!String.valueOf(e.getMessage()).equals(troubles.put(keyspace, "" + e.getMessage()))) {
        LOG.error("keyspace '{}' cannot be what it should be; it is tried again", keyspace, e);
      }
    }
  }

  /** Tells the others what is open here, and removes what means nothing. */
  private void tell() {
    List<Operation> operations = new ArrayList<>();
    for (KeyspaceDefinition wanted : state.created().values()) {
      boolean isOpen = wanted.created().equals(open.get(wanted.name()));
      if (isOpen && !wanted.isOpenAt(dc)) {
        operations.add(ControlState.opened(wanted.name(), dc, wanted.created()));
      }
    }
    state.remains().forEach(name -> operations.add(ControlState.drop(name)));
    if (!operations.isEmpty()) {
      try {
        change(operations);
      } catch (OsierException e) {
        LOG.warn("what is open here cannot be told to the others yet: {}", e.getMessage());
      }
    }
  }

  // ---------------------------------------------------------------- what an operator changes

  /**
   * Does what an operator asks for.
   *
   * @param by who that is
   * @return the keyspaces that were meant, as they are now
   * @throws OsierException INVALID_ARGUMENT if it makes no sense, and what the keyspace's partition
   *     answers otherwise; nothing was done, except with TIMEOUT, where it may be
   */
  public List<KeyspaceView> administer(Request.Administer request, String by) {
    lookNow();
    String name = request.name();
    switch (request.subject() + " " + request.action()) {
      case "keyspace list" -> {
        checkNone(request);
        return views();
      }
      case "keyspace create" -> create(name, request.settings(), by);
      case "keyspace alter" -> alter(name, request.settings(), by);
      case "keyspace drop" -> {
        checkNone(request);
        drop(name);
        return List.of();
      }
      default ->
          throw new OsierException(
              ErrorCode.INVALID_ARGUMENT,
              "there is no command '"
                  + request.subject()
                  + " "
                  + request.action()
                  + "'; there are keyspace list, create, alter, drop");
    }
    return views(name);
  }

  /** Keyspaces that should be here, and could not be opened. */
  private List<String> missing() {
    return state.created().values().stream()
        .filter(k -> k.policy().heldBy(dc) && !k.created().equals(open.get(k.name())))
        .map(KeyspaceDefinition::name)
        .toList();
  }

  /** What is answered rests on what is known now. */
  private void lookNow() {
    look();
    if (changes < 0) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE, "the datacenter has just started and is catching up");
    }
  }

  /**
   * Adds a datacenter for an operator, tells one to leave, gives one up, or lists them.
   *
   * @param by who that is
   * @return the datacenters, as they are now
   * @throws OsierException as {@link #administer}
   */
  public List<DatacenterView> administerDatacenters(Request.Administer request, String by) {
    lookNow();
    List<KeyspacePolicy> all = new ArrayList<>(configured.values());
    state.created().values().forEach(k -> all.add(k.policy()));
    List<DatacenterView> asked = members.administer(request, all, by);
    if (request.action().equals("list")) {
      return asked;
    }
    look();
    return members.views().stream().filter(v -> v.name().equals(request.name())).toList();
  }

  /** A keyspace as it is known now; empty if it is not. */
  List<KeyspaceView> views(String name) {
    return views().stream().filter(v -> v.name().equals(name)).toList();
  }

  private static void checkNone(Request.Administer request) {
    if (!request.settings().isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "keyspace "
              + request.action()
              + " takes no settings, but "
              + request.settings().keySet()
              + " were given");
    }
  }

  private void create(String name, SortedMap<String, String> settings, String by) {
    KeyspacePolicy policy = KeyspaceSettings.read(name, settings, members.names());
    KeyspaceDefinition there = state.created().get(name);
    if (there != null) {
      // Perhaps this very command, sent again because its answer got lost.
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "there is a keyspace '"
              + name
              + "' already"
              + changed(there.by(), there.atMillis())
              + (there.policy().equals(policy) ? ", with these very settings" : ""));
    }
    if (applied.containsKey(name) || state.creations().containsKey(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "there is a keyspace '" + name + "' already");
    }
    if (!host.isSettled() || !members.isActive()) {
      // It may have lost that there is one of this name: the new one would win, and lose the other.
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter "
              + dc
              + " may not know all keyspaces: it has not heard from every other one since it"
              + " started; create it when it has, or at another datacenter");
    }
    int partitions = policy.partitions();
    for (KeyspacePolicy other : applied.values()) {
      partitions += other.partitions();
    }
    if (partitions > PARTITIONS_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "with the "
              + policy.partitions()
              + " partitions of '"
              + name
              + "' there would be "
              + partitions
              + " of all keyspaces; at most "
              + PARTITIONS_MAX
              + " are created at run time, since each has a thread and its part of the memory");
    }
    List<String> awaited = policy.replicas().isEmpty() ? members.awaited() : policy.replicas();
    lastCreatedMillis = Math.max(lastCreatedMillis + 1, millis.getAsLong());
    String created = lastCreatedMillis + "-" + dc;
    // Opened before it is told: whoever learns of it may ask for it here at once.
    if (policy.heldBy(dc)) {
      host.open(policy, created, true, awaited);
      open.put(name, created);
      applied.put(name, policy);
    }
    try {
      change(List.of(ControlState.create(policy, created, awaited, dc, by, millis.getAsLong())));
    } catch (OsierException e) {
      look(); // it is dropped again, unless it was told all the same
      throw e;
    }
    look();
  }

  private void alter(String name, SortedMap<String, String> settings, String by) {
    KeyspaceDefinition definition = state.created().get(name);
    KeyspacePolicy now =
        definition != null
            ? definition.policy()
            : Optional.ofNullable(configured.get(name))
                .map(policy -> state.altered(policy, members.names()))
                .orElseThrow(() -> unknown(name));
    if (settings.isEmpty()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "nothing is to be altered; what can be is " + KeyspaceSettings.ALTERABLE);
    }
    for (String setting : settings.keySet()) {
      if (KeyspaceSettings.FIXED.contains(setting)) {
        throw new OsierException(
            ErrorCode.INVALID_ARGUMENT,
            setting
                + " of a keyspace that exists cannot be altered; what can be is "
                + KeyspaceSettings.ALTERABLE);
      }
    }
    SortedMap<String, String> all = KeyspaceSettings.of(now);
    all.putAll(settings);
    SortedMap<String, String> wanted =
        KeyspaceSettings.of(KeyspaceSettings.read(name, all, members.names()));
    wanted.keySet().retainAll(settings.keySet());
    Optional<String> created = Optional.ofNullable(definition).map(KeyspaceDefinition::created);
    change(List.of(ControlState.alter(name, created, wanted, by, millis.getAsLong())));
    look();
  }

  private void drop(String name) {
    if (configured.containsKey(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "keyspace '"
              + name
              + "' is named by the configuration files: it goes when it is taken out of all of"
              + " them, and each datacenter is restarted");
    }
    if (!state.created().containsKey(name)) {
      throw unknown(name);
    }
    change(List.of(ControlState.drop(name)));
    look();
  }

  private OsierException unknown(String name) {
    Set<String> names = new TreeSet<>(configured.keySet());
    names.addAll(state.created().keySet());
    return new OsierException(
        ErrorCode.UNKNOWN_KEYSPACE, "there is no keyspace '" + name + "'; there are " + names);
  }

  /** The keyspaces that are, but for {@code _osier} itself. */
  private List<KeyspaceView> views() {
    SortedMap<String, KeyspaceView> views = new TreeMap<>();
    for (KeyspacePolicy policy : configured.values()) {
      SortedMap<String, String> texts =
          state.altered().getOrDefault(policy.name(), new TreeMap<>());
      views.put(
          policy.name(),
          new KeyspaceView(
              policy.name(),
              KeyspaceSettings.of(state.altered(policy, members.names())),
              List.of(),
              true,
              ControlState.by(texts),
              ControlState.atMillis(texts)));
    }
    for (KeyspaceDefinition d : state.created().values()) {
      views.put(
          d.name(),
          new KeyspaceView(
              d.name(), KeyspaceSettings.of(d.policy()), awaited(d), false, d.by(), d.atMillis()));
    }
    return List.copyOf(views.values());
  }

  /**
   * Changes users for an operator, or lists them.
   *
   * @param by who that is
   * @return the users that were meant, as they are now
   * @throws OsierException as {@link #administer}
   */
  public List<UserView> administerUsers(Request.Administer request, String by) {
    lookNow();
    List<UserView> asked = users.administer(request, by);
    if (request.action().equals("list")) {
      return asked;
    }
    look();
    return users.views().stream().filter(u -> u.name().equals(request.name())).toList();
  }

  /** Commits changes of the keyspaces, together. */
  private void change(List<Operation> operations) {
    objects.change(KEYSPACES, operations);
  }
}
