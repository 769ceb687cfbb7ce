package io.osier.bench.sim.node;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.world.Scheduler;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.ShardGateway;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes the requests of clients and the frames of peers for a partition, by production's {@link
 * ShardGateway} and an {@link OrderedQueue} for each client and each peer. While the disk is full
 * it refuses whatever would have to be written.
 */
final class FrontDoor {
  /** The pause between two turns of a program that a sabotage divides. */
  private static final long APART_NANOS = 100 * Scheduler.MILLI;

  private final Simulation simulation;
  private final SimDc dc;
  private final ShardGateway entrance;
  private final SimNode node;
  private final WatchedStore store;

  /** By client or peer. */
  private final Map<Object, OrderedQueue> lanes = new HashMap<>();

  FrontDoor(Simulation simulation, SimDc dc, SimNode node, WatchedStore store) {
    this.simulation = simulation;
    this.dc = dc;
    this.node = node;
    this.store = store;
    Executor readers = reading -> node.readLater(store.shownNow(reading));
    this.entrance =
        new ShardGateway(!node.unit().isCausal(), store, readers, readers::execute, node);
  }

  /** The refusal of all updates at present; null if updates are taken. */
  Reply.@Nullable Failure closedFor() {
    if (dc.isJoining()) {
      return new Reply.Failure(ErrorCode.UNAVAILABLE, "it joins");
    }
    if (dc.control().isHindered()) {
      return new Reply.Failure(ErrorCode.UNAVAILABLE, "it has just started");
    }
    return dc.isFull() ? new Reply.Failure(ErrorCode.STORE_FULL, "the disk is full") : null;
  }

  /**
   * A client's command.
   *
   * @param client whose commands keep their order; may be their {@link OrderedQueue}
   * @param reply takes the answer
   */
  void command(Object client, Request request, Consumer<Reply> reply) {
    Reply refusal = closedFor();
    if (refusal != null && (isUpdate(request) || isUnread())) {
      reply.accept(refusal);
      return;
    }
    try {
      if (!simulation.options().sabotage().takesForeignKeys()) {
        node.unit().checkHome(request);
      }
      switch (request) {
        case Request.Read r -> entrance.read(r, lane(client), reply);
        case Request.Write w -> entrance.write(judged(w), lane(client), reply);
        case Request.ReadAll r -> entrance.readAll(r, lane(client), reply);
        case Request.WriteAll w -> entrance.writeAll(w, lane(client), reply);
        case Request.Evaluate e -> evaluate(e, lane(client), reply);
        case Request.Transact t -> entrance.transact(t, t, lane(client), reply);
        case Request.Repeat r -> entrance.transact(r.step(), r, lane(client), reply);
        case ProgressRequest.Through t -> entrance.ask(t, reply);
        case ScanRequest s -> entrance.known(s, reply);
        case Request.Ping p -> reply.accept(new Reply.Pong());
        default -> throw new IllegalArgumentException("a session asks no such thing: " + request);
      }
    } catch (OsierException e) {
      reply.accept(new Reply.Failure(e.code(), e.reason()));
    }
  }

  /** Whether this datacenter does not know yet whether it still holds the keyspace. */
  private boolean isUnread() {
    return dc.control().isUnsure() && !node.unit().policy().replicas().isEmpty();
  }

  private void evaluate(Request.Evaluate program, OrderedQueue lane, Consumer<Reply> reply) {
    List<Request.Evaluate> turns = simulation.options().sabotage().turns(program);
    for (int i = 0; i < turns.size(); i++) {
      Request.Evaluate turn = turns.get(i);
      Set<Key> keys = new LinkedHashSet<>();
      turn.calls().forEach(call -> keys.addAll(call.keys()));
      Consumer<Reply> hears = i == turns.size() - 1 ? reply : unheard -> {};
      if (i == 0) {
        entrance.evaluate(turn, keys, lane, hears);
        continue;
      }
      simulation
          .scheduler()
          .in(
              i * APART_NANOS,
              () -> {
                if (dc.isCurrent(node)) {
                  entrance.evaluate(turn, keys, lane, hears);
                }
              });
    }
  }

  /**
   * Drops the condition of an update if it holds at present (a sabotage: it is judged too early).
   */
  private Request.Write judged(Request.Write write) {
    if (write.condition().isEmpty() || !simulation.options().sabotage().judgesAtOnce()) {
      return write;
    }
    Request.Condition condition = write.condition().get();
    CrdtState state = store.get(new ObjectId(write.key(), write.type()));
    CrdtState there = state == null ? CrdtState.bottom(write.type()) : state;
    return condition.holds(there.read(condition.asked()))
        ? new Request.Write(
            write.keyspace(),
            write.key(),
            write.type(),
            write.operation(),
            write.after(),
            write.waitMillis())
        : write;
  }

  /** A peer's frame. */
  void received(Input.FromPeer input) {
    if (dc.isFull() && brings(input.frame())) {
      return; // as if the network had lost it: it comes again when there is room
    }
    entrance.received(input, lane(input.peer().dc()));
  }

  private OrderedQueue lane(Object from) {
    if (simulation.options().sabotage().overtakes()) {
      return new OrderedQueue();
    }
    return from instanceof OrderedQueue own
        ? own
        : lanes.computeIfAbsent(from, f -> new OrderedQueue());
  }

  private static boolean brings(Frame frame) {
    return frame instanceof Frame.Updates
        || frame instanceof Frame.States
        || frame instanceof Frame.StatesAndOffer
        || frame instanceof Frame.Verified;
  }

  /** Whether a request may change something. */
  private static boolean isUpdate(Request request) {
    if (request instanceof Request.Repeat r) {
      return isUpdate(r.step());
    }
    if (request instanceof Request.Evaluate e) {
      return e.isUpdate();
    }
    return request instanceof Request.Write
        || request instanceof Request.WriteAll
        || (request instanceof Request.Transact t
            && ((t.end() == Request.End.COMMIT && t.begin().isEmpty()) || !t.updates().isEmpty()));
  }
}
