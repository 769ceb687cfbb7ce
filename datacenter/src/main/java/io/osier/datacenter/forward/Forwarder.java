package io.osier.datacenter.forward;

import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Forwards requests for keyspaces that this datacenter does not hold to a datacenter that does.
 * Each request goes one hop, and at most once: an update whose answer is lost may be done.
 *
 * <p>A connection keeps its guarantees: its requests are executed in their order, and a holder
 * answers with all that another one has shown it. Thread-safe; foreign code runs without a lock.
 */
public final class Forwarder implements AutoCloseable {
  private static final long TICK_MILLIS = 1_000;

  /** What a request takes besides its bytes until it is answered, in bytes. */
  private static final long ASK_BYTES = 512;

  /** Larger answers are decoded outside the network's loop, within the budget. */
  private static final int LARGE_BYTES = 64 << 10;

  private final String self;
  private final ForwardingHost around;
  private final ByteBudget bytes;
  private final LongSupplier nanoTime;
  private final Executor beside;
  private final ForwardCounts counts = new ForwardCounts();

  private final OwnAsks own;
  private final ShownHere shownHere;
  private volatile AnswerWitness witness = (dc, request, partition, reply, size) -> {};

  // Guarded by this object's lock.
  private final Asks asks = new Asks();
  private final HolderChoice choice;
  private final WayMeter meter;
  private boolean ticks;
  private boolean closed;

  /**
   * A forwarder without requests in flight.
   *
   * @param self this datacenter
   * @param bytes for requests until they are answered, and for large answers until they are read
   * @param nanoTime a monotonic clock
   * @param beside decodes large answers
   */
  public Forwarder(
      String self,
      ForwardingHost around,
      ByteBudget bytes,
      LongSupplier nanoTime,
      Executor beside) {
    this.self = self;
    this.around = around;
    this.bytes = bytes;
    this.nanoTime = nanoTime;
    this.beside = beside;
    this.choice = new HolderChoice(self, around::shownBefore);
    this.own = new OwnAsks(around, nanoTime, this::tickLater);
    this.shownHere = new ShownHere(this, choice, nanoTime);
    this.meter = new WayMeter(nanoTime.getAsLong());
  }

  /** Returns how many requests were forwarded, and how long their answers took. */
  public List<Snapshot.Forwarded> counts() {
    return counts.all();
  }

  public void tell(AnswerWitness hears) {
    witness = hears;
  }

  /** What this datacenter asks for itself. */
  public OwnAsks own() {
    return own;
  }

  /** What clients were shown. */
  public ShownHere shownHere() {
    return shownHere;
  }

  // ---------------------------------------------------------------- asking

  /** Who holds a keyspace that others hold; empty if there is none of that name. */
  public Optional<ForwardingHost.Held> holders(String keyspace) {
    return Optional.ofNullable(held(keyspace));
  }

  /** Who is asked about such a keyspace at present; empty if nobody can be. */
  public Optional<String> holder(String keyspace) {
    ForwardingHost.Held held = held(keyspace);
    List<String> up = held == null ? List.of() : up(held);
    synchronized (this) {
      return choice.present(keyspace, up, nanoTime.getAsLong());
    }
  }

  private List<String> up(ForwardingHost.Held held) {
    return held.dcs().stream().filter(around::mayAsk).toList();
  }

  private ForwardingHost.@Nullable Held held(String keyspace) {
    ForwardingHost.Held held = around.holders(keyspace).orElse(null);
    if (held == null) {
      synchronized (this) {
        choice.forget(keyspace);
      }
    }
    return held;
  }

  /**
   * Forwards a request.
   *
   * @param lane of the connection that asks
   * @param user whose rights count; empty for this process itself
   * @param reply takes the answer, now or later
   * @return false if there is no keyspace of that name, or the request is about none
   */
  public boolean forward(Request request, Object lane, String user, Consumer<Reply> reply) {
    String keyspace = Forwardable.keyspace(request).orElse(null);
    ForwardingHost.Held held = keyspace == null ? null : held(keyspace);
    if (keyspace == null || held == null) {
      return false;
    }
    Request travels = Forwardable.travelling(request, held.partitioning());
    String by = request instanceof ProgressRequest.Reach ? "" : user; // its answer shows no data
    Reply.Failure refused =
        Forwardable.is(travels)
            ? ask(request, travels, keyspace, held, lane, by, reply)
            : Refusals.notTaken(self, keyspace, held);
    if (refused != null) {
      reply.accept(refused);
    }
    return true;
  }

  /**
   * Prepares a request for a keyspace that this datacenter holds by now, of a connection whose
   * earlier requests others have executed: the request asks for what they have shown.
   *
   * @param partitioning of the keyspace
   * @return null if it must be forwarded, too, since requests of its connection are in flight there
   */
  public synchronized @Nullable Request here(
      Request request, String keyspace, Partitioning partitioning, Object lane) {
    return choice.here(request, keyspace, partitioning, lane);
  }

