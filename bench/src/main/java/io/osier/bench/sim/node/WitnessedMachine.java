package io.osier.bench.sim.node;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.world.Trace;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A partition, as its agent drives it, with a witness of what comes out of each input: the records
 * must be the changes that its store saw, and each reply is shown to who asked while the objects
 * are still as it shows them.
 */
final class WitnessedMachine implements Machine {
  /** How long handling one shipment takes, as the partition is told. */
  private static final long SHIPMENT_NANOS = 20_000;

  /** Hears of the reply to a command when it is made; the result is run when it may go. */
  public interface ReplyListener {
    /**
     * The reply is made.
     *
     * @param at null if that one does not hold the keyspace, and answers without a holder: from a
     *     copy, which shows what the answer says that it has seen, or by a refusal
     */
    Runnable made(@Nullable SimNode at, Reply reply);

    /** Returns a listener that also shows the reply to another one; null for no other one. */
    default ReplyListener and(@Nullable Consumer<Reply> other) {
      return other == null
          ? this
          : (at, reply) -> {
            other.accept(reply);
            return made(at, reply);
          };
    }
  }

  /** A command under way, whose listener hears of the reply when it is made and when it leaves. */
  private static final class Asked implements Consumer<Reply> {
    private final WitnessedMachine machine;
    private final ReplyListener listener;

    /** Whether the command is in the partition's inbox. */
    private boolean offered;

    /** Lets the reply leave; null before it is made. */
    private @Nullable Runnable then;

    Asked(WitnessedMachine machine, ReplyListener listener) {
      this.machine = machine;
      this.listener = listener;
    }

    @Override
    public void accept(Reply reply) {
      if (offered) {
        machine.leaves();
        requireNonNull(then, "a reply goes after it was made").run();
        return;
      }
      Runnable leaves = listener.made(machine.node, reply);
      machine.store.begin();
      leaves.run();
    }
  }

  private final Simulation simulation;
  private final SimNode node;
  private final Partition partition;
  private final WatchedStore store;

  /** The commands in the inbox, in their order. */
  private final ArrayDeque<Asked> offered = new ArrayDeque<>();

  private final Map<Long, Asked> asked = new HashMap<>();

  /** For each output that has not left, in order: how many records must be durable before. */
  private final ArrayDeque<Long> recordsBefore = new ArrayDeque<>();

  // The effects of the present batch so far.
  private List<Effects.Recorded> records = new ArrayList<>();
  private Optional<PartitionProgress> progress = Optional.empty();
  private List<Effects.Output> whenDurable = new ArrayList<>();
  private List<Effects.Report> atOnce = new ArrayList<>();

  WitnessedMachine(Simulation simulation, SimNode node, Partition partition, WatchedStore store) {
    this.simulation = simulation;
    this.node = node;
    this.partition = partition;
    this.store = store;
  }

  /** Returns what takes the reply to a command, for a listener. */
  Consumer<Reply> asked(ReplyListener listener) {
    return new Asked(this, listener);
  }

  /** As {@link #asked(ReplyListener)}, for who only wants the reply; an own one stays as it is. */
  Consumer<Reply> asked(Consumer<Reply> reply) {
    return reply instanceof Asked ? reply : asked((at, made) -> () -> reply.accept(made));
  }

  /** Refuses a command, since the keyspace was dropped. */
  void refuse(Consumer<Reply> command) {
    Reply dropped = new Reply.Failure(ErrorCode.UNAVAILABLE, "the keyspace was dropped here");
    ((Asked) command).listener.made(null, dropped).run();
  }

  /** Refuses all commands that were not answered. */
  void refuseAll() {
    List<Asked> left = new ArrayList<>(offered);
    left.addAll(asked.values());
    offered.clear();
    asked.clear();
    left.forEach(this::refuse);
  }

  /** A command of {@link #asked} is in the inbox. */
  void offered(Consumer<Reply> command) {
    Asked one = (Asked) command;
    one.offered = true;
    offered.add(one);
  }

  @Override
  public void on(Input input, Now now) {
    if (input instanceof Input.Command c) {
      asked.put(c.ticket(), offered.remove());
    } else if (simulation.trace().keepsEvents() && input instanceof Input.FromPeer f) {
      traceArrival(f);
    }
    store.begin();
    if (input instanceof Input.Absorbed a) {
      absorb(a, now);
      return;
    }
    partition.on(input, now);
    witness(partition.takeEffects()); // before the batch's next input changes what is answered
  }

  private void absorb(Input.Absorbed input, Now now) {
    partition.on(simulation.options().sabotage().absorbed(input), now);
    Effects effects = partition.takeEffects();
    store.absorbs(input);
    witness(effects);
    node.ahead().absorbed(input, effects.records());
  }

  @Override
  public Effects takeEffects() {
    Effects batch = new Effects(records, progress, whenDurable, atOnce);
    records = new ArrayList<>();
    progress = Optional.empty();
    whenDurable = new ArrayList<>();
    atOnce = new ArrayList<>();
    return batch;
  }

  private void witness(Effects effects) {
    store.witness(effects.records());
    for (Effects.Output output : effects.whenDurable()) {
      recordsBefore.add(store.recorded());
      switch (output) {
        case Effects.ToClient a -> made(a);
        case Effects.Visible v -> {}
        case Effects.Send s -> {
          if (s.frame() instanceof Frame.Updates u) {
            u.shipments()
                .forEach(m -> simulation.checks(node.unit()).sla().shipped(s.to().dc(), m));
          }
        }
      }
    }
    addAll(records, effects.records());
    progress = effects.progress().isPresent() ? effects.progress() : progress;
    addAll(whenDurable, effects.whenDurable());
    addAll(atOnce, effects.atOnce());
  }

  /** Adds nothing cheaply, since most inputs have few effects. */
  private static <T> void addAll(List<T> to, List<? extends T> more) {
    if (!more.isEmpty()) {
      to.addAll(more);
    }
  }

  /** The next output leaves: all that was recorded before it must be durable (invariant I5). */
  void leaves() {
    long before = recordsBefore.remove();
    if (node.hasDisk() && store.durable() < before) {
      throw new Violation(
          "",
          "%s lets something leave after %d records, of which %d are durable",
          node,
          before,
          store.durable());
    }
  }

  private void made(Effects.ToClient answer) {
    Asked command = asked.remove(answer.ticket());
    if (command == null) {
      throw new Violation("", "%s answers what is not open: %s", node, answer);
    }
    command.then = command.listener.made(node, answer.reply());
  }

  @Override
  public long nextTickNanos() {
    return partition.nextTickNanos();
  }

  @Override
  public boolean isReady() {
    return partition.isReady();
  }

  @Override
  public boolean isDrained() {
    return partition.isDrained();
  }

  @Override
  public void handled(int shipments, long nanos) {
    partition.handled(shipments, shipments * SHIPMENT_NANOS);
  }

  private void traceArrival(Input.FromPeer from) {
    Trace trace = simulation.trace();
    if (from.frame() instanceof Frame.Updates u) {
      for (Shipment s : u.shipments()) {
        trace.about(
            node.unit(),
            s.object(),
            "%s gets %s through %d, needs %s, from %s in %s %d:%d",
            node.self(),
            s.content().isFull() ? "state" : "delta after " + s.predecessor(),
            s.last(),
            s.needs(),
            from.peer(),
            u.kind(),
            u.epoch(),
            u.sequence());
      }
    } else if (from.frame() instanceof Frame.States t) {
      for (Shipment s : t.shipments()) {
        trace.about(
            node.unit(), s.object(), "%s gets a healing state from %s", node.self(), from.peer());
      }
    }
  }
}
