package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.control.view.CatchUp;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The datacenter that a {@link ControlPlane} governs. Called by the control plane's thread. */
public interface ControlHost {
  /** Stands for the creation of a keyspace that the configuration files name. */
  String FROM_FILE = "file";

  /**
   * Another datacenter.
   *
   * @param address where it is dialled, as host:port
   * @param incarnationMin the least incarnation that counts: older ones were removed
   */
  record Peer(String address, long incarnationMin) {}

  /**
   * The datacenters with which this one replicates.
   *
   * @param others by name
   * @param gone the names of former members of the cluster
   * @param sharers the datacenters that share the rights of new bounded counters
   * @param joins whether this datacenter has not caught up with all of them yet
   * @param rank of this one's clock: no two have the same
   */
  record Peers(
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
   * The holders of a keyspace.
   *
   * @param holders all datacenters that replicate it
   * @param first the first holders, which tell it from another keyspace of its name
   * @param part what this datacenter does
   * @param leaving the holders that are leaving
   * @param unshared the leaving holders that get no share of the rights of new bounded counters
   * @param terms how often holders were added again after a removal; holders that never were are
   *     missing
   */
  record Holding(
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

    /** Returns whether this datacenter does not have the other holders' data yet. */
    public boolean joins() {
      return part == Part.JOINS;
    }
  }

  /** What a datacenter does in replicating a keyspace. */
  enum Part {
    /** It catches up; no requests are sent to it. */
    JOINS,
    /** It serves requests. */
    SERVES,
    /** It leaves the keyspace; no requests are sent to it any more. */
    LEAVES
  }

  /**
   * The rights of a removed datacenter.
   *
   * @param from its name
   * @param membership tells memberships of that name apart
   * @param heirs the first of these that holds a keyspace gets the rights there
   */
  record Estate(String from, String membership, List<String> heirs) {
    public Estate {
      heirs = List.copyOf(heirs);
    }
  }

  /**
   * Asks the partition of {@code _osier}; waits for the answer.
   *
   * @return a failure if there is none in time
   */
  Reply ask(Request request, int timeoutMillis);

  /**
   * Returns a number that changes when {@link #ask} may read something new; empty if there is none.
   */
  default OptionalLong recorded() {
    return OptionalLong.empty();
  }

  /** Returns the last known incarnation of a datacenter, this one included; 0 if none is known. */
  long incarnation(String name);

  /**
   * Opens a keyspace that was created at run time.
   *
   * @param created tells creations of its name apart
   * @param first whether the keyspace is new here, so that there is nothing to catch up with
   * @param awaited see {@link #await}; counts from the first moment
   */
  void open(KeyspacePolicy policy, String created, boolean first, List<String> awaited);

  /** Opens a keyspace of the configuration that others held so far: there is no data of it here. */
  default void openConfigured(KeyspacePolicy policy) {}

  /**
   * Returns false if the store has a keyspace of the configuration in a later term of this
   * datacenter than is known here: then it is opened once {@code _osier} has come from the others.
   */
  default boolean mayOpen(KeyspacePolicy policy) {
    return true;
  }

  /** Returns whether the store has this creation of a keyspace, {@link #FROM_FILE} included. */
  default boolean hasStored(String keyspace, String created) {
    return false;
  }

  /**
   * Sets the holders of an open keyspace. A keyspace that others held at its creation is not shown
   * to clients before this call.
   */
  default void setHolders(String keyspace, Holding now) {}

  /** Returns whether an open keyspace has all data of its other holders. */
  default boolean isWhole(String keyspace) {
    return false;
  }

  /**
   * Gives a keyspace up: forwards its requests, and takes no updates. Called again and again.
   *
   * @return whether no update is in flight, and the others have all updates
   */
  default boolean cease(String keyspace) {
    throw new IllegalStateException("no datacenter is removed from its holders: " + keyspace);
  }

  /** Holds a keyspace as before, after {@link #cease}. */
  default void resume(String keyspace) {}

  /**
   * After {@link #cease}: gives away this datacenter's rights in a keyspace. Called again and
   * again.
   *
   * @param heirs the first of these gets the rights; not empty
   * @return whether all is given away, and the others have that
   */
  default boolean giveAway(String keyspace, List<String> heirs) {
    throw new IllegalStateException("no datacenter is removed from its holders: " + keyspace);
  }

  /**
   * Searches keyspaces, as far as they are open, for keys of which updates are refused since a home
   * that is being added would take them ({@link io.osier.core.Homes#taker}). Called again and
   * again.
   *
   * @param id a search with another id begins anew
   * @return such a key, in words, or "" if there is none; empty while that is not known
   */
  default Optional<String> searchForKeys(String id, List<String> keyspaces) {
    return Optional.of("");
  }

  /** Drops a keyspace with all its data here, open or not. */
  void drop(String name, String created);

  /**
   * Returns whether {@code _osier} here has all that it ever had: a store that was not written
   * durably may have lost its end, which comes back from the others.
   */
  boolean isSettled();

  /**
   * Returns whether the contents of {@code _osier} here may be followed: a datacenter that has just
   * started waits a moment for the others, which may have changed it meanwhile. Stays true.
   */
  default boolean mayBegin() {
    return true;
  }

  /** Returns whether another datacenter was heard since the start, or there is none. */
  default boolean hasHeard() {
    return true;
  }

  /**
   * Deletes the stored data of keyspaces that are neither open nor among these.
   *
   * @param creations the creations by keyspace
   */
  void dropOthers(Map<String, String> creations);

  /** Sets the policy of an open keyspace. */
  void configure(KeyspacePolicy policy);

  /** Makes a keyspace refuse updates until these datacenters have opened it. */
  void await(String name, List<String> datacenters);

  /** Sets the keyspaces of the cluster, held here or elsewhere. */
  default void setPlacement(Placement placement) {}

  /** Sets the datacenters with which this one replicates. */
  void setPeers(Peers peers);

  /**
   * Returns whether all data is here that the others had when they became peers, or at the last
   * {@link #compareAnew}; also that of former peers.
   */
  boolean isComplete();

  /** Makes {@link #isComplete} refer to the data that the others have from now on. */
  void compareAnew();

  /** Returns whether the others have everything that was written here in {@code _osier}. */
  boolean isShipped();

  /** Returns whether a datacenter can be reached now. */
  boolean isConnected(String name);

  /**
   * Returns, in words, why {@link #isSettled} is false, and what helps.
   *
   * @param dc this datacenter's name
   * @param all the names of all datacenters
   */
  default String unheard(String dc, Collection<String> all) {
    List<String> away =
        all.stream().filter(name -> !name.equals(dc) && !isConnected(name)).sorted().toList();
    return away.isEmpty()
        ? dc + " has not got yet from all others what they have; wait a moment"
        : ("%1$s has not heard from every other one since it started; not connected: %2$s;"
                + " start what does not run, or see 'osier cli why %3$s'")
            .formatted(dc, String.join(", ", away), away.getFirst());
  }

  /** Returns the newest version of the peer protocol that a datacenter is known to speak. */
  int protocol(String name);

  /**
   * Returns, in words, which datacenters are not known to speak a version of the peer protocol, and
   * what to do; empty if all do.
   */
  default Optional<String> tooOld(int version, Collection<String> names) {
    List<String> old = names.stream().filter(name -> protocol(name) < version).sorted().toList();
    List<String> unheard = old.stream().filter(name -> incarnation(name) == 0).toList();
    List<String> known = old.stream().filter(name -> incarnation(name) != 0).toList();
    String start = unheard.isEmpty() ? "" : "never heard, so start first: " + unheard;
    String upgrade = known.isEmpty() ? "" : "too old, so upgrade first: " + known;
    return old.isEmpty()
        ? Optional.empty()
        : Optional.of(start + (start.isEmpty() || upgrade.isEmpty() ? "" : "; ") + upgrade);
  }

  /** Returns the oldest version of the peer protocol that allows a datacenter of this name. */
  int protocolMin(String name);

  /** Sets the newest version of the peer protocol that each datacenter says it speaks, by name. */
  void setProtocols(SortedMap<String, Integer> protocols);

  /**
   * Returns the address at which others reach this datacenter's port for clients; empty if there is
   * none.
   */
  String clients();

  /** Sets the addresses of the ports for clients that datacenters have announced, by name. */
  void setClients(SortedMap<String, String> clients);

  /** Returns, in words, why this datacenter has not finished joining or leaving. */
  List<String> progress();

  /** Returns the progress of joining; empty if this datacenter does not join. */
  default Optional<CatchUp> catchUp() {
    return Optional.empty();
  }

  /**
   * Tells, in words, why this datacenter does not serve like the others; empty if it does. Called
   * at least once, when it is known whether it joins.
   */
  void hinders(List<String> words);

  /**
   * Refuses updates while there is a reason ({@link #hinders}). Called again and again.
   *
   * @return whether no update is in flight, and the others have all updates
   */
  boolean isQuiet();

  /**
   * Takes over the rights of a removed datacenter, where this one is the heir. Called again and
   * again.
   *
   * @return whether the others have these changes
   */
  boolean inherit(Estate estate);

  /**
   * Refuses updates, and gives away this datacenter's rights. Called again and again.
   *
   * @param heirs the datacenters that may get them, in this order; not empty
   * @return whether all is given away, and the others have everything
   */
  boolean leave(List<String> heirs);

  /** Ends this datacenter, which is no longer a member of the cluster. */
  void end(String why);

  /** Returns the users that the configuration names: they count until somebody changes users. */
  default List<User> configuredUsers() {
    return List.of();
  }

  /** Sets all users. */
  default void users(Users all) {}
}
