package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.UserRecords;
import io.osier.datacenter.access.Users;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Makes a datacenter what the keyspace {@code _osier} says, and changes what it says for operators.
 * All is done in steps by one thread: {@link ControlLoop}'s, or a test's.
 */
public final class ControlPlane {
  /**
   * Where nothing was recorded, and no datacenter joins, leaves or is gone, nothing is to be done
   * but what has failed before: so many of all looks do without trying that again.
   */
  private static final int SKIPPED_MAX = 3;

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
   * Who holds a keyspace.
   *
   * @param holders all that replicate it
   * @param first those that it began with: they tell it from another one of its name
   * @param part what this datacenter does
   * @param leaving those that give it up
   * @param unshared of these those that get no part of the rights of new bounded counters
   * @param terms how often holders were added again after they had been removed; of the others none
   */
  public record Holding(
      List<String> holders,
      List<String> first,
      Part part,
      Set<String> leaving,
      Set<String> unshared,
      SortedMap<String, Integer> terms) {
    public Holding {
      holders = List.copyOf(holders);
      first = List.copyOf(first);
      leaving = Set.copyOf(leaving);
      unshared = Set.copyOf(unshared);
      terms = Collections.unmodifiableSortedMap(new TreeMap<>(terms));
    }

    /** Whether this datacenter has not what the others hold yet. */
    public boolean joins() {
      return part == Part.JOINS;
    }
  }

