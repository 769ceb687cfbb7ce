package io.osier.datacenter.shard.agent;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.partition.machine.Now;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The loop around one partition, step by step: takes what waits in batches, carries out each
 * batch's effects, its records as one group, and lets replies and frames go when the group is
 * durable. Knows neither threads nor clocks: whoever drives it calls {@link #step} when something
 * has come in or {@link #dueNanos} has come, one caller at a time, and then, holding no lock,
 * {@link PendingReplies#tell} of what {@link #takeReplies} gives.
 *
 * <p>A machine that throws has broken an invariant: nothing of the batch leaves, and the driver
 * must not go on but {@link #abandon} the rest.
 */
public final class PartitionAgent {
  /** So much of each kind is done in one step. */
  private static final int BATCH = 256;

  /**
   * With more than this gathered a step takes no further command: a small one that appends to a
   * large string makes all of it anew, and nothing that a step has made can go before its end.
   */
  private static final long BATCH_BYTES_MAX = 16 << 20;

  /** With more frames of peers waiting than this a partition is behind. */
  private static final int WAITING_EVENTS = 2;

  private static final int SUMMARY_MAX = 1_000;

  /** Who drives an agent. Called in any thread, also while a step is done in another one. */
  public interface Driver {
    /** A group is durable and out: {@link #isDrained} may change with the next step. */
    void groupIsOut();

    /**
     * A frame or an answer did not leave, because whoever takes it has thrown; the others did, and
     * nothing is tried again.
     */
    void couldNotLeave(Effects.Output output, RuntimeException cause);

    /** Something has come into the inbox by what was made of an answer. */
    default void hasWork() {}
  }

  private final PartitionPorts ports;
  private final Machine machine;
  private final Inbox inbox;
  private final Time time;
  private final Optional<Combiner> combiner;
  private final Driver driver;

  private final BatchOutputs outputs;
  private long tickets;

  /** The ticket of the command that is being handled; 0 if none is. */
  private long inHand;

  private boolean flushed;

  /** When the last step saw the machine's next tick due; empty if it took an input after that. */
  private OptionalLong tickNanos = OptionalLong.empty();

  private volatile boolean drained;

  /**
   * @param combiner what acknowledges in front of the partition, if anything does
   * @param tellsApart whether answers that are ready within a step are left to {@link
   *     PendingReplies}, because they run callers' code and the driver holds a lock
   * @param driver hears of what happens outside of its calls
   */
  public PartitionAgent(
      PartitionPorts ports,
      Inbox inbox,
      Time time,
      Optional<Combiner> combiner,
      boolean tellsApart,
      Driver driver) {
    this.ports = ports;
    this.machine = ports.machine();
    this.inbox = inbox;
    this.time = time;
    this.combiner = combiner;
    this.driver = driver;
    this.outputs = new BatchOutputs(ports, time, tellsApart, driver, this::comesBack);
  }

  /**
   * Does what waits and what is due, up to a batch.
   *
   * @return how much that was; 0 if there was nothing to do
   */
  public int step() {
    return step(this::takeDue);
  }

  /** As {@link #step}, but leaves to the combiner what it holds. */
  int stepLeaving() {
    return step(List::of);
  }

  /** As {@link #step}, and takes what is held of a key, due or not. */
  public int stepAbsorbing(Key key) {
    return step(() -> combiner.map(c -> c.take(key)).orElse(List.of()));
  }

  /** As {@link #step}, and takes all that is held, due or not. */
  public int stepAbsorbingAll() {
    return step(() -> combiner.map(Combiner::takeAll).orElse(List.of()));
  }

  private int step(Supplier<List<Input.Absorbed.Update>> taker) {
    boolean closing = !inbox.isOpen();
    drained = false;
    int handled = absorb(taker.get()) + events() + commands() + urgent();
    Now now = time.now();
    long dueNanos = machine.nextTickNanos();
    tickNanos = OptionalLong.of(dueNanos);
    if (dueNanos <= now.nanos()) {
      on(new Input.Tick(), now);
      handled++;
    }
    if (closing && (handled > 0 || !flushed)) {
      // After the commands, and again when one that had to wait is done late: what a command
      // leaves dirty now has no deadline that will be met.
      flushed = true;
      on(new Input.Flush(), now);
      handled++;
    }
    if (handled > 0) {
      outputs.carryOut(machine.takeEffects(), machine.takeWaited());
    }
    drained =
        closing
            && outputs.areOut()
            && combiner.map(c -> !c.isHolding()).orElse(true)
            && machine.isDrained();
    return handled;
  }

  /** When {@link #step} has something to do, unless something comes in. */
  public long dueNanos() {
    if (!inbox.isOpen() && !flushed) {
      return Long.MIN_VALUE;
    }
    // Whoever asks later asks anew: what partitions share changes without an input.
    long tick = tickNanos.isPresent() ? tickNanos.getAsLong() : machine.nextTickNanos();
    tickNanos = OptionalLong.empty();
    return combiner.isPresent() ? Math.min(tick, combiner.get().dueNanos()) : tick;
  }

  /**
   * Whether everything that was taken before the inbox was closed is shipped and answered, or will
   * be answered by those who make long answers. For any thread.
   */
  public boolean isDrained() {
    // In this order: a step withdraws "drained" before it takes anything.
    return inbox.isEmpty() && drained;
  }

  private List<Input.Absorbed.Update> takeDue() {
    if (combiner.isEmpty()) {
      return List.of();
    }
    return inbox.isOpen() ? combiner.get().takeDue(time.nanos()) : combiner.get().takeAll();
  }

  // ---------------------------------------------------------------- what is acknowledged in front

  /**
   * Acknowledges an update in front of the partition, if that is possible. For any thread.
   *
   * @param operation within the keyspace's limits
   */
  public Combiner.Outcome acknowledge(Key key, CrdtType type, Operation operation) {
    return combiner.isPresent() && Combiner.isCombinable(type, operation) && machine.isReady()
        ? combiner.get().add(key, type, operation)
        : Combiner.Outcome.REFUSED;
  }

  /** Whether something is acknowledged of a key that the partition does not have. */
  public boolean isHolding(Key key) {
    return combiner.isPresent() && combiner.get().isHolding(key);
  }

  /** As {@link #isHolding(Key)}, of any key. */
  public boolean isHolding() {
    return combiner.isPresent() && combiner.get().isHolding();
  }

  /** What acknowledges in front of the partition, if anything does. */
  Optional<Combiner> combiner() {
    return combiner;
  }

  /** Whether more is acknowledged, or has come, than the partition does in time. */
  boolean isBehind() {
    return combiner.isPresent()
        && (combiner.get().isLate(time.nanos()) || inbox.events() > WAITING_EVENTS);
  }

  // ---------------------------------------------------------------- in

  private int absorb(List<Input.Absorbed.Update> updates) {
    if (updates.isEmpty()) {
      return 0;
    }
    on(new Input.Absorbed(updates), time.now());
    combiner.ifPresent(Combiner::absorbed);
    return updates.size();
  }

  private int events() {
    int handled = 0;
    Inbox.Work work;
    while (handled < BATCH && (work = inbox.pollEvent()) != null) {
      handle(work);
      handled++;
    }
    return handled;
  }

  private int commands() {
    int handled = 0;
    Inbox.Work work;
    while (handled < BATCH
        && machine.gatheredBytes() <= BATCH_BYTES_MAX
        && (work = inbox.pollCommand()) != null) {
      handled += urgent(); // what came before it
      handle(work);
      handled++;
    }
    return handled;
  }

  private int urgent() {
    int handled = 0;
    Inbox.Work work;
    while ((work = inbox.pollUrgent()) != null) {
      handle(work);
      handled++;
    }
    return handled;
  }

  /** A long answer has become one that the partition is to hear of first. */
  private void comesBack(Input input) {
    inbox.addFirst(input);
    driver.hasWork();
  }

  private void handle(Inbox.Work work) {
    Now now = time.now();
    switch (work) {
      case Inbox.Command c -> {
        long ticket = ++tickets;
        outputs.await(ticket, c);
        if (c.reply() instanceof Phased p) {
          p.taken(now.nanos());
        }
        inHand = ticket;
        on(new Input.Command(ticket, c.request()), now);
        inHand = 0;
      }
      case Inbox.Event e -> {
        on(e.input(), now);
        if (e.input() instanceof Input.FromPeer f && f.frame() instanceof Frame.Updates u) {
          machine.handled(u.shipments().size(), time.nanos() - now.nanos());
        }
      }
      case Inbox.Inspection i -> {
        long ticket = ++tickets;
        outputs.await(ticket, i.report());
        on(new Input.Inspect(ticket, i.hotLimit(), i.about()), now);
      }
    }
  }

  private void on(Input input, Now now) {
    tickNanos = OptionalLong.empty();
    try {
      machine.on(input, now);
    } catch (OsierException e) {
      // With its own code, and with what helps in front.
      e.addSuppressed(new IllegalStateException("at " + summary(input)));
      throw e;
    } catch (RuntimeException e) {
      throw new IllegalStateException("at " + summary(input), e);
    }
  }

  /** An input for the log, which must not be flooded by a large value. */
  private static String summary(Input input) {
    String text = input.toString();
    return text.length() <= SUMMARY_MAX ? text : text.substring(0, SUMMARY_MAX) + "…";
  }

  // ---------------------------------------------------------------- out

  /**
   * Changes when something else may be read than before. Means nothing where no journal keeps
   * records. For any thread: before it reads.
   */
  long recorded() {
    return outputs.recorded();
  }

  /** Takes whom the last step has something to tell. */
  public PendingReplies takeReplies() {
    return outputs.takeReplies();
  }

  // ---------------------------------------------------------------- the end

  /**
   * Answers whom the partition will not answer any more: the commands that it has taken and not
   * answered, and those whose answers were about to leave with the batch that failed. No step may
   * follow.
   *
   * @param failure what the last step has thrown, or null if it stops for no such reason
   */
  void abandon(@Nullable Throwable failure) {
    Reply.Failure unknown =
        new Reply.Failure(
            ErrorCode.TIMEOUT,
            ports.name() + " failed at this request, which may have been done: " + failure);
    Reply.Failure refused = refusal(failure);
    outputs.abandon(
        machine.takeEffects(),
        unknown,
        ticket -> failure != null && ticket == inHand ? unknown : refused,
        gone(failure));
  }

  /** Answers what no step will take from the inbox any more. For any thread. */
  void answerWhatIsLeft(@Nullable Throwable failure) {
    Inbox.Work work;
    while ((work = inbox.pollCommand()) != null || (work = inbox.pollEvent()) != null) {
      switch (work) {
        case Inbox.Command c -> c.accept(refusal(failure));
        case Inbox.Inspection i -> i.report().completeExceptionally(gone(failure));
        case Inbox.Event e -> {}
      }
    }
  }

  private Reply.Failure refusal(@Nullable Throwable failure) {
    OsierException gone = gone(failure);
    return new Reply.Failure(gone.code(), gone.reason());
  }

  private OsierException gone(@Nullable Throwable failure) {
    Reply.Failure closed =
        inbox
            .closed()
            .orElse(new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
    return failure == null
        ? new OsierException(closed.code(), closed.message())
        : new OsierException(
            ErrorCode.INTERNAL, ports.name() + " has failed; nothing was done", failure);
  }
}
