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
 * The loop around one partition, step by step: takes waiting inputs in batches, carries out each
 * batch's effects, its records as one group, and releases replies and frames when the group is
 * durable. Knows neither threads nor clocks. Its driver calls {@link #step} when an input has come
 * or {@link #dueNanos} has passed, one caller at a time, and then, holding no lock, {@link
 * PendingReplies#tell} of {@link #takeReplies}.
 *
 * <p>A machine that throws has broken an invariant: nothing of the batch leaves, and the driver
 * must not go on but {@link #abandon} the rest.
 */
public final class PartitionAgent {
  /** The most commands, and the most events, that one step takes. */
  private static final int BATCH = 256;

  /**
   * A step that has gathered more than this takes no further command. A small append to a large
   * string makes all of it anew, and nothing that a step has made is freed before its end.
   */
  private static final long BATCH_BYTES_MAX = 16 << 20;

  /** A partition is behind if more frames of peers than this wait. */
  private static final int WAITING_EVENTS = 2;

  private static final int SUMMARY_MAX = 1_000;

  /**
   * Drives an agent. Its methods are called in any thread, also while another thread executes a
   * step.
   */
  public interface Driver {
    /**
     * A group is durable and its outputs have left: {@link #isDrained} may change with the next
     * step.
     */
    void groupIsOut();

    /**
     * An output did not leave, because its receiver has thrown; the others did leave, and nothing
     * is tried again.
     */
    void couldNotLeave(Effects.Output output, RuntimeException cause);

    /** An input has come into the inbox from the making of an answer. */
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

  /** The ticket of the command that is being handled; 0 if there is none. */
  private long inHand;

  private boolean flushed;

  /** The machine's next tick as of the last step; empty if the machine has taken an input since. */
  private OptionalLong tickNanos = OptionalLong.empty();

  private volatile boolean drained;

  /**
   * @param combiner acknowledges updates in front of the partition, if anything does
   * @param tellsApart whether answers that are ready within a step are left to {@link
   *     PendingReplies}, because they run callers' code and the driver holds a lock
   * @param driver is told what happens outside of its calls
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
   * Handles what waits and what is due, up to a batch.
   *
   * @return how many inputs were handled; 0 if there was nothing to do
   */
  public int step() {
    return step(this::takeDue);
  }

  /** As {@link #step}, but leaves the combiner's updates in it. */
  int stepLeaving() {
    return step(List::of);
  }

  /** As {@link #step}, and absorbs the combiner's updates of a key, due or not. */
  public int stepAbsorbing(Key key) {
    return step(() -> combiner.map(c -> c.take(key)).orElse(List.of()));
  }

  /** As {@link #step}, and absorbs all of the combiner's updates, due or not. */
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
      // After the commands, and again when a command that had to wait is executed late: nobody will
      // wait until updates left dirty now are due.
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

  /** Returns when {@link #step} has something to do, unless an input comes before that. */
  public long dueNanos() {
    if (!inbox.isOpen() && !flushed) {
      return Long.MIN_VALUE;
    }
    // The remembered tick is used once: what partitions share may change without an input.
    long tick = tickNanos.isPresent() ? tickNanos.getAsLong() : machine.nextTickNanos();
    tickNanos = OptionalLong.empty();
    return combiner.isPresent() ? Math.min(tick, combiner.get().dueNanos()) : tick;
  }

  /**
   * Returns whether everything taken before the inbox was closed is shipped and answered, or left
   * to the threads that make long answers. For any thread.
   */
  public boolean isDrained() {
    // In this order: a step clears "drained" before it takes anything.
    return inbox.isEmpty() && drained;
  }

  private List<Input.Absorbed.Update> takeDue() {
    if (combiner.isEmpty()) {
      return List.of();
    }
    return inbox.isOpen() ? combiner.get().takeDue(time.nanos()) : combiner.get().takeAll();
  }

  // ---------------------------------------------------------------- acknowledged in front

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

  /** Returns whether updates of a key are acknowledged that the partition does not have yet. */
  public boolean isHolding(Key key) {
    return combiner.isPresent() && combiner.get().isHolding(key);
  }

  /** As {@link #isHolding(Key)}, for any key. */
  public boolean isHolding() {
    return combiner.isPresent() && combiner.get().isHolding();
  }

  /** Returns the combiner that acknowledges in front of the partition, if there is one. */
  Optional<Combiner> combiner() {
    return combiner;
  }

  /**
   * Returns whether more updates are acknowledged, or have come, than the partition handles in
   * time.
   */
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
      handled += urgent(); // an event that came before the command
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

  /**
   * Puts an input that follows from a long answer in front: the partition handles it before later
   * commands.
   */
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
        c.phased().taken(now.nanos());
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
      // Keeps the error's own code and what helps to explain it.
      e.addSuppressed(new IllegalStateException("at " + summary(input)));
      throw e;
    } catch (RuntimeException e) {
      throw new IllegalStateException("at " + summary(input), e);
    }
  }

  /** Returns an input as text for the log, cut so that a large value does not flood it. */
  private static String summary(Input input) {
    String text = input.toString();
    return text.length() <= SUMMARY_MAX ? text : text.substring(0, SUMMARY_MAX) + "…";
  }

  // ---------------------------------------------------------------- out

  /**
   * Returns a number that changes when readers may see something new. Means nothing where no
   * journal keeps records. For any thread: read it before the data.
   */
  long recorded() {
    return outputs.recorded();
  }

  /** Takes the replies that the last step has left to be sent. */
  public PendingReplies takeReplies() {
    return outputs.takeReplies();
  }

  // ---------------------------------------------------------------- the end

  /**
   * Answers the commands that the partition will not answer any more: those taken and not answered,
   * and those whose answers were about to leave with the batch that failed. No step may follow.
   *
   * @param failure the last step's exception, or null if the partition stops without one
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

  /** Answers the commands that no step will take from the inbox any more. For any thread. */
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