  /** What a datacenter does that replicates a keyspace. */
  public enum Part {
    /** It catches up, and is asked nothing. */
    JOINS,
    /** It is asked as all are. */
    SERVES,
    /** It gives the keyspace up, and is asked nothing any more. */
    LEAVES
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
     * Changes when {@link #ask} may read something else than before; empty if that is not known.
     */
    default OptionalLong recorded() {
      return OptionalLong.empty();
    }

    /** The last incarnation that is known of a datacenter, this one included; 0 if none is. */
    long incarnation(String name);

    /**
     * Opens a keyspace that was created at run time.
     *
     * @param created tells it from another creation of its name
     * @param first whether this datacenter never had it, so that there is nothing to catch up with
     * @param awaited see {@link #await}; from the first moment on
     */
    void open(KeyspacePolicy policy, String created, boolean first, List<String> awaited);

    /**
     * Opens a keyspace of the configuration that others held so far: nothing is known here of it.
     */
    default void openConfigured(KeyspacePolicy policy) {}

    /**
     * From now on these hold a keyspace that is open. One that is opened with a policy of others'
     * is not shown before this says so.
     */
    default void setHolders(String keyspace, Holding now) {}

    /** Whether a keyspace that is open has here what all others that hold it have. */
    default boolean isWhole(String keyspace) {
      return false;
    }

    /**
     * Gives a keyspace up: forwards what is asked here of it, and takes no updates. Called again
     * and again.
     *
     * @return whether none is under way, and the others have everything that was done here
     */
    default boolean cease(String keyspace) {
      throw new IllegalStateException("nobody is removed from its holders: " + keyspace);
    }

    /** A keyspace that {@link #cease} was called for is held here as before. */
    default void resume(String keyspace) {}

    /**
     * After {@link #cease}: gives away what only this datacenter may use in a keyspace. Called
     * again and again.
     *
     * @param heirs the first of these gets it; not empty
     * @return whether all is done, and the others have everything
     */
    default boolean giveAway(String keyspace, List<String> heirs) {
      throw new IllegalStateException("nobody is removed from its holders: " + keyspace);
    }

    /** Drops a keyspace with all that is in it here. */
    void drop(String name, String created);

    /**
     * Whether {@code _osier} has here what it ever had: a store that was not written durably may
     * have lost the end of it, which comes back from the others.
     */
    boolean isSettled();

    /**
     * Whether what {@code _osier} says here may be gone by: a datacenter that has just started
     * waits a moment for the others, who may have changed it meanwhile. Once true it stays so.
     */
    default boolean mayBegin() {
      return true;
    }

    /** Whether one of the others was heard since the start, or there are none. */
    default boolean hasHeard() {
      return true;
    }

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

    /** From now on these keyspaces are there, here or elsewhere. */
    default void setPlacement(Placement placement) {}

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

    /** The newest version of the peer protocol that a datacenter speaks, as far as is known. */
    int protocol(String name);

    /** The oldest version of the peer protocol in which a datacenter of this name can be named. */
    int protocolMin(String name);

    /** By name, the newest version of the peer protocol that datacenters say that they speak. */
    void setProtocols(SortedMap<String, Integer> protocols);

    /** How others reach this datacenter's port for clients; empty while there is none. */
    String clients();

    /** By name, how the ports for clients are reached of the datacenters that have said so. */
    void setClients(SortedMap<String, String> clients);

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
  private final Host host;
  private final ControlObjects objects;
  private final MemberPlane members;
  private final MemberCommands memberCommands;
  private final KeyspacePlane keyspaces;
  private final UserPlane users;

  private long changes = -1;

  /** What {@link Host#recorded} was before {@link #changes} were read; empty if that is unknown. */
  private OptionalLong recorded = OptionalLong.empty();

  /** How many looks were left out since the last one. */
  private int skipped;

  /** Whether {@code _osier} says which datacenters there are. */
  private boolean namesDatacenters;

  /**
   * Whether {@code _osier} was read after it was settled, so that the store has nothing any more of
   * what was dropped while this did not run.
   */
  private boolean cleaned;

  /** Whether it was seen to it that somebody may change users. */
  private boolean letIn;

  /**
   * Of a datacenter that starts.
   *
   * @param datacenters the addresses of all that the configuration file names, by name; this one's
   *     own is empty
   * @param configured the keyspaces that its configuration file names, here or elsewhere
   * @param millis the wall clock
   */
  public ControlPlane(
      String dc,
      SortedMap<String, Optional<String>> datacenters,
      Map<String, KeyspacePolicy> configured,
      LongSupplier millis,
      Host host) {
    this.dc = dc;
    this.host = host;
    this.objects = new ControlObjects(host::ask, millis, new Random(dc.hashCode()));
    this.members = new MemberPlane(dc, datacenters, objects, millis, host);
    this.memberCommands = new MemberCommands(dc, datacenters, objects, millis, host, members);
    this.keyspaces = new KeyspacePlane(dc, configured, millis, objects, members, host);
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
   * @param object what is there of {@link #KEYSPACES}
   * @throws OsierException CONFIGURATION if the configuration file names a keyspace that was
   *     created at run time: they would be two of one name
   */
  public void recover(Reading.Fields object) {
    keyspaces.recover(object);
  }

  /**
   * The keyspaces of the configuration that are to be open at the start; after {@link #recover}.
   */
  public List<KeyspacePolicy> configured() {
    return keyspaces.configuredHere();
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

  /** How often a keyspace could not be made what it should be here. For any thread. */
  public long failedKeyspaces() {
    return keyspaces.failed();
  }

  /** How often what this datacenter has to tell in {@code _osier} was refused. For any thread. */
  public long refused() {
    return objects.refused();
  }

  /** Whether it has once read what {@code _osier} says. */
  public boolean isKnown() {
    return changes >= 0;
  }

  /** Whether the last look found nothing to be done: the next one may come later than otherwise. */
  public boolean isAtRest() {
    return skipped > 0;
  }

  /** Looks whether something has changed, and does what follows. */
  public void look() {
    if (skipped < SKIPPED_MAX && isSteady()) {
      skipped++;
    } else {
      skipped = 0;
      lookWholly();
    }
  }

  private boolean isSteady() {
    return cleaned && letIn && members.isSteady() && isRead(host.recorded());
  }

  /** Whether nothing else can be read than what was, where so much was recorded. */
  private boolean isRead(OptionalLong now) {
    return now.isPresent() && now.equals(recorded) && !objects.isAwaiting();
  }

  private void lookWholly() {
    if (!isKnown() && !host.mayBegin()) {
      return;
    }
    boolean hasHeard = letIn || host.hasHeard(); // before anything is read, as what follows
    boolean cleans = !cleaned && host.isSettled();
    OptionalLong now = host.recorded(); // before anything is read: what comes later is seen then
    if (!isRead(now) || cleans || !letIn) {
      OptionalLong count = objects.changes();
      if (count.isEmpty()) {
        return; // it is catching up, or ends
      }
      boolean isRead = count.getAsLong() == changes && !cleans;
      if (!isRead && read()) {
        isRead = true;
        changes = count.getAsLong();
        if (cleans) {
          cleaned = keyspaces.dropOthers();
        }
      }
      recorded = isRead ? now : OptionalLong.empty();
    }
    if (changes < 0) {
      return;
    }
    objects.isRead();
    if (!letIn && hasHeard) { // others may have let somebody in meanwhile
      users.letIn();
      letIn = true;
    }
    members.follow();
    keyspaces.follow();
    keyspaces.tell();
    if (isIgnorant()) {
      host.hinders(
          List.of(
              "datacenter '"
                  + dc
                  + "' has not heard yet from the others which keyspaces there are"));
    } else {
      members.tell(keyspaces.missing());
    }
    users.tell();
  }

  /**
   * Whether nobody has told yet which keyspaces there are: no file, and no other datacenter. It may
   * be one that joins and cannot reach the others. Waiting costs nothing, as it has none to serve.
   */
  private boolean isIgnorant() {
    return !cleaned && !namesDatacenters && keyspaces.isEmpty();
  }

  private boolean read() {
    Optional<Reading.Fields> datacenters = objects.map(DATACENTERS);
    Optional<Reading.Fields> allKeyspaces = objects.map(KEYSPACES);
    Optional<Reading.Fields> allUsers = objects.map(UserRecords.OBJECT);
    if (datacenters.isEmpty() || allKeyspaces.isEmpty() || allUsers.isEmpty()) {
      return false;
    }
    members.take(datacenters.get());
    namesDatacenters = Membership.of(datacenters.get()).isInForce();
    keyspaces.take(allKeyspaces.get());
    users.take(allUsers.get());
    return true;
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
    List<KeyspaceView> asked;
    try {
      asked = keyspaces.administer(request, by);
    } catch (OsierException e) {
      if (request.action().equals("create")) {
        lookWholly(); // what was opened for it is dropped again, unless it was told all the same
      }
      throw e;
    }
    if (request.action().equals("list")) {
      return asked;
    }
    lookWholly();
    return request.action().equals("drop") ? List.of() : views(request.name());
  }

  /** A keyspace as it is known now; empty if it is not. */
  List<KeyspaceView> views(String name) {
    return keyspaces.views(name);
  }

  /** What is answered rests on what is known now. */
  private void lookNow() {
    lookWholly();
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
    List<DatacenterView> asked = memberCommands.administer(request, keyspaces.policies(), by);
    if (request.action().equals("list")) {
      return asked;
    }
    lookWholly();
    return memberCommands.views().stream().filter(v -> v.name().equals(request.name())).toList();
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
    lookWholly();
    return users.views().stream().filter(u -> u.name().equals(request.name())).toList();
  }
}
