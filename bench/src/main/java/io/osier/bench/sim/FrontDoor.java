package io.osier.bench.sim;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.crdt.Causal;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Reads;
import io.osier.datacenter.server.Lane;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is in front of a partition, as production has it: reads that need no turn are answered from
 * what is durable; what must be read from the disk first waits in the {@link Lane} of its
 * connection or stream; a full disk lets nothing in that would have to be written.
 */
final class FrontDoor {
  private final Simulation simulation;
  private final SimDc dc;
  private final SimNode node;
  private final WatchedStore store;

  /** By client or peer. */
  private final Map<Object, Lane> lanes = new HashMap<>();

  FrontDoor(Simulation simulation, SimDc dc, SimNode node, WatchedStore store) {
    this.simulation = simulation;
    this.dc = dc;
    this.node = node;
    this.store = store;
  }

  /**
   * A client's command.
   *
   * @param client whose commands keep their order; may be their {@link Lane}
   */
  void command(Object client, Request request, WitnessedMachine.ReplyListener listener) {
    if (dc.isJoining() && isUpdate(request)) {
      listener.made(node, new Reply.Failure(ErrorCode.UNAVAILABLE, "it joins")).run();
    } else if (dc.isFull() && isUpdate(request)) {
      listener.made(node, new Reply.Failure(ErrorCode.STORE_FULL, "the disk is full")).run();
    } else if (!(request instanceof Request.Read read) || !answered(read, listener)) {
      submit(client, keys(request), () -> node.offer(request, listener));
    }
  }

  /** A peer's frame. */
  void received(Input.FromPeer input) {
    if (dc.isFull() && brings(input.frame())) {
      return; // as if the network had lost it: it comes again when there is room
    }
    submit(input.peer().dc(), keys(input.frame()), () -> node.offer(input));
  }

  private void submit(Object from, List<Key> keys, Lane.Turn turn) {
    List<Key> cold = new ArrayList<>();
    for (Key key : keys) {
      if (!store.isCached(key)) {
        cold.add(key);
      }
    }
    if (simulation.options().sabotage().overtakes()) {
      submitUnordered(cold.isEmpty(), turn);
      return;
    }
    Lane lane = from instanceof Lane own ? own : lanes.computeIfAbsent(from, f -> new Lane());
    if (cold.isEmpty()) {
      lane.submit(turn);
    } else {
      lane.submit(() -> cold.forEach(store::prefetch), node::readLater, turn);
    }
  }

  private void submitUnordered(boolean atHand, Lane.Turn turn) {
    if (atHand) {
      turn.take().run();
    } else {
      node.readLater(() -> turn.take().run());
    }
  }

  /** Answers a read for which a session need not wait, from what is durable. */
  private boolean answered(Request.Read read, WitnessedMachine.ReplyListener listener) {
    boolean session = node.unit().policy().consistency() == KeyspacePolicy.Consistency.SESSION;
    boolean direct =
        read.after().isEmpty()
            && !read.ordered()
            && node.isReady()
            && (session || store.showsTogether());
    Optional<List<Causal>> states = direct ? store.durable(read.key()) : Optional.empty();
    if (states.isEmpty()) {
      return false;
    }
    read.type().ifPresent(type -> store.shows(new ObjectId(read.key(), type), states.get()));
    Reply reply;
    try {
      reply = Reads.of(states.get(), read);
    } catch (OsierException e) {
      reply = new Reply.Failure(e.code(), e.getMessage());
    }
    Runnable leaves = listener.made(node, reply);
    store.begin();
    leaves.run();
    return true;
  }

  private static boolean brings(Frame frame) {
    return frame instanceof Frame.Updates
        || frame instanceof Frame.States
        || frame instanceof Frame.Verified;
  }

  private static List<Key> keys(Request request) {
    return switch (request) {
      case Request.Read r -> List.of(r.key());
      case Request.Write w -> List.of(w.key());
      case Request.Repeat r -> keys(r.step());
      case Request.Transact t -> {
        List<Key> keys = new ArrayList<>();
        t.updates().forEach(u -> keys.add(u.key()));
        t.reads().forEach(r -> keys.add(r.key()));
        yield keys;
      }
      default -> List.of();
    };
  }

  /** What the frame's handling reads. */
  private static List<Key> keys(Frame frame) {
    return switch (frame) {
      case Frame.Updates u -> keys(u.shipments());
      case Frame.States s -> keys(s.shipments());
      case Frame.Verified v -> keys(v.shipments());
      case Frame.Verify v -> v.objects().stream().map(k -> k.object().key()).toList();
      case Frame.Fetch f -> f.objects().stream().map(ObjectId::key).toList();
      default -> List.of();
    };
  }

  private static List<Key> keys(List<Shipment> shipments) {
    return shipments.stream().map(s -> s.object().key()).toList();
  }

  /** Whether a request may change something. */
  private static boolean isUpdate(Request request) {
    if (request instanceof Request.Repeat r) {
      return isUpdate(r.step());
    }
    return request instanceof Request.Write
        || (request instanceof Request.Transact t
            && ((t.end() == Request.End.COMMIT && t.begin().isEmpty()) || !t.updates().isEmpty()));
  }
}
