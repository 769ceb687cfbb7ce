package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;

import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimChannel;
import io.osier.bench.sim.world.SimStream;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A connection of an application with a datacenter's port for clients, and what becomes of it: its
 * bytes come in parts, late, or in one direction only; it is cut in the middle of a frame; it is
 * lost with all that is under way, or with what goes one way, and each end notices at once or
 * later. What had left may come all the same, after what is sent on the next connection.
 */
final class AppConnection {
  /** What was held up has come, and was answered, so long after nothing holds it up any more. */
  private static final long SILENCE_NANOS = 1_500 * MILLI;

  /** A connection that has just begun may be refused. */
  private static final long YOUNG_NANOS = SECOND;

  /** One of so many sendings is the last of its connection. */
  private static final int LOST_ONE_IN = 20;

  /** At one of so many a direction carries nothing for a while. */
  private static final int STALLED_ONE_IN = 30;

  /** One of so many of these whiles is longer than some time limits. */
  private static final int LONG_ONE_IN = 6;

  private static final int STALLED_MILLIS_MAX = 400;
  private static final int LONG_MILLIS_MAX = 6_000;
  private static final int LATE_MILLIS_MAX = 1_000;
  private static final int NOTICE_MILLIS_MAX = 3_000;

  /** What is written at once comes in two parts, once in so many times. */
  private static final int PARTS_ONE_IN = 4;

  private static final int BETWEEN_MILLIS_MAX = 30;

  /** One request, with the answer that the datacenter gives. */
  static final class Sending {
    final @Nullable AppConnection over;
    final Request request;
    boolean came;
    boolean told;
    @Nullable Reply reply;

    Sending(@Nullable AppConnection over, Request request) {
      this.over = over;
      this.request = request;
    }
  }

  private final AppWorld world;
  private final Scheduler scheduler;
  private final Random random;
  private final AppSockets app;
  private final AppPort port;
  private final ReplicaId to;
  private final SimChannel client;
  private final SimChannel server;
  private final Way there;
  private final Way back;
  private final long sinceNanos;

  /** What was sent and has not come, in this order. */
  private final ArrayDeque<Sending> coming = new ArrayDeque<>();

  /** Until when something has kept bytes from moving. */
  private long faultNanos;

  private boolean broken;

  AppConnection(AppWorld world, AppSockets app, AppPort port, Random random) {
    this.world = world;
    this.scheduler = world.scheduler();
    this.random = random;
    this.app = app;
    this.port = port;
    this.to = port.self();
    this.client = app.channel();
    this.server = port.channel(this);
    this.there = new Way(client, server);
    this.back = new Way(server, client);
    this.sinceNanos = scheduler.nanos();
    this.faultNanos = sinceNanos;
    client.join(there, back);
    server.join(back, there);
  }

  /** One direction. */
  private final class Way extends SimStream {
    private long darkUntilNanos;
    private long freeNanos;

    /** How much later than otherwise comes what is under way. */
    private long lateNanos;

    /** What is written next comes in part, and nothing after it. */
    private boolean cutsNext;

    private boolean cut;

    Way(SimChannel from, SimChannel to) {
      super(from, to);
    }

    @Override
    public int bufferBytes() {
      return app.link().bufferBytes();
    }

    @Override
    public void carry(byte[] written) {
      byte[] bytes = this == back ? world.sabotage().answers(app, written) : written;
      world.trace().hash(bytes);
      boolean isSwallowed = bytes.length == 0 && written.length > 0; // none would be the end
      if (isLost() || cut || isSwallowed) {
        return;
      }
      if (cutsNext && bytes.length > 0) {
        cut = true;
        travel(Arrays.copyOf(bytes, random.nextInt(bytes.length)), 0);
        breaks();
      } else if (bytes.length > 1 && random.nextInt(PARTS_ONE_IN) == 0) {
        int first = 1 + random.nextInt(bytes.length - 1);
        travel(Arrays.copyOf(bytes, first), 0);
        long later = random.nextInt(BETWEEN_MILLIS_MAX) * MILLI;
        travel(Arrays.copyOfRange(bytes, first, bytes.length), later);
      } else {
        travel(bytes, 0);
      }
    }

    private void travel(byte[] bytes, long laterNanos) {
      AppSockets.Link link = app.link();
      long now = scheduler.nanos();
      long leaves = Math.max(Math.max(now, darkUntilNanos), freeNanos);
      if (link.bytesPerSecond() > 0) {
        leaves += bytes.length * SECOND / link.bytesPerSecond();
        freeNanos = leaves;
      }
      long alone = leaves + link.delayNanos() + laterNanos;
      scheduler.in(arrivalNanos(alone) - now, () -> comes(bytes));
    }

