package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.security.User;
import io.osier.datacenter.security.UserCommand;
import io.osier.datacenter.security.UserRecords;
import io.osier.datacenter.security.Users;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a datacenter what the keyspace {@code _osier} says, and changes what it says for operators.
 * All is done in steps by one thread: {@link ControlLoop}'s, or a test's.
 */
public final class ControlPlane {
  private static final Logger LOG = LoggerFactory.getLogger(ControlPlane.class);
  private static final int ASK_MILLIS = 5_000;

  /** So many partitions may there be of all keyspaces when another one is created. */
  static final int PARTITIONS_MAX = 512;

  /** Counts the changes: a look at it tells whether there is anything to read. */
  private static final ObjectId CHANGES = new ObjectId(Key.of("changes"), CrdtType.G_COUNTER);

  /** The object of {@code _osier} that says which keyspaces there are. */
  public static final ObjectId KEYSPACES = ControlState.KEYSPACES;

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

    /** The users that the configuration names: they count until somebody changes users. */
    default List<User> configuredUsers() {
      return List.of();
    }

    /** From now on these are all users. */
    default void users(Users all) {}
  }

  private final String dc;
  private final Set<String> datacenters;
  private final Map<String, KeyspacePolicy> configured;
  private final LongSupplier millis;
  private final Host host;

  /** What the keyspaces that are open here are like, and of those of run time the creation. */
  private final Map<String, KeyspacePolicy> applied = new TreeMap<>();

  private final Map<String, String> open = new TreeMap<>();

  /** What could not be done, so that it is said once. */
  private final Map<String, String> troubles = new TreeMap<>();

  private ControlState state = ControlState.NOTHING;
  private UserRecords users = UserRecords.NONE;
  private long changes = -1;
  private VersionVector seen = VersionVector.EMPTY;
  private long lastCreatedMillis;

  /** Whether the store has nothing any more of what was dropped while this did not run. */
  private boolean cleaned;

  /**
   * Of a datacenter that starts.
   *
   * @param datacenters the names of all, this one's among them
   * @param configured the keyspaces that its configuration file names
   * @param millis the wall clock
   */
  public ControlPlane(
      String dc,
      Set<String> datacenters,
      Map<String, KeyspacePolicy> configured,
      LongSupplier millis,
      Host host) {
    this.dc = dc;
    this.datacenters = new TreeSet<>(datacenters);
    this.configured = new TreeMap<>(configured);
    this.millis = millis;
    this.host = host;
    this.applied.putAll(configured);
  }

  /**
   * Opens what the store knew when this datacenter ended, before anything is asked.
   *
   * @param keyspaces what is there of {@link ControlState#KEYSPACES}
   * @throws OsierException CONFIGURATION if the configuration file names a keyspace that was
   *     created at run time: they would be two of one name
   */
  public void recover(Reading.Fields keyspaces) {
    state = ControlState.of(keyspaces, configured.keySet(), datacenters);
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
    take(new UserRecords(object));
  }

  private void take(UserRecords now) {
    users = now;
    if (now.isInForce()) {
      host.users(now.users());
    }
  }

  // ---------------------------------------------------------------- what others have changed

  /** Looks whether something has changed, and does what follows. */
  public void look() {
    Reply counted =
        host.ask(
            new Request.Read(
                KeyspacePolicy.CONTROL,
                CHANGES.key(),
                Optional.of(CHANGES.type()),
                new Query.Whole(),
                seen,
                false,
                ASK_MILLIS),
            ASK_MILLIS);
    if (!(counted instanceof Reply.Answer answer)
        || !(answer.reading().orElse(null) instanceof Reading.Count count)) {
      return; // it is catching up, or ends
    }
    boolean cleans = !cleaned && host.isSettled();
    if ((count.value() != changes || cleans) && read()) {
      changes = count.value();
      if (cleans && state.clashing().isEmpty()) {
        host.dropOthers(state.creations());
        cleaned = true;
      }
    }
    // It is there now, and with nothing to wait for the partition's thread is left in peace.
    seen = VersionVector.EMPTY;
    follow();
    tell();
  }

  private boolean read() {
    Optional<Reading.Fields> keyspaces = read(ControlState.KEYSPACES);
    Optional<Reading.Fields> allUsers = read(UserRecords.OBJECT);
    if (keyspaces.isEmpty() || allUsers.isEmpty()) {
      return false;
    }
    state = ControlState.of(keyspaces.get(), configured.keySet(), datacenters);
    take(new UserRecords(allUsers.get()));
    if (changes < 0 && users.isLockedOut()) {
      letIn();
    }
    return true;
  }

  private Optional<Reading.Fields> read(ObjectId object) {
    Reply reply =
        host.ask(
            new Request.Read(
                KeyspacePolicy.CONTROL,
                object.key(),
                Optional.of(object.type()),
                new Query.Whole(),
                seen,
                false,
                ASK_MILLIS),
            ASK_MILLIS);
    return reply instanceof Reply.Answer answer
            && answer.reading().orElse(null) instanceof Reading.Fields fields
        ? Optional.of(fields)
        : Optional.empty();
  }

  /** Nobody may change users any more: those of the configuration who are gone come back. */
  private void letIn() {
    List<Operation> operations = users.initial(host.configuredUsers(), author("configuration"));
    if (!operations.isEmpty()) {
      LOG.warn("nobody may change users any more; those of the configuration are made again");
      try {
        change(UserRecords.OBJECT, operations);
      } catch (OsierException e) {
        LOG.warn("that failed: {}", e.getMessage());
      }
    }
  }

  private UserRecords.Author author(String by) {
    lastCreatedMillis = Math.max(lastCreatedMillis + 1, millis.getAsLong());
    return new UserRecords.Author(
        by + "@" + dc, lastCreatedMillis, UUID.randomUUID().getMostSignificantBits());
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
              host.open(wanted.policy(), wanted.created(), !wanted.isOpenAt(dc), wanted.awaited());
              open.put(wanted.name(), wanted.created());
              applied.put(wanted.name(), wanted.policy());
            });
      }
      if (open.containsKey(wanted.name())) {
        host.await(wanted.name(), wanted.awaited());
        configure(wanted.policy());
      }
    }
    configured.values().forEach(policy -> configure(state.altered(policy, datacenters)));
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
    List<Operation> cleaning = users.cleaning();
    if (!cleaning.isEmpty()) {
      try {
        change(UserRecords.OBJECT, cleaning);
      } catch (OsierException e) {
        LOG.warn("what is left of users who were dropped stays for now: {}", e.getMessage());
      }
    }
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
    look();
    if (changes < 0) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE, "the datacenter has just started and is catching up");
    }
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
    KeyspacePolicy policy = KeyspaceSettings.read(name, settings, datacenters);
    if (applied.containsKey(name) || state.creations().containsKey(name)) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT, "there is a keyspace '" + name + "' already");
    }
    if (!host.isSettled()) {
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
    List<String> members =
        policy.replicas().isEmpty() ? List.copyOf(datacenters) : policy.replicas();
    lastCreatedMillis = Math.max(lastCreatedMillis + 1, millis.getAsLong());
    String created = lastCreatedMillis + "-" + dc;
    // Opened before it is told: whoever learns of it may ask for it here at once.
    if (policy.heldBy(dc)) {
      host.open(policy, created, true, members);
      open.put(name, created);
      applied.put(name, policy);
    }
    try {
      change(List.of(ControlState.create(policy, created, members, dc, by, millis.getAsLong())));
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
                .map(policy -> state.altered(policy, datacenters))
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
        KeyspaceSettings.of(KeyspaceSettings.read(name, all, datacenters));
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
              KeyspaceSettings.of(state.altered(policy, datacenters)),
              List.of(),
              true,
              ControlState.by(texts),
              ControlState.atMillis(texts)));
    }
    for (KeyspaceDefinition d : state.created().values()) {
      views.put(
          d.name(),
          new KeyspaceView(
              d.name(), KeyspaceSettings.of(d.policy()), d.awaited(), false, d.by(), d.atMillis()));
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
    look();
    if (changes < 0) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE, "the datacenter has just started and is catching up");
    }
    if (request.action().equals("list")) {
      checkNone(request);
      return userViews();
    }
    UserCommand command = UserCommand.parse(request.action(), request.name(), request.settings());
    List<User> configuredUsers = host.configuredUsers();
    if (!users.isInForce() && !configuredUsers.isEmpty()) {
      // From now on the configuration's count no more; so they come along.
      change(UserRecords.OBJECT, users.initial(configuredUsers, author("configuration")));
      look();
    }
    change(UserRecords.OBJECT, users.operations(command, author(by)));
    look();
    return userViews().stream().filter(u -> u.name().equals(request.name())).toList();
  }

  private List<UserView> userViews() {
    List<UserView> views = new ArrayList<>();
    boolean fromFile = !users.isInForce() && !host.configuredUsers().isEmpty();
    for (User user : fromFile ? host.configuredUsers() : users.users().all()) {
      views.add(
          new UserView(
              user.name(),
              user.credential().isPresent(),
              user.grants(),
              fromFile,
              users.madeBy(user.name()).orElse(""),
              users.madeAtMillis(user.name()).orElse(0L)));
    }
    return views;
  }

  /** Commits changes, together. */
  private void change(List<Operation> operations) {
    change(ControlState.KEYSPACES, operations);
  }

  private void change(ObjectId object, List<Operation> operations) {
    UUID id = UUID.randomUUID();
    List<Request.Update> updates = new ArrayList<>();
    for (Operation operation : operations) {
      updates.add(new Request.Update(object.key(), object.type(), operation));
    }
    updates.add(new Request.Update(CHANGES.key(), CHANGES.type(), new Operation.Increment(1)));
    Request.Transact request =
        new Request.Transact(
            KeyspacePolicy.CONTROL,
            new TransactionId(id.getMostSignificantBits(), id.getLeastSignificantBits()),
            1,
            Optional.of(new Request.Begin(seen, false, ASK_MILLIS, 2 * ASK_MILLIS)),
            updates,
            List.of(),
            Request.End.COMMIT);
    seen = answer(request, reply -> reply instanceof Reply.Transacted t ? t.clock() : null);
  }

  private <T> T answer(Request request, Function<Reply, @Nullable T> expected) {
    Reply reply = host.ask(request, ASK_MILLIS);
    if (reply instanceof Reply.Failure f) {
      throw new OsierException(f.code(), f.message());
    }
    T result = expected.apply(reply);
    if (result == null) {
      throw new OsierException(ErrorCode.INTERNAL, "an answer that does not belong here: " + reply);
    }
    return result;
  }
}
