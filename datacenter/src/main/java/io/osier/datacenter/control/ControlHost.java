package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
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
  /** What stands for the creation of a keyspace that the configuration files name. */
  String FROM_FILE = "file";

  /**
   * Another datacenter.
   *
   * @param address where it is dialled, as host:port
   * @param incarnationMin an older incarnation has been given up
   */
  record Peer(String address, long incarnationMin) {}

  /**
   * With whom this datacenter replicates.
   *
   * @param others by name
   * @param gone the names that were of the cluster, and are not any more
   * @param sharers those that get a part of the rights of new bounded counters
   * @param joins whether this one has not caught up with all of them yet
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
   * Who holds a keyspace.
   *
   * @param holders all that replicate it
   * @param first those that it began with: they tell it from another one of its name
   * @param part what this datacenter does
   * @param leaving those that give it up
   * @param unshared of these those that get no part of the rights of new bounded counters
   * @param terms how often holders were added again after they had been removed; of the others none
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

    /** Whether this datacenter has not what the others hold yet. */
    public boolean joins() {
      return part == Part.JOINS;
    }
  }

  /** What a datacenter does that replicates a keyspace. */
  enum Part {
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

  /** Changes when {@link #ask} may read something else than before; empty if that is not known. */
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

  /** Opens a keyspace of the configuration that others held so far: nothing is known here of it. */
  default void openConfigured(KeyspacePolicy policy) {}

  /**
   * Whether the store has a keyspace of the configuration of no later term of this datacenter as a
   * holder than is known: else it is opened once {@code _osier} has come from the others.
   */
  default boolean mayOpen(KeyspacePolicy policy) {
    return true;
  }

  /** Whether the store has a creation of a keyspace, also {@link #FROM_FILE}. */
  default boolean hasStored(String keyspace, String created) {
    return false;
  }

  /**
   * From now on these hold a keyspace that is open. One that is opened with a policy of others' is
   * not shown before this says so.
   */
  default void setHolders(String keyspace, Holding now) {}

  /** Whether a keyspace that is open has here what all others that hold it have. */
  default boolean isWhole(String keyspace) {
    return false;
  }

  /**
   * Gives a keyspace up: forwards what is asked here of it, and takes no updates. Called again and
   * again.
   *
   * @return whether none is under way, and the others have everything that was done here
   */
  default boolean cease(String keyspace) {
    throw new IllegalStateException("nobody is removed from its holders: " + keyspace);
  }

  /** A keyspace that {@link #cease} was called for is held here as before. */
  default void resume(String keyspace) {}

  /**
   * After {@link #cease}: gives away what only this datacenter may use in a keyspace. Called again
   * and again.
   *
   * @param heirs the first of these gets it; not empty
   * @return whether all is done, and the others have everything
   */
  default boolean giveAway(String keyspace, List<String> heirs) {
    throw new IllegalStateException("nobody is removed from its holders: " + keyspace);
  }

  /** Drops a keyspace with all that is in it here, open or not. */
  void drop(String name, String created);

  /**
   * Whether {@code _osier} has here what it ever had: a store that was not written durably may have
   * lost the end of it, which comes back from the others.
   */
  boolean isSettled();

  /**
   * Whether what {@code _osier} says here may be gone by: a datacenter that has just started waits
   * a moment for the others, who may have changed it meanwhile. Once true it stays so.
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
   * Takes no updates any more, as long as something hinders it ({@link #hinders}). Called again and
   * again.
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
