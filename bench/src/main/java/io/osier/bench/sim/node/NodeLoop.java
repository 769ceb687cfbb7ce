package io.osier.bench.sim.node;

import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.shard.agent.Combiner;
import io.osier.datacenter.shard.agent.Inbox;
import io.osier.datacenter.shard.agent.PartitionAgent;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.Time;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * Drives a partition as its thread does in production: handles inputs at once, or late while the
 * datacenter is slow, and ticks the partition when it asks for that.
 */
final class NodeLoop implements PartitionAgent.Driver {
  private static final int INBOX_MAX = 16_384;

  /** More ticks than this at one moment mean that the partition asks for ticks without end. */
  private static final int TICKS_AT_ONCE_MAX = 10_000;

  /** A datacenter's time. */
  private record DcTime(SimDc dc) implements Time {
    @Override
    public long nanos() {
      return dc.now().nanos();
    }

    @Override
    public Now now() {
      return dc.now();
    }

    @Override
    public long millis() {
      return dc.now().millis();
    }
  }

  private final Scheduler scheduler;
  private final SimDc dc;
  private final SimNode node;
  private final Inbox inbox = new Inbox(INBOX_MAX);
  private final PartitionAgent agent;
  private long plannedNanos = Long.MAX_VALUE;

  /** Whether a step is planned because an input waits. */
  private boolean woken;

  private long tickNanos;
  private int ticks;

  /**
   * Of a partition that has done nothing yet.
   *
   * @param ports the partition, and where its outputs go
   */
  NodeLoop(Scheduler scheduler, SimDc dc, SimNode node, PartitionPorts ports) {
    this.scheduler = scheduler;
    this.dc = dc;
    this.node = node;
    boolean combines = dc.isEmbedded() && !node.unit().isCausal();
    Optional<Combiner> combiner =
        combines
            ? Optional.of(
                new Combiner(
                    node.store(),
                    node.unit().policy(),
                    scheduler::nanos,
                    dueNanos -> planFor(dueNanos)))
            : Optional.empty();
    this.agent = new PartitionAgent(ports, inbox, new DcTime(dc), combiner, dc.isEmbedded(), this);
  }

  /** Whether no input waits. */
  boolean isIdle() {
    return inbox.isEmpty() && node.mayGoOn();
  }

  PartitionAgent agent() {
    return agent;
  }

  /** Puts an input into the inbox; the result must be run to have it handled. */
  Runnable offer(Input input) {
    inbox.add(input);
    return this::wake;
  }

  /** As {@link #offer(Input)}, with a client's command. */
  Runnable offer(Request request, Consumer<Reply> asked) {
    if (inbox.offer(request, asked) != Inbox.Offer.TAKEN) {
      throw new Violation("", "%s takes no command", node);
    }
    return this::wake;
  }

  /** Lets the partition absorb the updates of a key that were acknowledged in front of it. */
  void absorb(Key key) {
    stepped(() -> agent.stepAbsorbing(key));
    plan();
  }

  /** Lets the partition absorb all updates that were acknowledged in front of it. */
  void absorbAll() {
    if (agent.isHolding()) {
      stepped(agent::stepAbsorbingAll);
      plan();
    }
  }

  /** Handles the waiting inputs: at once, or later while the datacenter is slow. */
  void wake() {
    if (dc.slowNanos() == 0 && !woken) {
      step();
    } else if (!woken) {
      woken = true;
      scheduler.in(
          dc.slowNanos(),
          () -> {
            woken = false;
            if (node.isAlive()) {
              step();
            }
          });
    }
  }

  /** Handles inputs until none waits, or until the store has no room for more records. */
  private void step() {
    if (!node.mayGoOn()) {
      return; // its thread waits until the store has room for what it has done; then it is woken
    }
    do {
      stepped(agent::step);
    } while (!inbox.isEmpty() && node.mayGoOn());
    plan();
  }

  /** Takes a step, and then delivers the replies, whose receivers may call again. */
  private void stepped(IntSupplier step) {
    try {
      var unused = step.getAsInt();
    } catch (IllegalStateException e) {
      RuntimeException first = e.getCause() instanceof Violation v ? v : e;
      scheduler.fail(first); // before what else waits has its turn, and fails for it
      throw first;
    }
    if (!dc.hasDisk()) {
      node.store().takeRecorded().run(); // as durable as they get
    }
    agent.takeReplies().tell();
    node.hasStepped();
  }

  /** Plans the next tick. */
  void plan() {
    planFor(agent.dueNanos());
  }

  private void planFor(long next) {
    if (next == Long.MAX_VALUE || Math.max(next, scheduler.nanos()) >= plannedNanos) {
      return;
    }
    long at = Math.max(next, scheduler.nanos());
    plannedNanos = at;
    scheduler.in(
        at - scheduler.nanos(),
        () -> {
          if (node.isAlive() && plannedNanos == at) {
            plannedNanos = Long.MAX_VALUE;
            tick();
          }
        });
  }

  private void tick() {
    if (agent.dueNanos() > scheduler.nanos()) {
      plan();
      return;
    }
    ticks = tickNanos == scheduler.nanos() ? ticks + 1 : 0;
    tickNanos = scheduler.nanos();
    if (ticks > TICKS_AT_ONCE_MAX) {
      throw new Violation("", "%s wants ticks without end at one time", node);
    }
    wake();
  }

  // ---------------------------------------------------------------- for its agent

  @Override
  public void groupIsOut() {}

  /** Not at once: a step may be under way. */
  @Override
  public void hasWork() {
    scheduler.in(
        0,
        () -> {
          if (node.isAlive()) {
            wake();
          }
        });
  }

  /** Ends the run: a check or the network has thrown an exception. */
  @Override
  public void couldNotLeave(Effects.Output output, RuntimeException cause) {
    scheduler.fail(cause);
  }
}
