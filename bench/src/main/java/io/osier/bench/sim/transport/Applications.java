package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimNetwork;
import io.osier.bench.sim.world.Trace;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.Users;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Applications and the ports of datacenters, whose processes crash, stop and start again. */
final class Applications implements TransportSimulation.Half {
  static final String KEYSPACE = "k";

  private static final int PORTS = 2;
  private static final int APPS = 2;
  private static final int USERS_ONE_IN = 4;
  private static final int LARGE_ONE_IN = 6;
  private static final int TEXT_BYTES_MAX = 3_000;
  private static final int LARGE_BYTES_MAX = 200_000;

  private final Scheduler scheduler;
  private final Trace trace;
  private final Sabotage sabotage;
  private final Random random;
  private final boolean isLarge;
  private final boolean hasUsers;
  private final Users users;
  private final Map<String, AppPort> ports = new LinkedHashMap<>();
  private final List<AppWay> ways = new ArrayList<>();
  private boolean hasFaults = true;
  private long requests;

  Applications(Scheduler scheduler, Trace trace, Sabotage sabotage, Random random) {
    this.scheduler = scheduler;
    this.trace = trace;
    this.sabotage = sabotage;
    this.random = random;
    this.isLarge = random.nextInt(LARGE_ONE_IN) == 0;
    this.hasUsers = random.nextInt(USERS_ONE_IN) == 0;
    List<String> apps = new ArrayList<>();
    for (int i = 0; i < APPS; i++) {
      apps.add("app " + i);
    }
    this.users = hasUsers ? sabotage.users(new SimUsers(apps).users()) : Users.OPEN;
    for (int i = 0; i < PORTS; i++) {
      start(new ReplicaId("dc" + i, 1));
    }
    for (String dc : ports.keySet()) {
      apps.forEach(app -> ways.add(new AppWay(this, app, dc, null, new Random(random.nextLong()))));
      if (hasUsers) {
        SimUsers.Stranger[] all = SimUsers.Stranger.values();
        SimUsers.Stranger as = all[random.nextInt(all.length)];
        ways.add(new AppWay(this, "stranger", dc, as, new Random(random.nextLong())));
      }
    }
  }

  private void start(ReplicaId as) {
    ports.put(as.dc(), new AppPort(this, as, new Random(random.nextLong())));
  }

  // ---------------------------------------------------------------- what its parts ask for

  Scheduler scheduler() {
    return scheduler;
  }

  Trace trace() {
    return trace;
  }

  Sabotage sabotage() {
    return sabotage;
  }

  /** Datacenters that nobody dials. */
  SimNetwork nothing() {
    return new SimNetwork(scheduler, trace, to -> null, sabotage, random, Workload.Sizes.SMALL);
  }

  boolean isLarge() {
    return isLarge;
  }

  /** Whether who may use the ports must log in. */
  boolean hasUsers() {
    return hasUsers;
  }

  Users users() {
    return users;
  }

  /** Whether anything may go wrong with connections. */
  boolean hasFaults() {
    return hasFaults;
  }

  /** The port of the present process, or of the last one. */
  AppPort port(String dc) {
    return requireNonNull(ports.get(dc), dc);
  }

  /** A request like no other. */
  Request nextRequest(Random from) {
    Key key = Key.of("key " + ++requests);
    return from.nextBoolean()
        ? new Request.Read(
            KEYSPACE,
            key,
            Optional.of(CrdtType.LWW_REGISTER),
            new Query.Whole(),
            VersionVector.EMPTY,
            false,
            0)
        : new Request.Write(
            KEYSPACE,
            key,
            CrdtType.LWW_REGISTER,
            new Operation.Assign(text(from)),
            VersionVector.EMPTY,
            0);
  }

  Reply nextReply(Random from) {
    return switch (from.nextInt(4)) {
      case 0 -> new Reply.Failure(ErrorCode.UNAVAILABLE, "not now: " + from.nextInt());
      case 1 -> new Reply.Done(new Dot(new ReplicaId("dc0", 1), 1 + from.nextInt(1 << 20)));
      default ->
          new Reply.Answer(
              CrdtType.LWW_REGISTER,
              new Reading.Single(Optional.of(text(from))),
              VersionVector.of(new ReplicaId("dc1", 1), 1 + from.nextInt(1 << 20)));
    };
  }

  private Value text(Random from) {
    boolean isShort = from.nextInt(4) > 0;
    int most = isShort ? 50 : isLarge && from.nextInt(4) == 0 ? LARGE_BYTES_MAX : TEXT_BYTES_MAX;
    byte[] bytes = new byte[from.nextInt(most)];
    from.nextBytes(bytes);
    return Value.of(bytes);
  }

  // ---------------------------------------------------------------- the run

  @Override
  public void start() {
    ways.forEach(AppWay::open);
  }

  /** A process crashes or stands still; what connections suffer is drawn with each request. */
  @Override
  public void fault(long duration) {
    String dc = "dc" + random.nextInt(PORTS);
    AppPort port = port(dc);
    if (port.sockets().isClosed()) {
      return;
    }
    if (random.nextBoolean()) {
      trace.note("%s crashes", port.self());
      port.crash();
      scheduler.in(duration, () -> start(new ReplicaId(dc, port.self().incarnation() + 1)));
    } else {
      trace.note("%s stands still", port.self());
      port.sockets().stop(true);
      scheduler.in(duration, () -> port.sockets().stop(false));
    }
  }

  @Override
  public void heal() {
    hasFaults = false;
  }

  @Override
  public void check() {
    Map<AppWay, Long> before = new LinkedHashMap<>();
    ways.forEach(way -> before.put(way, way.answered()));
    ways.forEach(AppWay::ask);
    scheduler.runFor(5 * SECOND);
    before.forEach(AppWay::check);
    ways.forEach(AppWay::close);
    scheduler.runFor(SECOND + 10 * MILLI);
    ways.forEach(AppWay::ended);
  }

  @Override
  public long carried() {
    return ways.stream().mapToLong(AppWay::answered).sum();
  }

  @Override
  public long carriedTogether() {
    return 0;
  }

  @Override
  public long refused() {
    return ways.stream().mapToLong(AppWay::refused).sum();
  }

  @Override
  public String toString() {
    return "applications"
        + (isLarge ? " with large values" : "")
        + (hasUsers ? " that log in" : "");
  }
}
