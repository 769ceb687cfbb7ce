package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.SimTimers;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import io.osier.proxy.OsierClient;
import io.osier.proxy.SteppedClient;
import java.time.Duration;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The way of an application to one datacenter: production's connection greets, logs in, encodes,
 * pipelines, gives up and dials again. Requests are asked over it all the time, and what is told of
 * each is held against what came to the datacenter and what that answered.
 */
final class AppWay {
  private static final int PING_MILLIS_MIN = 800;
  private static final int PING_MILLIS_MAX = 3_000;
  private static final int PACE_MILLIS_MAX = 400;
  private static final int BURST_MAX = 6;

  /** While requests are under way the connection breaks after one in so many. */
  private static final int BREAKS_ONE_IN = 20;

  private static final int LIMIT_MILLIS_MIN = 3_000;
  private static final int REST_ONE_IN = 30;
  private static final int REST_MILLIS_MAX = 20_000;
  private static final int LIMIT_MILLIS_MAX = 9_000;

  private final AppWorld world;
  private final Scheduler scheduler;
  private final String dc;
  private final SimUsers.@Nullable Stranger stranger;
  private final Function<String, AppPort> ports;
  private final Random random;
  private final SimLink link;
  private final SimSockets sockets;
  private final Connection remote;
  private final long pingNanos;
  private final long limitNanos;
  private boolean isOpen = true;
  private long untold;
  private long answered;
  private long refused;

  /**
   * A way that is not open.
   *
   * @param stranger how one tries whom the datacenter may not let in; null for one whom it may
   * @param ports finds the present port of a datacenter, or the last one
   */
  AppWay(
      AppWorld world,
      String app,
      String dc,
      SimUsers.@Nullable Stranger stranger,
      Function<String, AppPort> ports,
      Random random) {
    this.world = world;
    this.scheduler = world.scheduler();
    this.dc = dc;
    this.stranger = stranger;
    this.random = random;
    this.ports = ports;
    ReplicaId self = new ReplicaId(app.replace(' ', '-') + "-to-" + dc, 1);
    world.network().addLink(self.dc(), dc);
    this.link = world.network().link(self.dc(), dc);
    Random own = new Random(random.nextLong());
    this.sockets = new SimSockets(world.network(), scheduler, self, () -> 0, own);
    this.pingNanos = (PING_MILLIS_MIN + random.nextInt(PING_MILLIS_MAX - PING_MILLIS_MIN)) * MILLI;
    this.limitNanos =
        (LIMIT_MILLIS_MIN + random.nextInt(LIMIT_MILLIS_MAX - LIMIT_MILLIS_MIN)) * MILLI;
    OsierClient.Builder settings =
        OsierClient.builder().name(app).timeout(Duration.ofNanos(limitNanos));
    if (world.hasUsers()) {
      SimUsers.login(settings, app, stranger);
    }
    SimTimers timers = new SimTimers(scheduler, new Random(random.nextLong()), id -> {});
    this.remote = SteppedClient.remote(dc, settings, timers, sockets, () -> {});
  }

  /** Whether the datacenter may not let it in. */
  boolean isStranger() {
    return stranger != null;
  }

  /** How many of its requests were answered. */
  long answered() {
    return answered;
  }

  /** How many of its requests, or whether its logins, were refused. */
  long refused() {
    return refused + (remote.refused() == null ? 0 : 1);
  }

  @Override
  public String toString() {
    return sockets.toString();
  }

  // ---------------------------------------------------------------- requests

  void open() {
    remote.open();
    scheduler.in(pingNanos, this::pingAgain);
    scheduler.in(random.nextInt(PACE_MILLIS_MAX) * MILLI, this::askAgain);
  }

  private void pingAgain() {
    if (isOpen) {
      remote.ping();
      wake();
      scheduler.in(pingNanos, this::pingAgain);
    }
  }

