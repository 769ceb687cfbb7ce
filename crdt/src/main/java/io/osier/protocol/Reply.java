package io.osier.protocol;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
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
   * @param replica who answers; another incarnation than before has lost what it had not shipped
   * @param keyspaces those that it holds
   */
  record Welcome(
      int protocolVersion, ReplicaId replica, List<KeyspaceInfo> keyspaces, Elsewhere elsewhere)
      implements Reply {
    public Welcome {
      keyspaces = List.copyOf(keyspaces);
    }

    /** Of one that knows of no keyspaces but its own. */
    public Welcome(int protocolVersion, ReplicaId replica, List<KeyspaceInfo> keyspaces) {
      this(protocolVersion, replica, keyspaces, Elsewhere.NOTHING);
    }
  }

  /**
   * What a client must know of a keyspace.
   *
   * @param slaMillis the staleness bound
   * @param partitioning which partition a key belongs to
   * @param causal whether it is a {@code causal} keyspace and not a {@code session} one
   */
  record KeyspaceInfo(String name, long slaMillis, Partitioning partitioning, boolean causal) {
    /** One whose keys are hashed as a whole. */
    public KeyspaceInfo(String name, long slaMillis, int partitions, boolean causal) {
      this(name, slaMillis, Partitioning.byKey(partitions), causal);
    }

    public int partitions() {
      return partitioning.count();
    }
  }

  /**
   * A keyspace that others hold.
   *
   * @param holders the datacenters that do, by name
   */
  record HeldElsewhere(KeyspaceInfo keyspace, List<String> holders) {
    public HeldElsewhere {
      holders = List.copyOf(holders);
    }
  }

  /**
   * What a datacenter knows of keyspaces that it does not hold.
   *
   * @param addresses by the holders' names, how clients reach those that have said so: host:port
   */
  record Elsewhere(List<HeldElsewhere> keyspaces, Map<String, String> addresses) {
    /** It knows of none. */
    public static final Elsewhere NOTHING = new Elsewhere(List.of(), Map.of());

    public Elsewhere {
      keyspaces = List.copyOf(keyspaces);
      addresses = keyspaces.isEmpty() ? Map.of() : Map.copyOf(addresses);
    }

    /** Those that a datacenter holds, and these. */
    public static List<KeyspaceInfo> all(List<KeyspaceInfo> held, Elsewhere elsewhere) {
      List<KeyspaceInfo> all = new ArrayList<>(held);
      elsewhere.keyspaces.forEach(other -> all.add(other.keyspace));
      return all;
    }

    public boolean isEmpty() {
      return keyspaces.isEmpty();
    }

    /** Who holds a keyspace; nobody if it is not known. */
    public List<String> holders(String keyspace) {
      return find(keyspace).map(HeldElsewhere::holders).orElse(List.of());
    }

    /** What is known of a keyspace; empty if nothing is. */
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
   * The keyspaces there are now.
   *
   * @param keyspaces those that the datacenter holds
   */
  record Keyspaces(List<KeyspaceInfo> keyspaces, Elsewhere elsewhere) implements Reply {
    public Keyspaces {
      keyspaces = List.copyOf(keyspaces);
    }

    /** Of one that knows of no keyspaces but its own. */
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
   * @param answer to what was asked with it; empty if nothing was
   */
  record Done(Dot dot, Optional<Answer> answer) implements Reply {
    /** An update of which nothing was asked. */
    public Done(Dot dot) {
      this(dot, Optional.empty());
    }
  }

  /**
   * An object's reading.
   *
   * @param type the object's type; empty if there is none and none was asked for
   * @param reading the reading; of a new object if there is none and a type was asked for
   * @param exists whether the object is there and differs from a new one
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
    /** One that is current. */
    public Answer(
        Optional<CrdtType> type, Optional<Reading> reading, boolean exists, VersionVector seen) {
      this(type, reading, exists, seen, Optional.empty());
    }

    /** Of an object that is there. */
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
      throw new IllegalArgumentException("no part of a batch is answered so: " + part);
    }
  }

  /**
   * What became of each part of a batch.
   *
   * @param parts a {@link Done}, {@link Answer} or {@link Failure} for each, in their order
   */
  record All(List<Reply> parts) implements Reply {
    /**
     * What the answers to a {@link Request.ReadAll} may take in the heap, unless one alone does.
     */
    public static final long BYTES_MAX = 4 << 20;

    public All {
      parts = List.copyOf(parts);
      parts.forEach(Reply::checkPart);
    }
  }

  /**
   * A program was looked at.
   *
   * @param held whether all of its guards and tests held; otherwise nothing was done
   * @param dot the last of its updates, which the session has now seen; empty if nothing was
   *     changed
   * @param parts a {@link Done}, {@link Answer} or {@link Failure} for each of its calls, in their
   *     order: see {@link Call}. If it did not hold, its reads and tests are answered, and of what
   *     it would have changed is answered whether its key exists
   */
  record Evaluated(boolean held, Optional<Dot> dot, List<Reply> parts) implements Reply {
    /** What the answers to one program may take in the heap together, unless one alone does. */
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
   * How many objects a part of a scan's range has.
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
   * What has become visible, in its order in each partition.
   *
   * @param places where to go on
   * @param whole whether this ends where something became visible as a whole: in a {@code causal}
   *     keyspace behind a transaction, or behind what was admitted together
   */
  record Changes(List<Change> changes, List<Request.Place> places, boolean whole) implements Reply {
    /** More changes than this, about, in bytes, are not in one answer. */
    public static final long BYTES_MAX = 1 << 20;

    public Changes {
      changes = List.copyOf(changes);
      places = List.copyOf(places);
    }
  }

  /**
   * An object was changed.
   *
   * @param type empty where all that is known is that the key may have been changed
   * @param origin who changed it last, where that is known
   */
  record Change(Key key, Optional<CrdtType> type, Optional<ReplicaId> origin) {
    /** What this takes encoded besides its key, about, in bytes. */
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

  /** What was asked for by {@link Request.Inspect}, as one JSON object. */
  record Report(String json) implements Reply {}

  /** What a partition has of every replica, all of it durable. */
  record Through(VersionVector through) implements Reply {}

  /**
   * Which datacenters have what was asked about.
   *
   * @param number up to which commit number
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
   * The request failed. For an update: nothing was done, except with TIMEOUT, where it may be.
   *
   * @param message what is wrong and what would be right
   */
  record Failure(ErrorCode code, String message) implements Reply {}
}
