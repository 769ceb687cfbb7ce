package io.osier.protocol;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A datacenter's answer to one {@link Request}. */
public sealed interface Reply {
  /**
   * The connection is open.
   *
   * @param replica the datacenter that answers; another incarnation than before has lost what it
   *     had not shipped
   * @param keyspaces those that it holds
   */
  record Welcome(
      int protocolVersion, ReplicaId replica, List<KeyspaceInfo> keyspaces, Elsewhere elsewhere)
      implements Reply {
    public Welcome {
      keyspaces = List.copyOf(keyspaces);
    }

    /** Creates the welcome of a datacenter that knows of no keyspaces but its own. */
    public Welcome(int protocolVersion, ReplicaId replica, List<KeyspaceInfo> keyspaces) {
      this(protocolVersion, replica, keyspaces, Elsewhere.NOTHING);
    }
  }

  /**
   * A keyspace, as far as a client must know it.
   *
   * @param slaMillis the staleness bound
   * @param partitioning to which partition a key belongs
   * @param causal whether it is a {@code causal} keyspace and not a {@code session} one
   */
  record KeyspaceInfo(String name, long slaMillis, Partitioning partitioning, boolean causal) {
    /** Creates the entry of a keyspace whose keys are hashed as a whole. */
    public KeyspaceInfo(String name, long slaMillis, int partitions, boolean causal) {
      this(name, slaMillis, Partitioning.byKey(partitions), causal);
    }

    /** What a keyspace's policy says of that. */
    public static KeyspaceInfo of(KeyspacePolicy policy) {
      return new KeyspaceInfo(
          policy.name(),
          policy.sla().toMillis(),
          policy.partitioning(),
          policy.consistency() == KeyspacePolicy.Consistency.CAUSAL);
    }

    public int partitions() {
      return partitioning.count();
    }
  }

  /**
   * A keyspace that other datacenters hold.
   *
   * @param holders their names
   */
  record HeldElsewhere(KeyspaceInfo keyspace, List<String> holders) {
    public HeldElsewhere {
      holders = List.copyOf(holders);
    }
  }

  /**
   * The keyspaces that a datacenter does not hold, as far as it knows them.
   *
   * @param addresses by the holders' names, the addresses for clients (host:port) of those that
   *     have published one
   */
  record Elsewhere(List<HeldElsewhere> keyspaces, Map<String, String> addresses) {
    /** No such keyspaces. */
    public static final Elsewhere NOTHING = new Elsewhere(List.of(), Map.of());

    public Elsewhere {
      keyspaces = List.copyOf(keyspaces);
      addresses = keyspaces.isEmpty() ? Map.of() : Map.copyOf(addresses);
    }

    /** Returns the keyspaces that a datacenter holds, followed by these. */
    public static List<KeyspaceInfo> all(List<KeyspaceInfo> held, Elsewhere elsewhere) {
      List<KeyspaceInfo> all = new ArrayList<>(held);
      elsewhere.keyspaces.forEach(other -> all.add(other.keyspace));
      return all;
    }

    public boolean isEmpty() {
      return keyspaces.isEmpty();
    }

    /** Returns the holders of a keyspace; empty if none are known. */
    public List<String> holders(String keyspace) {
      return find(keyspace).map(HeldElsewhere::holders).orElse(List.of());
    }

    /** Returns what is known of a keyspace; empty if nothing is. */
    public Optional<HeldElsewhere> find(String keyspace) {
      for (HeldElsewhere held : keyspaces) {
        if (held.keyspace.name().equals(keyspace)) {
          return Optional.of(held);
        }
      }
      return Optional.empty();
    }
  }

  /**
   * The present keyspaces.
   *
   * @param keyspaces those that the datacenter holds
   */
  record Keyspaces(List<KeyspaceInfo> keyspaces, Elsewhere elsewhere) implements Reply {
    public Keyspaces {
      keyspaces = List.copyOf(keyspaces);
    }

    /** Creates the reply of a datacenter that knows of no keyspaces but its own. */
    public Keyspaces(List<KeyspaceInfo> keyspaces) {
      this(keyspaces, Elsewhere.NOTHING);
    }
  }

  /** The answer to a ping. */
  record Pong() implements Reply {}

  /**
   * The update is done and will not be lost.
   *
   * @param dot its identity, which the session has now seen
   * @param answer to the question that was sent with the update; empty if there was none
   */
  record Done(Dot dot, Optional<Answer> answer) implements Reply {
    /** Creates the reply to an update without a question. */
    public Done(Dot dot) {
      this(dot, Optional.empty());
    }
  }

  /**
   * An object's reading.
   *
   * @param type the object's type; empty if there is no object and no type was requested
   * @param reading the reading; that of a new object if there is no object and a type was requested
   * @param exists whether the object exists and differs from a new one
   * @param seen what the session has now seen of the key's partition
   * @param age how old this may be, at most: it is of a read copy while no holder of the keyspace
   *     can be reached; empty of one that is current. Only the answer to a {@link Request.Read} has
   *     one
   */
  record Answer(
      Optional<CrdtType> type,
      Optional<Reading> reading,
      boolean exists,
      VersionVector seen,
      Optional<Duration> age)
      implements Reply {
    /** Creates an answer that is current. */
    public Answer(
        Optional<CrdtType> type, Optional<Reading> reading, boolean exists, VersionVector seen) {
      this(type, reading, exists, seen, Optional.empty());
    }

    /** Creates the answer for an object that exists. */
    public Answer(CrdtType type, Reading reading, VersionVector seen) {
      this(Optional.of(type), Optional.of(reading), true, seen);
    }

    /** The same, which may be so old. */
    public Answer aged(Duration old) {
      return new Answer(type, reading, exists, seen, Optional.of(old));
    }
  }

