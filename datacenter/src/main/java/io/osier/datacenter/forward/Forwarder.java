package io.osier.datacenter.forward;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.net.ByteBudget;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Has the requests for keyspaces that this datacenter does not hold done by one that does. Each
 * goes one hop, and at most once: what becomes of an update whose answer is lost is not known.
 *
 * <p>A connection keeps its guarantees: its requests are done in their order, and what it was shown
 * by one holder, another one has before it answers. Thread-safe; others are called without a lock.
 */
public final class Forwarder implements AutoCloseable {
  /** Beyond what the request itself may wait, an answer is waited for so long. */
  static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Another holder may take so long at least to get what the one before it has shown. */
  static final int MOVE_MILLIS = 1_000;

  /** How often the ways are measured while requests are forwarded. */
  static final long MEASURE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** So long they are measured after the last request. */
  private static final long USED_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** So long others go first if one cannot serve. */
  private static final long AVOID_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long TICK_MILLIS = 1_000;

  /** What a request takes besides its bytes until it is answered. */
  private static final long ASK_BYTES = 512;

  /** Larger answers are decoded beside the network's loop, within the budget. */
  private static final int LARGE_BYTES = 64 << 10;

  /**
   * Who holds a keyspace.
   *
   * @param dcs in the order of their names
   */
  public record Held(List<String> dcs, int partitions) {
    public Held {
      dcs = List.copyOf(dcs);
    }
  }

  /**
   * What is counted together.
   *
   * @param to who was asked
   * @param kind read, update, scan or watch
   */
  public record Way(String keyspace, String to, String kind) implements Comparable<Way> {
    @Override
    public int compareTo(Way o) {
      int byName = keyspace.compareTo(o.keyspace);
      int byTo = byName != 0 ? byName : to.compareTo(o.to);
      return byTo != 0 ? byTo : kind.compareTo(o.kind);
    }
  }

  /** What this has of the world. */
  public interface Around {
    /** Who holds a keyspace; empty if there is none of that name. */
    Optional<Held> holders(String keyspace);

    /** Whether requests can be sent to a datacenter. */
    boolean mayAsk(String dc);

    /** Sends to one; false if that cannot be done, and nothing was sent. */
    boolean ask(String dc, byte[] content);

    /** Does something later. */
    void later(Runnable task, long millis);
  }

  private final String self;
  private final Around around;
  private final ByteBudget bytes;
  private final LongSupplier nanoTime;
  private final Executor beside;
  private final ForwardCounts counts = new ForwardCounts();

  // Under this one's lock.
  private final Asks asks = new Asks();
  private final LaneHistory lanes = new LaneHistory();
  private final ShownVersions shown = new ShownVersions();
  private final NearestHolder nearest = new NearestHolder();

  /** Who is at the other end, of those that are up. */
  private final Map<String, ReplicaId> replicas = new HashMap<>();

  /** By keyspace, who was asked last. */
  private final Map<String, String> present = new HashMap<>();

  /** When a holder was wanted last, by name. */
  private final Map<String, Long> wanted = new HashMap<>();

  private long measuredAt;
  private boolean ticks;
  private boolean closed;

  /**
   * Nothing is under way.
   *
   * @param self this datacenter
   * @param bytes for requests until they are answered, and for large answers until they are read
   * @param nanoTime a monotonic clock
   * @param beside decodes large answers
   */
  public Forwarder(
      String self, Around around, ByteBudget bytes, LongSupplier nanoTime, Executor beside) {
    this.self = self;
    this.around = around;
    this.bytes = bytes;
    this.nanoTime = nanoTime;
    this.beside = beside;
    this.measuredAt = nanoTime.getAsLong() - MEASURE_NANOS;
  }

  /** How many requests were forwarded. */
  public Map<Way, Long> counts() {
    return counts.all();
  }

  // ---------------------------------------------------------------- asking

  /**
   * Has a request done elsewhere.
   *
   * @param lane of the connection that asks
   * @param user whose rights count; empty for this process itself
   * @param reply takes the answer, now or later
   * @return false if there is no keyspace of that name, or the request is about none
   */
  public boolean forward(Request request, Object lane, String user, Consumer<Reply> reply) {
    String keyspace = Forwardable.keyspace(request).orElse(null);
    if (keyspace == null) {
      return false;
    }
    Held held = around.holders(keyspace).orElse(null);
    if (held == null) {
      synchronized (this) {
        shown.forget(keyspace);
      }
      return false;
    }
    Reply.Failure refused =
        Forwardable.is(request)
            ? ask(request, keyspace, held, lane, user, reply)
            : new Reply.Failure(
                ErrorCode.INVALID_ARGUMENT,
                "nothing was done: this needs a datacenter that holds keyspace '%s', which are %s, and not %s: connect there"
                    .formatted(keyspace, held.dcs, self));
    if (refused != null) {
      reply.accept(refused);
    }
    return true;
  }

