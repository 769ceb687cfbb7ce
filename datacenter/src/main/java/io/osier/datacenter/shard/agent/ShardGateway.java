package io.osier.datacenter.shard.agent;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.Reads;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoredKey;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings requests into one partition. Answers reads that need no turn from durable objects; lets
 * requests for cold objects wait in their {@link OrderedQueue} until these are read; and before any
 * read or update lets the partition absorb the updates acknowledged in front of it. Requests were
 * checked before. Thread-safe, with no thread or lock of its own.
 */
public final class ShardGateway {
  private static final Logger LOG = LoggerFactory.getLogger(ShardGateway.class);

  /** The partition behind the gateway. Thread-safe. */
  public interface Inside {
    /** Returns whether commands are served. */
    boolean isReady();

    /** Returns whether all objects are in memory: then no request waits in a queue. */
    boolean isAllInMemory();

    /**
     * Returns the partition's time, in milliseconds since 1970: what has expired by then is not
     * shown.
     */
    long millis();

    /** Brings the updates of a key that were acknowledged in front of the partition into it. */
    void absorb(Key key);

    /** As {@link #absorb}, for all keys. */
    void absorbAll();

    /**
     * Puts a command into the inbox, or refuses it; neither waits nor calls foreign code.
     *
     * @return the work that must follow, with no lock held
     */
    Runnable offer(Request request, Consumer<Reply> reply);

    /** As {@link #offer(Request, Consumer)}, for an event, which is never refused. */
    Runnable offer(Input input);
  }

  private final boolean showsOne;
  private final ObjectStore store;
  private final Executor readers;
  private final Consumer<PendingAnswer> longAnswers;
  private final Inside inside;

  /**
   * @param showsOne whether each object is visible by itself, as in a session keyspace
   * @param readers read objects that are not in memory
   * @param longAnswers has answers made, or refused, that would take a connection's thread too long
   */
  public ShardGateway(
      boolean showsOne,
      ObjectStore store,
      Executor readers,
      Consumer<PendingAnswer> longAnswers,
      Inside inside) {
    this.showsOne = showsOne;
    this.store = store;
    this.readers = readers;
    this.longAnswers = longAnswers;
    this.inside = inside;
  }

  /**
   * Answers a read: at once if the session has nothing to wait for, otherwise in its turn.
   *
   * @throws io.osier.core.OsierException if the read is answered at once and fails
   */
  public void read(Request.Read read, OrderedQueue lane, Consumer<Reply> reply) {
    inside.absorb(read.key());
    if (isDirect(read.after(), read.ordered())) {
      Optional<StoredKey> stored = store.durablyStored(read.key());
      if (stored.isPresent()) {
        StoredKey found = stored.get();
        if (Reads.isLong(found, read.query())) {
          long now = inside.millis(); // the time of this version, not of reading it
          later(
              Reads.later(found.states(), read, () -> now),
              reply,
              () -> submit(List.of(read.key()), lane, read, reply));
        } else {
          reply.accept(Reads.of(found, read, inside::millis));
        }
        return;
      }
    }
    submit(List.of(read.key()), lane, read, reply);
  }

  /** Returns whether a read needs no turn: the session has nothing to wait for. */
  private boolean isDirect(VersionVector after, boolean ordered) {
    return after.isEmpty() && !ordered && inside.isReady() && (showsOne || store.showsTogether());
  }

  /** As {@link #read}, for several objects. */
  public void readAll(Request.ReadAll read, OrderedQueue lane, Consumer<Reply> reply) {
    List<Key> keys = read.reads().stream().map(Request.Fetch::key).toList();
    keys.forEach(inside::absorb);
    if (isDirect(read.after(), read.ordered())) {
      Optional<Map<Key, StoredKey>> stored = durable(keys);
      if (stored.isPresent()) {
        Map<Key, StoredKey> found = stored.get();
        if (Reads.isLong(found, read.reads())) {
          long now = inside.millis();
          later(
              Reads.later(found, read.reads(), () -> now),
              reply,
              () -> submit(keys, lane, read, reply));
        } else {
          reply.accept(Reads.all(read.reads(), found::get, inside::millis));
        }
        return;
      }
    }
    submit(keys, lane, read, reply);
  }

  /**
   * Has an answer made that would take a connection's thread too long.
   *
   * @param again runs instead if the objects were not kept for that long
   */
  private void later(Supplier<Reply> made, Consumer<Reply> reply, Runnable again) {
    longAnswers.accept(
        new PendingAnswer(
            made,
            answer -> {
              if (answer instanceof Reply.Failure f && f.code() == ErrorCode.TIMEOUT) {
                again.run();
              } else {
                reply.accept(answer);
              }
            }));
  }

  /** Returns the durable objects of these keys; empty if one of them cannot be told at once. */
  private Optional<Map<Key, StoredKey>> durable(List<Key> keys) {
    Map<Key, StoredKey> found = new HashMap<>();
    for (Key key : keys) {
      Optional<StoredKey> stored = store.durablyStored(key);
      if (stored.isEmpty()) {
        return Optional.empty();
      }
      found.put(key, stored.get());
    }
    return Optional.of(found);
  }

  /** Executes several updates in their turn. */
  public void writeAll(Request.WriteAll write, OrderedQueue lane, Consumer<Reply> reply) {
    List<Key> keys = write.updates().stream().map(Request.Update::key).toList();
    keys.forEach(inside::absorb);
    submit(keys, lane, write, reply);
  }

  /**
   * Executes a program in its turn.
   *
   * @param keys all keys that the program names
   */
  public void evaluate(
      Request.Evaluate program, Collection<Key> keys, OrderedQueue lane, Consumer<Reply> reply) {
    keys.forEach(inside::absorb);
    submit(keys, lane, program, reply);
  }

