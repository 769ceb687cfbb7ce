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
 * What the thread of a partition does in production: it takes what has come in, at once or late if
 * the datacenter is slow, and ticks when something is due.
 */
final class NodeLoop implements PartitionAgent.Driver {
  private static final int INBOX_MAX = 16_384;

  /** More ticks than this at one time are a machine that cannot stop. */
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

  /** Whether a step is planned, because something has come in. */
  private boolean woken;

  private long tickNanos;
  private int ticks;

  /**
   * Of a partition that has done nothing yet.
   *
   * @param ports the partition, and where what leaves it goes
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

  /** Whether nothing waits to be handled. */
  boolean isIdle() {
    return inbox.isEmpty() && node.mayGoOn();
  }

  PartitionAgent agent() {
    return agent;
  }

  /** Takes an input; what is returned sees to it that it is handled. */
  Runnable offer(Input input) {
    inbox.add(input);
    return this::wake;
  }

  /** As the other one, of a command. */
  Runnable offer(Request request, Consumer<Reply> asked) {
    if (inbox.offer(request, asked) != Inbox.Offer.TAKEN) {
      throw new Violation("", "%s takes no command", node);
    }
    return this::wake;
  }

  /** Has the partition take in what is held of a key in front of it. */
  void absorb(Key key) {
    stepped(() -> agent.stepAbsorbing(key));
    plan();
  }

  /** Has the partition take in all that is held in front of it. */
  void absorbAll() {
    if (agent.isHolding()) {
      stepped(agent::stepAbsorbingAll);
      plan();
    }
  }

  /** Sees to it that what waits is done: at once, or later if the datacenter is slow. */
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

  /** What the thread of a partition does when it is woken. */
  private void step() {
    if (!node.mayGoOn()) {
      return; // its thread waits until the store has room for what it has done; then it is woken
    }
    do {
      stepped(agent::step);
    } while (!inbox.isEmpty() && node.mayGoOn());
    plan();
  }

  /** Takes a step, and then tells those whom it has something to tell: they may call again. */
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

  /** Sees to it that the next tick comes in time. */
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

  /** What a check or the network throws ends the run. */
  @Override
  public void couldNotLeave(Effects.Output output, RuntimeException cause) {
    scheduler.fail(cause);
  }
}