    private void comes(byte[] bytes) {
      if (lateNanos > 0) {
        scheduler.in(lateNanos, () -> arrived(bytes));
      } else {
        arrived(bytes);
      }
    }

    void darken(long nanos) {
      darkUntilNanos = Math.max(darkUntilNanos, scheduler.nanos() + nanos);
      faultNanos = Math.max(faultNanos, darkUntilNanos);
    }

    /** TCP answers with a reset, and what waits to leave does not leave any more. */
    @Override
    public void refused() {
      lose();
    }

    @Override
    public void ended(boolean byNetwork) {
      if (!byNetwork) {
        gaveUp(from());
      }
      carry(new byte[0]);
    }
  }

  // ---------------------------------------------------------------- ends

  SimChannel client() {
    return client;
  }

  SimChannel server() {
    return server;
  }

  /** Whether the datacenter may not let it in. */
  boolean isStranger() {
    return app.isStranger();
  }

  boolean isOver() {
    return SimStream.isOver(client) && SimStream.isOver(server);
  }

  /** Whoever can read, reads. */
  void deliver() {
    there.deliver();
    back.deliver();
  }

  /** An end has closed it by itself: it may where nothing has come for long, or has just begun. */
  private void gaveUp(SimChannel end) {
    long calm = Math.max(faultNanos, port.sockets().servedSinceNanos());
    long now = scheduler.nanos();
    boolean mayClose = broken || app.isClosed() || calm == Long.MAX_VALUE;
    if (!mayClose && now - calm > SILENCE_NANOS && now - sinceNanos > YOUNG_NANOS) {
      scheduler.fail(
          new Violation(
              "",
              "%s gives up the connection of %s with %s, on which bytes go as they should",
              end == client ? "the client" : "the datacenter",
              app,
              to));
    }
  }

  private void reset(SimChannel end, long nanos) {
    scheduler.in(nanos, () -> end.end(true));
  }

  private long notice() {
    return random.nextBoolean() ? 0 : random.nextInt(NOTICE_MILLIS_MAX) * MILLI;
  }

  /** The datacenter's process is gone. */
  void crashed() {
    broken = true;
    if (random.nextBoolean()) {
      there.lose();
      back.lose();
    }
    reset(client, notice());
  }

  // ---------------------------------------------------------------- requests

  /** A request is about to be sent; what may go wrong with it is drawn. */
  void sends(Sending one) {
    coming.add(one);
    if (isDrawn(STALLED_ONE_IN)) {
      int most = random.nextInt(LONG_ONE_IN) == 0 ? LONG_MILLIS_MAX : STALLED_MILLIS_MAX;
      (random.nextBoolean() ? there : back).darken(random.nextInt(most) * MILLI);
    }
    if (isDrawn(LOST_ONE_IN)) {
      if (random.nextBoolean()) {
        (random.nextBoolean() ? there : back).cutsNext = true;
      } else {
        scheduler.in((long) (random.nextDouble() * 3 * app.link().delayNanos()), this::breaks);
      }
    }
  }

  private boolean isDrawn(int of) {
    return world.hasFaults() && random.nextInt(of) == 0;
  }

  /** It was not sent after all. */
  void isNotSent(Sending one) {
    coming.remove(one);
  }

  /** A request has come: it is the first that is the same, since none overtakes another one. */
  Sending comes(Request request) {
    Sending next;
    while ((next = coming.poll()) != null) {
      if (next.request.equals(request)) {
        next.came = true;
        return next;
      }
    }
    throw new Violation("", "%s hears what %s has not asked there: %s", to, app, request);
  }

  /** It is lost, in one direction or both. */
  private void breaks() {
    if (broken) {
      return;
    }
    broken = true;
    switch (random.nextInt(4)) {
      case 0 -> {
        there.lose();
        back.lose();
      }
      case 1 -> {
        // The client goes on at once, and what had left comes after what it sends next.
        there.lateNanos = random.nextInt(LATE_MILLIS_MAX) * MILLI;
        back.lose();
        reset(client, 0);
      }
      case 2 -> there.lose();
      default -> back.lose();
    }
    reset(client, notice());
    reset(server, LATE_MILLIS_MAX * MILLI + notice());
  }

  @Override
  public String toString() {
    return app.toString();
  }
}