  /** Executes an update in its turn. */
  public void write(Request.Write write, OrderedQueue lane, Consumer<Reply> reply) {
    inside.absorb(write.key());
    submit(List.of(write.key()), lane, write, reply);
  }

  /**
   * Executes a step of a transaction in its turn. No updates are acknowledged in front of a
   * partition that has transactions.
   *
   * @param request the request with the step: the step itself, or its repeat
   */
  public void transact(
      Request.Transact step, Request request, OrderedQueue lane, Consumer<Reply> reply) {
    Set<Key> keys = new LinkedHashSet<>();
    step.updates().forEach(u -> keys.add(u.key()));
    step.reads().forEach(r -> keys.add(r.key()));
    submit(keys, lane, request, reply);
  }

  /** Answers a request about the partition itself and no object. */
  public void ask(Request request, Consumer<Reply> reply) {
    inside.absorbAll();
    inside.offer(request, reply).run();
  }

  /**
   * Answers a {@link ScanRequest.Want#KNOWN} scan of this partition alone, by a thread that may
   * wait for the disk.
   *
   * @throws io.osier.core.OsierException if the scan fails
   */
  public void known(ScanRequest scan, Consumer<Reply> reply) {
    Reply.Page page = (Reply.Page) KeyspaceScan.of(List.of(store), scan, inside::millis);
    // Asked after the store was read: an object that is dropped in between is found twice, and not
    // missed.
    ScanRequest rest =
        new ScanRequest(
            scan.keyspace(),
            scan.from(),
            page.next().or(scan::to),
            scan.type(),
            scan.query(),
            KeyspaceScan.DROPPED_MAX,
            scan.want());
    inside
        .offer(
            rest,
            answer ->
                reply.accept(
                    answer instanceof Reply.Page dropped
                        ? KeyspaceScan.together(page, dropped)
                        : answer))
        .run();
  }

  private void submit(
      Iterable<Key> keys, OrderedQueue lane, Request request, Consumer<Reply> reply) {
    if (inside.isAllInMemory()) {
      lane.follow(inside.offer(request, reply));
    } else {
      List<Key> cold = cold(keys);
      long beganNanos = cold.isEmpty() ? 0 : System.nanoTime();
      submit(
          cold,
          lane,
          () -> {
            if (!cold.isEmpty()) {
              Phased.of(reply)
                  .waited(new Waited(Waited.For.READ, "", System.nanoTime() - beganNanos));
            }
            return inside.offer(request, reply);
          },
          failure -> reply.accept(failure));
    }
  }

  /**
   * Hands a peer's frame to the partition, once the objects that its handling reads are at hand. A
   * frame that needs an unreadable object counts as lost on its way: the peer sends it again, and
   * later updates that depend on it wait.
   */
  public void received(Input.FromPeer input, OrderedQueue lane) {
    if (inside.isAllInMemory()) {
      lane.follow(inside.offer(input));
    } else {
      submit(
          cold(keys(input.frame())),
          lane,
          () -> inside.offer(input),
          failure -> LOG.debug("a frame could not be queued for its partition: {}", failure));
    }
  }

  private List<Key> cold(Iterable<Key> keys) {
    List<Key> cold = List.of(); // nearly always
    for (Key key : keys) {
      if (!store.isCached(key)) {
        cold = cold.isEmpty() ? new ArrayList<>() : cold;
        cold.add(key);
      }
    }
    return cold;
  }

  /**
   * Submits a turn after its cold objects were read from the disk. If one of them is damaged, the
   * turn is refused and does not reach the partition.
   *
   * @param refused gets the failure instead
   */
  private void submit(
      List<Key> cold, OrderedQueue lane, OrderedQueue.Turn turn, Consumer<Reply.Failure> refused) {
    if (cold.isEmpty()) {
      lane.submit(turn);
      return;
    }
    AtomicReference<Reply.@Nullable Failure> damaged = new AtomicReference<>();
    lane.submit(
        () -> cold.forEach(key -> prefetch(key, damaged)),
        readers,
        () -> {
          Reply.Failure failure = damaged.get();
          return failure == null ? turn.take() : () -> refused.accept(failure);
        });
  }

  private void prefetch(Key key, AtomicReference<Reply.@Nullable Failure> damaged) {
    try {
      store.prefetch(key);
    } catch (OsierException e) {
      if (e.code() != ErrorCode.STORE_DAMAGED) {
        throw e;
      }
      damaged.set(
          new Reply.Failure(
              e.code(), "key '" + key + "' cannot be read; nothing was done: " + e.reason()));
    }
  }

  /** Returns the keys of the objects that the frame's handling reads. */
  private static List<Key> keys(Frame frame) {
    return switch (frame) {
      case Frame.Updates u -> keys(u.shipments());
      case Frame.States s -> keys(s.shipments());
      case Frame.StatesAndOffer s ->
          Stream.concat(keys(s.states().shipments()).stream(), Stream.of(s.offer().object().key()))
              .toList();
      case Frame.Verified v -> keys(v.shipments());
      case Frame.Verify v -> v.objects().stream().map(known -> known.object().key()).toList();
      case Frame.Fetch f -> f.objects().stream().map(ObjectId::key).toList();
      case Frame.Offer f -> List.of(f.object().key());
      case Frame.Ranges f -> List.of(f.object().key());
      case Frame.Entries f -> keys(List.of(f.entries()));
      default -> List.of();
    };
  }

  private static List<Key> keys(List<Shipment> shipments) {
    if (shipments.size() == 1) {
      return List.of(shipments.getFirst().object().key()); // most frames that are no round
    }
    return shipments.stream().map(s -> s.object().key()).toList();
  }
}