  private void askAgain() {
    if (!isOpen) {
      return;
    }
    int burst = random.nextInt(5) == 0 ? 1 + random.nextInt(BURST_MAX) : 1;
    for (int i = 0; i < burst; i++) {
      ask();
    }
    // Sometimes nothing but signs of life is heard for long.
    int pause = random.nextInt(REST_ONE_IN) == 0 ? REST_MILLIS_MAX : PACE_MILLIS_MAX;
    scheduler.in((1 + random.nextInt(pause)) * MILLI, this::askAgain);
  }

  /** Asks for something now. */
  void ask() {
    AppRequest one = world.nextRequest(this, remote.isUp() ? link.connection() : null, random);
    if (world.hasFaults() && random.nextInt(BREAKS_ONE_IN) == 0) {
      // Before it comes, while it is handled, or while its answer is under way.
      long nanos = (long) (random.nextDouble() * 3 * link.delayNanosMax());
      scheduler.in(nanos, () -> world.network().flap(link));
    }
    untold++;
    world.trace().note("%s asks %s", this, one.request);
    remote.send(
        one.request,
        scheduler.nanos(),
        scheduler.nanos() + limitNanos,
        new Connection.Answered() {
          @Override
          public void answered(Reply reply) {
            endingTheRun(() -> hears(one, reply));
          }

          @Override
          public void lost(LostException cause) {
            endingTheRun(() -> AppWay.this.lost(one, cause));
          }
        });
    wake();
  }

  /** Does what its connection's loop was given to do. */
  private void wake() {
    scheduler.in(0, sockets::run);
  }

  /** What a check throws ends the run, and not the connection. */
  private void endingTheRun(Runnable told) {
    try {
      told.run();
    } catch (RuntimeException e) {
      scheduler.fail(e);
    }
  }

  private void isTold(AppRequest one) {
    if (one.told) {
      throw new Violation("", "%s is told twice what became of %s", this, one.request);
    }
    one.told = true;
    untold--;
  }

  private void hears(AppRequest one, Reply reply) {
    world.trace().note("%s hears %s", this, reply);
    isTold(one);
    if (stranger != null) {
      if (!(reply instanceof Reply.Failure f) || f.code() != ErrorCode.NOT_AUTHENTICATED) {
        throw new Violation("", "%s has not logged in, and hears %s", this, reply);
      }
      refused++;
      return;
    }
    if (!reply.equals(one.reply)) {
      throw new Violation(
          "",
          "%s asks %s and hears %s, and the answer was %s",
          this,
          one.request,
          reply,
          String.valueOf(one.reply));
    }
    answered++;
  }

  private void lost(AppRequest one, LostException cause) {
    world.trace().note("%s has lost %s: %s", this, one.request, cause.getMessage());
    isTold(one);
    if (cause.isSent() && !world.sabotage().forgetsWhatLeft()) {
      return;
    }
    if (one.came) {
      throw new Violation(
          "", "%s is told that %s was not sent, and it has come", this, one.request);
    }
    world.isNotSent(one);
  }

  // ---------------------------------------------------------------- the end

  /**
   * Nothing has been wrong for long: it is up, and has been answered since, unless its password is
   * wrong or the port takes few connections.
   */
  void check(long answeredBefore) {
    if (stranger == null
        && !ports.apply(dc).isNarrow()
        && (!remote.isUp() || answered == answeredBefore)) {
      throw new Violation(
          "",
          "%s is %s, with %d answers of late, though nothing is wrong: %s, %s",
          this,
          remote.isUp() ? "up" : "down",
          answered - answeredBefore,
          String.valueOf(remote.trouble()),
          String.valueOf(remote.refused()));
    }
  }

  /** Its application closes it: whoever waits is told something. */
  void close() {
    isOpen = false;
    sockets.mayClose();
    remote.close();
    wake();
  }

  /** Everybody was told what became of his request. */
  void ended() {
    if (untold > 0) {
      throw new Violation("", "%s is closed, and of %d requests nothing was told", this, untold);
    }
  }
}