  /** Asks a holder; or says why not: then nothing was done. */
  private Reply.@Nullable Failure ask(
      Request request,
      String keyspace,
      Held held,
      Object lane,
      String user,
      Consumer<Reply> reply) {
    List<String> up = held.dcs.stream().filter(around::mayAsk).toList();
    Optional<Integer> partition =
        Forwardable.key(request).map(key -> key.partition(held.partitions));
    long id;
    long number;
    String dc;
    Request behind;
    long now = nanoTime.getAsLong();
    synchronized (this) {
      held.dcs.forEach(name -> wanted.put(name, now));
      dc = choose(lane, keyspace, up, now);
      if (dc == null || closed) {
        return unreachable(keyspace, held);
      }
      boolean moved = lanes.hasSeenMore(lane, keyspace, Optional.ofNullable(replicas.get(dc)));
      VersionVector seen =
          moved && partition.isPresent()
              ? shown.of(keyspace, partition.get())
              : VersionVector.EMPTY;
      behind = Forwardable.behind(request, seen, MOVE_MILLIS);
      id = asks.nextId();
      number = lanes.number(lane);
      present.put(keyspace, dc);
    }
    byte[] content = ForwardedRequest.encode(number, user, id, behind);
    long due = now + ANSWER_NANOS + TimeUnit.MILLISECONDS.toNanos(Forwardable.waitMillis(behind));
    Asks.Ask ask =
        new Asks.Ask(dc, behind, lane, partition, ASK_BYTES + content.length, due, reply);
    synchronized (this) {
      Reply.Failure full = closed ? unreachable(keyspace, held) : full(dc, ask.bytes());
      if (full != null) {
        return full;
      }
      asks.add(id, ask);
      if (isInOrder(request)) {
        lanes.begins(lane, keyspace, dc);
      }
    }
    counts.count(keyspace, dc, Forwardable.kind(request));
    boolean sent = around.ask(dc, content);
    tickLater();
    if (!sent && taken(id, dc) != null) { // else it was answered for it when the way ended
      return unreachable(keyspace, held);
    }
    return null;
  }

  private @Nullable String choose(Object lane, String keyspace, List<String> up, long now) {
    String at = lanes.at(lane, keyspace);
    return at != null && up.contains(at) ? at : nearest.choose(up, present.get(keyspace), now);
  }

  private Reply.Failure unreachable(String keyspace, Held held) {
    return new Reply.Failure(
        ErrorCode.UNAVAILABLE,
        "nothing was done: keyspace '%s' is held by %s, and %s reaches none of them that takes forwarded requests"
            .formatted(keyspace, held.dcs, self));
  }

  private Reply.@Nullable Failure full(String dc, long taken) {
    if (!asks.hasRoom(dc)) {
      return new Reply.Failure(
          ErrorCode.OVERLOADED,
          "nothing was done: " + Asks.WINDOW + " requests are under way at " + dc + " already");
    }
    return bytes.tryTake(taken)
        ? null
        : new Reply.Failure(
            taken <= bytes.max() ? ErrorCode.OVERLOADED : ErrorCode.VALUE_TOO_LARGE,
            "nothing was done: a request of %d bytes for %s finds no room; all that are forwarded may have %d bytes: osier.memory.forwarded"
                .formatted(taken, dc, bytes.max()));
  }

  /** Takes one out; null if another has. */
  private synchronized Asks.@Nullable Ask taken(long id, String dc) {
    Asks.Ask ask = asks.take(id, dc);
    if (ask != null) {
      ended(ask);
    }
    return ask;
  }

  private void ended(Asks.Ask ask) {
    bytes.give(ask.bytes());
    Forwardable.keyspace(ask.request())
        .filter(name -> isInOrder(ask.request()))
        .ifPresent(name -> lanes.ends(ask.lane(), name));
  }

  /** Whether what follows it goes where it is; a watcher may wait there for ever. */
  private static boolean isInOrder(Request request) {
    return Forwardable.kind(request) != Forwardable.Kind.WATCH;
  }

  // ---------------------------------------------------------------- answers

  /** A datacenter can be asked from now on. */
  public synchronized void up(ReplicaId peer) {
    replicas.put(peer.dc(), peer);
  }

  /** Nothing that was asked of a datacenter is answered any more. */
  public void down(String dc) {
    Collection<Asks.Ask> lost;
    synchronized (this) {
      replicas.remove(dc);
      nearest.down(dc);
      lost = asks.takeAll(dc);
      lost.forEach(this::ended);
    }
    fail(lost, "the connection to " + dc + " was lost before it answered");
  }