  /** Asks a holder; or returns why not: then nothing was done. */
  private Reply.@Nullable Failure ask(
      Request original,
      Request request,
      String keyspace,
      ForwardingHost.Held held,
      Object lane,
      String user,
      Consumer<Reply> reply) {
    List<String> up = up(held);
    long now = nanoTime.getAsLong();
    HolderChoice.Chosen to;
    long id;
    long number;
    synchronized (this) {
      meter.wanted(held.dcs(), now);
      switch (choice.choose(request, keyspace, held, up, lane, now)) {
        case HolderChoice.Refused no -> {
          return no.why();
        }
        case HolderChoice.Chosen yes -> to = yes;
      }
      id = asks.nextId();
      number = choice.number(lane);
    }
    Reply.Failure tooNew = Refusals.later(self, request, to.dc(), held, around, bytes);
    if (tooNew != null) {
      return tooNew;
    }
    byte[] content = ForwardedRequest.encode(number, user, id, to.request());
    Asks.Ask ask =
        new Asks.Ask(
            to.dc(),
            new Asks.Forms(original, to.request()),
            lane,
            Forwardable.partition(request, held.partitioning()),
            ASK_BYTES + content.length,
            now,
            Asks.dueNanos(to.request(), now),
            reply);
    synchronized (this) {
      Reply.Failure refused = closed ? Refusals.unreachable(self, keyspace, held) : noRoom(ask);
      if (refused != null) {
        return refused;
      }
      asks.add(id, ask);
      choice.begins(ask, keyspace);
    }
    counts.sent(keyspace, to.dc(), Forwardable.kind(request));
    boolean sent = around.ask(to.dc(), content);
    tickLater();
    if (!sent && taken(id, to.dc()) != null) { // else it was answered when the connection ended
      Reply.Failure nobody = Refusals.unreachable(self, keyspace, held);
      failed(ask, nobody);
      return nobody;
    }
    return null;
  }

  /** Returns why there is no room; null if there is, and then takes the request's bytes. */
  private Reply.@Nullable Failure noRoom(Asks.Ask ask) {
    if (!asks.hasRoom(ask.dc())) {
      return Refusals.fullWindow(ask.dc());
    }
    Reply.Failure open = choice.tooManyOpen(ask);
    if (open != null) {
      return open;
    }
    return bytes.tryTake(ask.bytes()) ? null : Refusals.noRoom(ask.dc(), ask.bytes(), bytes.max());
  }

  /** Removes a request in flight; null if another thread has. */
  private synchronized Asks.@Nullable Ask taken(long id, String dc) {
    Asks.Ask ask = asks.take(id, dc);
    if (ask != null) {
      ended(ask);
    }
    return ask;
  }

  private void ended(Asks.Ask ask) {
    bytes.give(ask.bytes());
    choice.ends(ask);
  }

  // ---------------------------------------------------------------- answers

  /** Requests can be sent to a datacenter from now on. */
  public synchronized void up(ReplicaId peer) {
    choice.up(peer);
  }

  /** Requests in flight at a datacenter will not be answered. */
  public void down(String dc) {
    own.down(dc); // first: clients are shown no more of its answers
    Collection<Asks.Ask> lost;
    synchronized (this) {
      lost = asks.takeAll(dc);
      lost.forEach(this::ended);
      choice.down(dc);
    }
    fail(lost, "the connection to " + dc + " was lost before it answered");
  }

  public void answered(ReplicaId peer, byte[] content) {
    WireInput in = new WireInput(content);
    long id = ProtocolCodec.decodeId(in);
    if (own.answered(peer.dc(), id, in)) {
      return;
    }
    Asks.Ask ask = taken(id, peer.dc());
    if (ask == null) {
      return; // it was given up
    }
    long took = nanoTime.getAsLong() - ask.sinceNanos();
    Forwardable.keyspace(ask.request())
        .ifPresent(name -> counts.answered(name, peer.dc(), Forwardable.kind(ask.request()), took));
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
      fail(ask, Refusals.noRoomForAnswer(ask.request(), peer.dc()));
    }
  }

  private void pass(ReplicaId peer, Asks.Ask ask, WireInput in) {
    int size = in.remaining();
    Reply reply = ForwardedSpread.arrived(ask.request(), peer.dc(), in);
    Reply told;
    synchronized (this) {
      told = choice.answered(peer, ask, reply, nanoTime.getAsLong());
    }
    witness.answered(peer.dc(), ask.forms().original(), ask.partition(), told, size);
    ask.reply().accept(told);
  }

  private void fail(Collection<Asks.Ask> lost, String why) {
    lost.forEach(ask -> fail(ask, Refusals.lost(ask.request(), why)));
  }

  private void fail(Asks.Ask ask, Reply.Failure why) {
    ask.reply().accept(failed(ask, why));
  }

  private synchronized Reply failed(Asks.Ask ask, Reply.Failure why) {
    return choice.failed(ask, why);
  }

  /** Measures the round trips to these datacenters for a while. */
  public void measure(Collection<String> dcs) {
    synchronized (this) {
      meter.wanted(dcs, nanoTime.getAsLong());
    }
    tickLater();
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
    boolean goesOn;
    long now = nanoTime.getAsLong();
    boolean asksItself = own.expire(now);
    synchronized (this) {
      late = asks.takeDue(now);
      late.forEach(this::ended);
      choice.expire(now);
      measured = meter.due(now);
      goesOn = !closed && !(asks.isEmpty() && !asksItself && meter.isIdle() && choice.isIdle());
      ticks = goesOn;
    }
    try {
      measured.forEach(this::measure);
      for (Asks.Ask ask : late) {
        fail(List.of(ask), ask.dc() + " did not answer in time");
      }
    } finally {
      if (goesOn) { // whatever somebody's reply throws
        around.later(this::tick, TICK_MILLIS);
      }
    }
  }

  /** Measures the round trip to a holder. */
  private void measure(String dc) {
    long now = nanoTime.getAsLong();
    boolean begins = around.mayAsk(dc);
    synchronized (this) {
      begins = begins && choice.measures(dc, now);
    }
    if (begins) {
      own.ping(
          dc,
          () -> {
            synchronized (this) {
              choice.measured(dc, nanoTime.getAsLong() - now);
            }
          });
    }
  }

  /** Forwards nothing more; requests in flight fail. */
  @Override
  public void close() {
    Collection<Asks.Ask> lost;
    synchronized (this) {
      closed = true;
      lost = asks.takeAll();
      lost.forEach(this::ended);
    }
    own.close();
    fail(lost, self + " is shutting down");
  }
}