  private static void checkPart(Reply part) {
    if (!(part instanceof Done || part instanceof Answer || part instanceof Failure)) {
      throw new IllegalArgumentException("a part of a batch cannot have this reply: " + part);
    }
  }

  /**
   * The results of a batch's parts.
   *
   * @param parts a {@link Done}, {@link Answer} or {@link Failure} for each, in their order
   */
  record All(List<Reply> parts) implements Reply {
    /**
     * The most bytes that the answers to a {@link Request.ReadAll} take in the heap, unless a
     * single one exceeds it.
     */
    public static final long BYTES_MAX = 4 << 20;

    public All {
      parts = List.copyOf(parts);
      parts.forEach(Reply::checkPart);
    }
  }

  /**
   * The result of a program.
   *
   * @param held whether all of its guards and tests held; otherwise nothing was done
   * @param dot the last of its updates, which the session has now seen; empty if nothing was
   *     changed
   * @param parts a {@link Done}, {@link Answer} or {@link Failure} for each of its calls, in their
   *     order: see {@link Call}. If a guard or test did not hold, reads and tests are answered, and
   *     for each other call the answer says whether its key exists
   */
  record Evaluated(boolean held, Optional<Dot> dot, List<Reply> parts) implements Reply {
    /**
     * The most bytes that the answers to one program take in the heap together, unless a single one
     * exceeds it.
     */
    public static final long BYTES_MAX = 32 << 20;

    public Evaluated {
      parts = List.copyOf(parts);
      parts.forEach(Reply::checkPart);
    }
  }

  /**
   * Objects in the order of their keys.
   *
   * @param next where to go on; empty at the end
   * @param seen by partition number, what the session has now seen
   */
  record Page(List<Row> rows, Optional<Key> next, List<VersionVector> seen) implements Reply {
    public Page {
      rows = List.copyOf(rows);
      seen = List.copyOf(seen);
    }
  }

  /**
   * The number of objects in a part of a scan's range.
   *
   * @param next where to go on; empty at the end
   * @param seen as in {@link Page}
   */
  record Counted(long objects, Optional<Key> next, List<VersionVector> seen) implements Reply {
    public Counted {
      seen = List.copyOf(seen);
    }
  }

  /**
   * Changes that have become visible, for each partition in its order.
   *
   * @param places where to go on
   * @param whole whether the changes end where something became visible as a whole: in a {@code
   *     causal} keyspace after a transaction, or after cuts that were admitted together
   */
  record Changes(List<Change> changes, List<WatchRequest.Place> places, boolean whole)
      implements Reply {
    /** The most bytes of changes in one answer, about. */
    public static final long BYTES_MAX = 1 << 20;

    public Changes {
      changes = List.copyOf(changes);
      places = List.copyOf(places);
    }
  }

  /**
   * An object was changed.
   *
   * @param type empty if it is only known that the key may have been changed
   * @param origin the replica that changed it last; empty if unknown
   */
  record Change(Key key, Optional<CrdtType> type, Optional<ReplicaId> origin) {
    /** About how many bytes a change takes encoded, besides its key. */
    public static final int PLACE_BYTES = 8;
  }

  /** One object of a page. */
  record Row(Key key, CrdtType type, Reading reading) {}

  /**
   * A step of a transaction is done.
   *
   * @param clock what the transaction's snapshot contains; after a commit with updates also those
   * @param dot the last of the committed updates; empty if none was committed
   * @param answers to the step's reads, in their order
   */
  record Transacted(VersionVector clock, Optional<Dot> dot, List<Answer> answers) implements Reply {
    public Transacted {
      answers = List.copyOf(answers);
    }
  }

  /** The answer to {@link AdminRequest.Inspect}, as one JSON object. */
  record Report(String json) implements Reply {}

  /** The number up to which a partition has every replica's updates, all of them durable. */
  record Through(VersionVector through) implements Reply {}

  /**
   * Which datacenters have the updates that were asked about.
   *
   * @param number they have the updates up to this commit number
   */
  record Spread(long number, Set<String> datacenters) implements Reply {
    public Spread {
      datacenters = Set.copyOf(datacenters);
    }
  }

  /**
   * The datacenter's part of a login.
   *
   * @param message of SCRAM-SHA-256: the server-first-message, or, once the password was right, the
   *     server-final-message, with which the datacenter proves that it knows the user
   */
  record Challenge(String message) implements Reply {}

  /**
   * The request failed. For an update: nothing was done, except with TIMEOUT, where it may have
   * been.
   *
   * @param message what is wrong and what would be right
   */
  record Failure(ErrorCode code, String message) implements Reply {}
}
