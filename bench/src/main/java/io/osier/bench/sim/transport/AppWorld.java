package io.osier.bench.sim.transport;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimConnection;
import io.osier.bench.sim.world.SimNetwork;
import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.Trace;
import io.osier.bench.sim.world.Violation;
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
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The links, users and requests that applications and the ports of datacenters share. */
final class AppWorld {
  static final String KEYSPACE = "k";

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
  private final SimNetwork network;

  /** The requests of all applications, which are all different. */
  private final Map<Request, AppRequest> asked = new HashMap<>();

  /** By connection, the number of the last request that came over it. */
  private final Map<SimConnection, Long> last = new IdentityHashMap<>();

  private boolean hasFaults = true;
  private long requests;

  /**
   * A world without links.
   *
   * @param ports the sockets of a datacenter's present process, or of its last one
   */
  AppWorld(
      Scheduler scheduler,
      Trace trace,
      Sabotage sabotage,
      List<String> apps,
      Function<String, @Nullable SimSockets> ports,
      Random random) {
    this.scheduler = scheduler;
    this.trace = trace;
    this.sabotage = sabotage;
    this.random = random;
    this.isLarge = random.nextInt(LARGE_ONE_IN) == 0;
    this.network =
        new SimNetwork(
            scheduler,
            trace,
            ports,
            sabotage,
            random,
            isLarge ? Workload.Sizes.HUGE : Workload.Sizes.LARGE,
            true);
    this.hasUsers = random.nextInt(USERS_ONE_IN) == 0;
    this.users = hasUsers ? sabotage.users(new SimUsers(apps).users()) : Users.OPEN;
  }

  Scheduler scheduler() {
    return scheduler;
  }

  Trace trace() {
    return trace;
  }

  Sabotage sabotage() {
    return sabotage;
  }

  /** The links between applications and datacenters. */
  SimNetwork network() {
    return network;
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

  /** From now on no connection breaks. */
  void endFaults() {
    hasFaults = false;
  }

  /**
   * Draws a request like no other.
   *
   * @param over the connection that it is to be sent over; null for none
   */
  AppRequest nextRequest(AppWay by, @Nullable SimConnection over, Random from) {
    Key key = Key.of("key " + ++requests);
    Request request =
        from.nextBoolean()
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
    AppRequest one = new AppRequest(by, over, request, requests);
    asked.put(request, one);
    return one;
  }

  /** A request was not sent after all. */
  void isNotSent(AppRequest one) {
    asked.remove(one.request);
  }

  /** A request has come to a datacenter: once, and none overtakes another one. */
  AppRequest comes(ReplicaId at, Request request) {
    AppRequest one = asked.get(request);
    if (one == null || one.over == null || one.came) {
      throw new Violation("", "%s hears what its client has not asked there: %s", at, request);
    }
    one.came = true;
    Long before = last.put(one.over, one.number);
    if (before != null && before > one.number) {
      throw new Violation("", "%s hears %s of %s after a later request", at, request, one.by);
    }
    return one;
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
}
