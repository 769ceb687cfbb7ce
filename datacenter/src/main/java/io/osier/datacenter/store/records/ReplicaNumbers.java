package io.osier.datacenter.store.records;

import io.osier.core.ReplicaId;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The numbers that a database has given to replicas, so that a record names one in a byte or two. A
 * number is given when it is first needed, by any thread; its own record is written before, or
 * together with, the first record that uses it. Thread-safe.
 */
public final class ReplicaNumbers implements RecordKeys.Dictionary {
  private final Map<ReplicaId, Integer> numbers = new ConcurrentHashMap<>();
  private final List<ReplicaId> replicas = new CopyOnWriteArrayList<>();

  /** How many of the numbers the database has; only for the thread that writes. */
  private int written;

  /** A reader of the database's records. */
  @FunctionalInterface
  public interface Source<E extends Exception> {
    /** Returns the bytes under a key, or null. */
    byte[] get(byte[] key) throws E;
  }

  /** A receiver of records. */
  @FunctionalInterface
  public interface Sink<E extends Exception> {
    void put(byte[] key, byte[] value) throws E;
  }

  /** Reads the numbers that were written. Called once, before anything else. */
  public <E extends Exception> void read(Source<E> source) throws E {
    byte[] bytes;
    while ((bytes = source.get(RecordKeys.replica(replicas.size()))) != null) {
      WireInput in = new WireInput(bytes);
      give(Codec.decode("a replica's record", in::readReplica));
    }
    written = replicas.size();
  }

  private synchronized int give(ReplicaId replica) {
    Integer before = numbers.get(replica);
    if (before != null) {
      return before;
    }
    int number = replicas.size();
    replicas.add(replica); // first: who sees the number must also find the replica
    numbers.put(replica, number);
    return number;
  }

  @Override
  public int numberOf(ReplicaId replica) {
    Integer number = numbers.get(replica);
    return number != null ? number : give(replica);
  }

  @Override
  public ReplicaId replica(int number) {
    if (number < 0 || number >= replicas.size()) {
      throw new MalformedException("replica number " + number + " is not in the store");
    }
    return replicas.get(number);
  }

  @Override
  public List<ReplicaId> numbered() {
    return List.copyOf(replicas);
  }

  /** Returns every replica that a record may name. */
  public Collection<ReplicaId> all() {
    return Collections.unmodifiableList(replicas);
  }

  /**
   * Puts the records of the numbers that the database does not have yet; only for the thread that
   * writes.
   *
   * @return the argument for {@link #written} once they are written
   */
  public <E extends Exception> int putNew(Sink<E> sink) throws E {
    int given = replicas.size();
    for (int i = written; i < given; i++) {
      WireOutput out = new WireOutput();
      out.writeReplica(replicas.get(i));
      sink.put(RecordKeys.replica(i), out.toBytes());
    }
    return given;
  }

  /** Notes that the database has this many numbers. */
  public void written(int count) {
    written = count;
  }
}
