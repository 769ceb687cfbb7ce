package io.osier.bench.sim.app;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import io.osier.proxy.OsierClient;
import io.osier.proxy.SteppedClient;
import io.osier.proxy.Timers;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The way of a client of production to one datacenter, over connections that carry bytes: what
 * production has on both sides of the network greets, encodes, pipelines, gives up and dials again.
 * Requests are only shown to who wants to see what becomes of them. {@link SimWay} is the other
 * kind, which takes the place of all that.
 */
final class AppWay implements Connection {
  private static final int PING_MILLIS_MIN = 800;
  private static final int PING_MILLIS_MAX = 3_000;
  private static final int DELAY_MILLIS_MAX = 15;
  private static final int FAR_MILLIS_MAX = 120;
  private static final int BYTES_PER_SECOND_MIN = 20_000;
  private static final int[] BUFFER_BYTES = {2 << 10, 16 << 10, 64 << 10};

  /** By so much buffers are larger, and lines not narrow, where values are large. */
  private static final int LARGE_FACTOR = 32;

  /**
   * What lies between an application and a datacenter.
   *
   * @param bytesPerSecond what it carries; 0 for any amount
   * @param bufferBytes of each direction
   */
  record Link(long delayNanos, long bytesPerSecond, int bufferBytes) {
    static Link draw(Random random, Workload.Sizes sizes) {
      boolean isSmall = sizes == Workload.Sizes.SMALL;
      int delay = random.nextInt(4) == 0 ? FAR_MILLIS_MAX : DELAY_MILLIS_MAX;
      int buffer = BUFFER_BYTES[random.nextInt(BUFFER_BYTES.length)];
      boolean isNarrow = random.nextInt(4) == 0 && isSmall;
      return new Link(
          (1 + random.nextInt(delay)) * MILLI,
          isNarrow ? BYTES_PER_SECOND_MIN : 0,
          isSmall ? buffer : LARGE_FACTOR * buffer);
    }
  }

  /** One sending of a request, with the answer that a datacenter gives. */
  static final class Sending extends SimSending {
    private final AppConnection over;
    private @Nullable Reply reply;

    private Sending(
        AppConnection over, Request request, @Nullable SimWitness witness, long ticket) {
      super(over, over.to(), request, witness, ticket);
      this.over = over;
    }

    /** The datacenter has its answer. */
    void replied(Reply answer) {
      reply = answer;
    }

    Reply reply() {
      return requireNonNull(reply, "it has just been made");
    }
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimApp app;
  private final String dc;
  private final Link link;
  private final AppSockets sockets;
  private final Connection remote;
  private final Runnable changed;
  private final long pingNanos;
  private boolean closed;

  /**
   * A way that is not open.
   *
   * @param settings of the client
   * @param timers of the client
   * @param changed hears whenever it has come up or gone down, or has become nearer or farther
   */
  AppWay(
      Simulation simulation,
      SimApp app,
      String dc,
      OsierClient.Builder settings,
      Timers timers,
      Random random,
      Runnable changed) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.app = app;
    this.dc = dc;
    this.changed = changed;
    this.link = Link.draw(random, simulation.profile().sizes());
    this.sockets = new AppSockets(simulation, this, new Random(random.nextLong()));
    this.pingNanos = (PING_MILLIS_MIN + random.nextInt(PING_MILLIS_MAX - PING_MILLIS_MIN)) * MILLI;
    this.remote = SteppedClient.remote(dc, settings, timers, sockets, changed);
  }

  SimApp app() {
    return app;
  }

  Link link() {
    return link;
  }

  AppSockets sockets() {
    return sockets;
  }

  /** Whether its client is closed. */
  boolean isClosed() {
    return closed;
  }

  @Override
  public String toString() {
    return app + " to " + dc;
  }

  // ---------------------------------------------------------------- requests

  @Override
  public void send(Request request, long nowNanos, long deadlineNanos, Answered answered) {
    AppConnection over = sockets.connection();
    // Pings are the connection's own, too, so the other end does not witness any.
    if (over == null || !remote.isUp() || request instanceof Request.Ping) {
      remote.send(request, nowNanos, deadlineNanos, answered);
      return;
    }
    Request sent = simulation.options().sabotage().sent(request);
    Sending one = new Sending(over, sent, app.witness(sent), simulation.nextTicket());
    over.sends(one);
    one.sends();
    one.trace(simulation, app, "asks", sent);
    remote.send(
        sent,
        nowNanos,
        deadlineNanos,
        new Answered() {
          @Override
          public void answered(Reply reply) {
            endingTheRun(() -> hears(one, reply, answered));
          }

          @Override
          public void lost(LostException cause) {
            endingTheRun(() -> AppWay.this.lost(one, cause, answered));
          }

          @Override
          public boolean begins() {
            return answered.begins();
          }

          @Override
          public boolean isWanted() {
            return answered.isWanted();
          }
        });
    over.client().wake();
  }

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    return SimSending.send(this, request, scheduler.nanos(), timeoutMillis);
  }

  /** What a check throws ends the run, and not the connection. */
  private void endingTheRun(Runnable told) {
    try {
      told.run();
    } catch (RuntimeException e) {
      scheduler.fail(e);
    }
  }

  private void hears(Sending one, Reply reply, Answered answered) {
    one.trace(simulation, app, "hears of", reply);
    if (!reply.equals(one.reply)) {
      throw new Violation(
          simulation.unit(one.request()) + "/" + one.about(),
          "%s asks %s for %s and hears %s, and the answer was %s",
          app,
          one.to(),
          one.request(),
          reply,
          String.valueOf(one.reply));
    }
    one.hears(reply);
    if (one.request() instanceof Request.Through t) {
      app.learned(simulation.unit(t));
    }
    answered.answered(reply);
  }

  private void lost(Sending one, LostException cause, Answered answered) {
    one.trace(simulation, app, "has lost", cause.getMessage());
    if (!cause.isSent()) {
      one.over.isNotSent(one);
    }
    boolean forgets = simulation.options().sabotage().forgetsWhatLeft();
    answered.lost(
        forgets ? new LostException(ErrorCode.UNAVAILABLE, false, cause.getMessage()) : cause);
  }

  // ---------------------------------------------------------------- the connection

  @Override
  public void open() {
    remote.open();
    scheduler.in(pingNanos, this::pingAgain);
  }

  private void pingAgain() {
    if (!closed) {
      ping();
      changed.run();
      scheduler.in(pingNanos, this::pingAgain);
    }
  }

  @Override
  public void ping() {
    remote.ping();
    AppConnection over = sockets.connection();
    if (over != null) {
      over.client().wake();
    }
  }

  @Override
  public void close() {
    closed = true;
    if (!simulation.options().sabotage().losesCalls()) {
      remote.close();
    }
    sockets.close();
  }

  @Override
  public String dc() {
    return dc;
  }

  @Override
  public boolean isUp() {
    return remote.isUp();
  }

  @Override
  public @Nullable ReplicaId replica() {
    return remote.replica();
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaceList() {
    return remote.keyspaceList();
  }

  @Override
  public CompletableFuture<Void> refreshKeyspaces(long timeoutMillis) {
    return CompletableFuture.completedFuture(null); // nobody changes them here
  }

  @Override
  public double roundTripNanos() {
    return remote.roundTripNanos();
  }

  @Override
  public @Nullable OsierException refused() {
    return remote.refused();
  }

  @Override
  public @Nullable String trouble() {
    return remote.trouble();
  }

  @Override
  public int inFlight() {
    return remote.inFlight();
  }
}
