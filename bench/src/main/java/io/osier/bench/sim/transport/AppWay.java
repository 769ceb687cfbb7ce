package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimTimers;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
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
  private static final int LIMIT_MILLIS_MIN = 1_000;
  private static final int REST_ONE_IN = 30;
  private static final int REST_MILLIS_MAX = 20_000;
  private static final int LIMIT_MILLIS_MAX = 9_000;

  private final AppWorld world;
  private final Scheduler scheduler;
  private final String dc;
  private final SimUsers.@Nullable Stranger stranger;
  private final Function<String, AppPort> ports;
  private final Random random;
  private final AppSockets sockets;
  private final Connection remote;
  private final long pingNanos;
  private final long limitNanos;
  private long untold;
  private long answered;
  private long refused;

  /**
   * A way that is not open.
   *
   * @param stranger how one tries whom the datacenter may not let in; null for one whom it may
   * @param ports the present port of a datacenter, or the last one
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
    this.sockets = new AppSockets(world, app + " to " + dc, stranger != null, ports, random);
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
    if (!sockets.isClosed()) {
      remote.ping();
      wake();
      scheduler.in(pingNanos, this::pingAgain);
    }
  }

  private void askAgain() {
    if (sockets.isClosed()) {
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
    AppConnection.Sending one =
        new AppConnection.Sending(
            remote.isUp() ? sockets.connection() : null, world.nextRequest(random));
    if (one.over != null) {
      one.over.sends(one);
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

  private void wake() {
    AppConnection over = sockets.connection();
    if (over != null) {
      over.client().wake();
    }
  }

  /** What a check throws ends the run, and not the connection. */
  private void endingTheRun(Runnable told) {
    try {
      told.run();
    } catch (RuntimeException e) {
      scheduler.fail(e);
    }
  }

  private void isTold(AppConnection.Sending one) {
    if (one.told) {
      throw new Violation("", "%s is told twice what became of %s", this, one.request);
    }
    one.told = true;
    untold--;
  }

  private void hears(AppConnection.Sending one, Reply reply) {
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

  private void lost(AppConnection.Sending one, LostException cause) {
    world.trace().note("%s has lost %s: %s", this, one.request, cause.getMessage());
    isTold(one);
    if (cause.isSent() && !world.sabotage().forgetsWhatLeft()) {
      return;
    }
    if (one.came) {
      throw new Violation(
          "", "%s is told that %s was not sent, and it has come", this, one.request);
    }
    if (one.over != null) {
      one.over.isNotSent(one);
    }
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
    sockets.close();
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
