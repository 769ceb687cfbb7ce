package io.osier.bench.sim;

import io.osier.core.CausalContext;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.propagation.ObjectId;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * One session: random operations on one keyspace, one after the other, here and there. It keeps its
 * vector as the client library does. Besides it remembers, for each object, what it has seen of it,
 * and checks the session guarantees from their definitions:
 *
 * <ul>
 *   <li>read your writes, monotonic reads: a read shows of its object all that the session wrote or
 *       read;
 *   <li>monotonic writes, writes follow reads: a write is made where all that the session wrote or
 *       read, of every object, is there already.
 * </ul>
 */
final class SimClient {
  private static final int KEYS = 12;
  private static final long MILLI = 1_000_000;
  private static final int WAIT_MILLIS = 3_000;
  private static final long PATIENCE_NANOS = 8_000 * MILLI;

  private final Simulation simulation;
  private final int number;
  private final int keyspace;
  private final Random random;
  private final Map<ObjectId, CausalContext> known = new HashMap<>();
  private String home;
  private VersionVector seen = VersionVector.EMPTY;
  private ReplicaId attachedTo;
  private long open;

  SimClient(Simulation simulation, int number, int keyspace, Random random, String home) {
    this.simulation = simulation;
    this.number = number;
    this.keyspace = keyspace;
    this.random = random;
    this.home = home;
  }

  void start() {
    simulation.at(pause(), this::step);
  }

  private long pause() {
    // Mostly a steady pace, sometimes a burst on hot keys.
    return random.nextInt(10) == 0
        ? random.nextInt(20) * MILLI
        : (20 + random.nextInt(800)) * MILLI;
  }

  private void step() {
    if (!simulation.isLoading()) {
      return;
    }
    if (random.nextInt(20) == 0) {
      move();
    }
    SimDc dc = simulation.dc(home);
    if (!dc.isUp()) {
      move();
      simulation.at(200 * MILLI, this::step);
      return;
    }
    int k = (int) (KEYS * Math.pow(random.nextDouble(), 3));
    CrdtType type = CrdtType.values()[k % CrdtType.values().length];
    ObjectId object = new ObjectId(Key.of("k" + k), type);
    boolean write = random.nextInt(3) > 0;
    VersionVector after = dc.self().equals(attachedTo) ? VersionVector.EMPTY : seen;
    Request request =
        write
            ? new Request.Write("k", object.key(), type, operation(type, 0), after, WAIT_MILLIS)
            : new Request.Read(
                "k", object.key(), Optional.of(type), new Query.Whole(), after, false, WAIT_MILLIS);
    long ticket = simulation.nextTicket();
    open = ticket;
    simulation.command(
        dc,
        keyspace,
        ticket,
        request,
        (at, reply, state) -> replied(ticket, at, object, reply, state));
    simulation.at(PATIENCE_NANOS, () -> giveUp(ticket));
  }

  private void giveUp(long ticket) {
    if (open == ticket) {
      open = 0; // the datacenter crashed, or is slow; the outcome is unknown
      move();
      simulation.at(pause(), this::step);
    }
  }

  /** Goes to any datacenter, as after a failover. */
  private void move() {
    home = simulation.anyDc(random);
    attachedTo = null;
  }

  private void replied(long ticket, ReplicaId at, ObjectId object, Reply reply, Causal state) {
    if (open != ticket) {
      return; // too late: the session went on without it
    }
    open = 0;
    switch (reply) {
      case Reply.Done d -> {
        check(at, object, true);
        CausalContext own =
            CausalContext.range(d.dot().replica(), d.dot().number() - 1, d.dot().number());
        known.merge(object, own, CausalContext::join);
        saw(at, VersionVector.of(d.dot().replica(), d.dot().number()));
      }
      case Reply.Answer a -> {
        check(at, object, false);
        if (state != null) {
          known.merge(object, state.context(), CausalContext::join);
        }
        saw(at, a.seen());
      }
      case Reply.Failure f -> {
        if (f.code() == ErrorCode.SESSION_LOST) {
          forget(at);
        } else if (f.code() != ErrorCode.SESSION_BEHIND && f.code() != ErrorCode.UNAVAILABLE) {
          throw new Violation(object.key().toString(), "session " + number + " was refused: " + f);
        } else {
          move();
        }
      }
      default -> throw new IllegalStateException("unexpected " + reply);
    }
    simulation.at(pause(), this::step);
  }

  private void saw(ReplicaId at, VersionVector vector) {
    seen = seen.join(vector);
    attachedTo = at.dc().equals(home) ? at : null;
  }

  /** Only memory that was really lost may be reported as lost. */
  private void forget(ReplicaId at) {
    boolean any = false;
    for (int i = 0; i < seen.size(); i++) {
      any |= simulation.lost().contains(seen.replica(i));
    }
    if (!any) {
      throw new Violation("", at + " says that session " + number + " saw what was lost: " + seen);
    }
    seen = VersionVector.EMPTY;
    attachedTo = null;
    known.clear();
  }

  private void check(ReplicaId at, ObjectId object, boolean write) {
    SimDc dc = simulation.dc(at.dc());
    if (!dc.self().equals(at)) {
      return; // it crashed since; what it held then cannot be looked at any more
    }
    List<ObjectId> objects = write ? new ArrayList<>(known.keySet()) : List.of(object);
    for (ObjectId o : objects) {
      CausalContext wanted = known.getOrDefault(o, CausalContext.EMPTY);
      Causal state = dc.store(keyspace).get(o);
      CausalContext has = state == null ? CausalContext.EMPTY : state.context();
      if (!has.covers(wanted)) {
        throw new Violation(
            o.key().toString(),
            "session "
                + number
                + (write ? " wrote " + object : " read")
                + " at "
                + at
                + ", which does not have what the session knows of "
                + o
                + ": has "
                + has
                + ", known "
                + wanted);
      }
    }
  }

  // ---------------------------------------------------------------- operations

  private Operation operation(CrdtType type, int depth) {
    if (random.nextInt(40) == 0) {
      return new Operation.Clear();
    }
    return switch (type) {
      case PN_COUNTER -> new Operation.Increment(random.nextInt(9) - 3);
      case G_COUNTER -> new Operation.Increment(random.nextInt(5));
      case LWW_REGISTER, MV_REGISTER -> new Operation.Assign(Value.of(random.nextInt(1_000)));
      case EW_FLAG, DW_FLAG -> new Operation.SetFlag(random.nextBoolean());
      case G_SET -> new Operation.Add(element());
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          random.nextInt(3) == 0
              ? new Operation.Remove(element())
              : new Operation.Add(List.of(element(), element()));
      case OR_MAP -> {
        if (random.nextInt(5) == 0) {
          yield new Operation.RemoveFields(List.of("f" + random.nextInt(3)));
        }
        CrdtType[] types = CrdtType.values();
        CrdtType field = types[random.nextInt(types.length - (depth > 1 ? 1 : 0))];
        yield new Operation.UpdateFields(
            List.of(
                new Operation.FieldUpdate(
                    new FieldId("f" + random.nextInt(3), field), operation(field, depth + 1))));
      }
    };
  }

  private Value element() {
    return Value.of("e" + random.nextInt(20));
  }
}