  /** An answer has come. */
  public void answered(ReplicaId peer, byte[] content) {
    WireInput in = new WireInput(content);
    long id = ProtocolCodec.decodeId(in);
    Asks.Ask ask = taken(id, peer.dc());
    if (ask == null) {
      return; // it was given up
    }
    if (content.length < LARGE_BYTES) {
      pass(peer, ask, in);
    } else if (bytes.tryTake(content.length)) {
      beside.execute(
          () -> {
            try {
              pass(peer, ask, in);
            } finally {
              bytes.give(content.length);
            }
          });
    } else {
      ask.reply()
          .accept(
              Forwardable.isUpdate(ask.request())
                  ? new Reply.Failure(
                      ErrorCode.TIMEOUT,
                      "it may be done: the answer of " + peer.dc() + " finds no room here")
                  : new Reply.Failure(
                      ErrorCode.OVERLOADED,
                      "the answer of "
                          + peer.dc()
                          + " finds no room here; ask for less at once, or raise"
                          + " osier.memory.forwarded"));
    }
  }

  private void pass(ReplicaId peer, Asks.Ask ask, WireInput in) {
    Reply reply;
    try {
      reply = ProtocolCodec.decodeReplyBody(in);
    } catch (MalformedException e) {
      reply =
          new Reply.Failure(
              Forwardable.isUpdate(ask.request()) ? ErrorCode.TIMEOUT : ErrorCode.INTERNAL,
              "the answer of " + peer.dc() + " cannot be read: " + e.reason());
    }
    ask.reply().accept(shown(peer, ask, reply));
  }

  /** What the client is told. */
  private synchronized Reply shown(ReplicaId peer, Asks.Ask ask, Reply reply) {
    if (reply instanceof Reply.Failure f) {
      boolean goes = f.code() == ErrorCode.SHUTTING_DOWN;
      if (goes || f.code() == ErrorCode.UNAVAILABLE) {
        nearest.avoid(peer.dc(), nanoTime.getAsLong() + AVOID_NANOS);
      }
      return goes ? new Reply.Failure(ErrorCode.UNAVAILABLE, peer.dc() + ": " + f.message()) : f;
    }
    String keyspace = Forwardable.keyspace(ask.request()).orElse(null);
    if (keyspace == null) {
      return reply;
    }
    shown.answered(ask.request(), ask.partition(), reply);
    lanes.answered(ask.lane(), keyspace, peer);
    return reply;
  }

  private static void fail(Collection<Asks.Ask> lost, String why) {
    for (Asks.Ask ask : lost) {
      ask.reply()
          .accept(
              Forwardable.isUpdate(ask.request())
                  ? new Reply.Failure(ErrorCode.TIMEOUT, "it may be done: " + why)
                  : new Reply.Failure(ErrorCode.UNAVAILABLE, why));
    }
  }

  // ---------------------------------------------------------------- time

  private void tickLater() {
    synchronized (this) {
      if (ticks || closed) {
        return;
      }
      ticks = true;
    }
    around.later(this::tick, 0);
  }

  private void tick() {
    List<Asks.Ask> late;
    Collection<String> measured;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      late = asks.takeDue(now);
      late.forEach(this::ended);
      wanted.values().removeIf(at -> now - at > USED_NANOS);
      boolean isTime = now - measuredAt >= MEASURE_NANOS;
      measured = isTime ? new TreeSet<>(wanted.keySet()) : List.of();
      if (isTime) {
        measuredAt = now;
      }
      ticks = !closed && (!asks.isEmpty() || !wanted.isEmpty());
    }
    measured.forEach(this::measure);
    for (Asks.Ask ask : late) {
      fail(List.of(ask), ask.dc() + " did not answer in time");
    }
    synchronized (this) {
      if (!ticks) {
        return;
      }
    }
    around.later(this::tick, TICK_MILLIS);
  }

  /** Measures the way to a holder and back. */
  private void measure(String dc) {
    if (!around.mayAsk(dc)) {
      return;
    }
    long id;
    byte[] content;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      if (!nearest.begins(dc, now)) {
        return;
      }
      id = asks.nextId();
      Request ping = new Request.Ping();
      content = ForwardedRequest.encode(0, "", id, ping);
      asks.add(
          id,
          new Asks.Ask(
              dc, ping, this, Optional.empty(), 0, now + ANSWER_NANOS, reply -> pinged(dc, now)));
    }
    if (!around.ask(dc, content)) {
      taken(id, dc);
    }
  }

  /** Whatever it has answered, or that it has not. */
  private synchronized void pinged(String dc, long since) {
    if (replicas.containsKey(dc)) {
      nearest.measured(dc, nanoTime.getAsLong() - since);
    }
  }

  /** Asks nothing more; what is under way fails. */
  @Override
  public void close() {
    Collection<Asks.Ask> lost;
    synchronized (this) {
      closed = true;
      lost = asks.takeAll();
      lost.forEach(this::ended);
    }
    fail(lost, self + " is shutting down");
  }
}
