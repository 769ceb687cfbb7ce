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
 * The way into one partition. Reads that need no turn are answered from what is durable; what must
 * be read from the disk first waits in its {@link OrderedQueue}; and whoever reads or updates an
 * object first lets the partition absorb what is acknowledged in front of it. Whether a request is
 * allowed is decided before. Thread-safe, with no thread or lock of its own.
 */
public final class ShardGateway {
  private static final Logger LOG = LoggerFactory.getLogger(ShardGateway.class);

  /** What it leads to. Thread-safe. */
  public interface Inside {
    /** Whether commands are served. */
    boolean isReady();

    /** Whether all objects are in memory: then nobody needs to wait for a lane. */
    boolean isAllInMemory();

    /** The partition's time, in milliseconds since 1970: what has expired is not shown. */
    long millis();

    /** Brings what is acknowledged of a key in front of the partition into it. */
    void absorb(Key key);

    /** As {@link #absorb}, of all keys. */
    void absorbAll();

    /**
     * Puts a command into the queue, or refuses it; neither waits nor runs anybody's code.
     *
     * @return what must follow, with no lock held
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
   * @param readers what reads objects that are not in memory
   * @param longAnswers has answers made, or refused, that take longer than a connection's thread
   *     has
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
   * Answers a read: at once where the session has nothing to wait for, otherwise in its turn.
   *
   * @throws io.osier.core.OsierException if it is answered at once and cannot be
   */
  public void read(Request.Read read, OrderedQueue lane, Consumer<Reply> reply) {
    inside.absorb(read.key());
    if (isDirect(read.after(), read.ordered())) {
      Optional<StoredKey> stored = store.durablyStored(read.key());
      if (stored.isPresent()) {
        StoredKey found = stored.get();
        if (Reads.isLong(found, read.query())) {
          long now = inside.millis(); // of the version, not of when it is read
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

  /** Whether a read needs no turn: the session has nothing to wait for. */
  private boolean isDirect(VersionVector after, boolean ordered) {
    return after.isEmpty() && !ordered && inside.isReady() && (showsOne || store.showsTogether());
  }

  /** As {@link #read}, of several objects. */
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
   * Answers with what takes longer than a connection's thread has.
   *
   * @param again is run instead if what was to be read was not kept for so long
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

  /** What keys hold; empty if that cannot be told of all of them at once. */
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

  /** Does several updates, in their turn. */
  public void writeAll(Request.WriteAll write, OrderedQueue lane, Consumer<Reply> reply) {
    List<Key> keys = write.updates().stream().map(Request.Update::key).toList();
    keys.forEach(inside::absorb);
    submit(keys, lane, write, reply);
  }

  /**
   * Does a program, in its turn.
   *
   * @param keys all that it is about
   */
  public void evaluate(
      Request.Evaluate program, Collection<Key> keys, OrderedQueue lane, Consumer<Reply> reply) {
    keys.forEach(inside::absorb);
    submit(keys, lane, program, reply);
  }

  /** Does an update, in its turn. */
  public void write(Request.Write write, OrderedQueue lane, Consumer<Reply> reply) {
    inside.absorb(write.key());
    submit(List.of(write.key()), lane, write, reply);
  }

  /**
   * Does a step of a transaction, in its turn. Nothing is acknowledged in front of a partition that
   * has transactions.
   *
   * @param request how it was asked for: the step itself, or its repeat
   */
  public void transact(
      Request.Transact step, Request request, OrderedQueue lane, Consumer<Reply> reply) {
    Set<Key> keys = new LinkedHashSet<>();
    step.updates().forEach(u -> keys.add(u.key()));
    step.reads().forEach(r -> keys.add(r.key()));
    submit(keys, lane, request, reply);
  }

  /** Answers what is asked about the partition itself, and no object. */
  public void ask(Request request, Consumer<Reply> reply) {
    inside.absorbAll();
    inside.offer(request, reply).run();
  }

  /**
   * Answers a {@link Request.Want#KNOWN} scan of this partition alone, by a thread that may wait
   * for the disk.
   *
   * @throws io.osier.core.OsierException if it cannot be answered
   */
  public void known(Request.Scan scan, Consumer<Reply> reply) {
    Reply.Page page = (Reply.Page) KeyspaceScan.of(List.of(store), scan, inside::millis);
    // After the store was read: what is dropped in between is found twice, and not never.
    Request.Scan rest =
        new Request.Scan(
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
            if (!cold.isEmpty() && reply instanceof Phased p) {
              p.waited(new Waited(Waited.For.READ, "", System.nanoTime() - beganNanos));
            }
            return inside.offer(request, reply);
          },
          failure -> reply.accept(failure));
    }
  }

  /**
   * Hands over a peer's frame, once the objects that its handling reads are at hand. One that needs
   * an object that cannot be read is as good as lost on its way: it comes again, and what depends
   * on it waits.
   */
  public void received(Input.FromPeer input, OrderedQueue lane) {
    if (inside.isAllInMemory()) {
      lane.follow(inside.offer(input));
    } else {
      submit(
          cold(keys(input.frame())),
          lane,
          () -> inside.offer(input),
          failure -> LOG.debug("a frame is not taken: {}", failure));
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
   * What is cold is read from the disk before its command comes to the partition's thread. What
   * needs an object that is damaged does not come there, where nobody could answer for it.
   *
   * @param refused is told instead
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

  /** What the frame's handling reads. */
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
