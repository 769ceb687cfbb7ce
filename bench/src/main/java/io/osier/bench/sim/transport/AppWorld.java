package io.osier.bench.sim.transport;

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
import java.util.List;
import java.util.Optional;
import java.util.Random;

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
  private boolean hasFaults = true;
  private long requests;

  AppWorld(Scheduler scheduler, Trace trace, Sabotage sabotage, List<String> apps, Random random) {
    this.scheduler = scheduler;
    this.trace = trace;
    this.sabotage = sabotage;
    this.random = random;
    this.isLarge = random.nextInt(LARGE_ONE_IN) == 0;
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

  /** From now on no connection breaks. */
  void endFaults() {
    hasFaults = false;
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
}
