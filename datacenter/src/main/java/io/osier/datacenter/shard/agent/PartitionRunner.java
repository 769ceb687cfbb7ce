package io.osier.datacenter.shard.agent;

import io.osier.core.Budget;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.feed.FeedSource;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.PeersHeard;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * The threads around one {@link PartitionAgent}: its own, which sleeps while there is nothing to
 * do, and those of callers where they run it.
 *
 * <p>Callers may run it themselves ({@link Callers}): one at a time, under the run lock, without
 * waiting for another thread. The runner's own thread then does what time brings.
 *
 * <p>A machine that throws stops its thread; commands that wait are answered, and the failure is
 * reported, so that the process can stop.
 */
public final class PartitionRunner implements ShardGateway.Inside, FeedSource {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionRunner.class);

  /** After so many batches a caller leaves the rest of the others' commands to the thread. */
  private static final int CALLER_BATCHES = 4;

  /**
   * What takes a caller longer that helps delays whom else its thread serves, so the partition's
   * thread does the next.
   */
  private static final long HEAVY_NANOS = 5_000_000;

  private static final long HEAVY_FOR_NANOS = 50_000_000;

  /** A frame with more shipments is left to the thread. */
  private static final int SHIPMENTS_HELPED_MAX = 64;

  /** How long a stop waits for the thread, whose last batch may wait for a disk. */
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(2);

  /** Who runs the machine. */
  public enum Callers {
    /** The runner's thread alone. */
    WAIT,
    /**
     * Whoever submits something while the thread sleeps: a single request needs no hand-over to it
     * and back, and many at once, or heavy ones, keep it awake.
     */
    HELP,
    /** Whoever submits something; only with {@link Journal#NONE}. */
    RUN,
    /** As {@link #RUN}, and what a {@link Combiner} can take is acknowledged in front of it. */
    COMBINE
  }

  private final PartitionPorts seat;
  private final Inbox inbox;
  private final Time time;
  private final Optional<Combiner> combiner;
  private final boolean callersRun;

  /** Whether callers leave it to the thread while that is awake. */
  private final boolean helps;

  private final GroupCommitHelp writeHelp;

  private final PartitionAgent agent;
  private final Consumer<Throwable> onFailure;
  private final Thread thread;
  private final Sleep sleep;

  /** Until then nobody helps. */
  private volatile long heavyUntilNanos;

  /** Whether a last group is out, and the thread has not looked since. */
  private volatile boolean groupOut;

  private volatile boolean stopping;
  private volatile boolean stopped;

  /** Held by whoever runs the machine. */
  private final ReentrantLock running = new ReentrantLock();

  /** What a caller's turn has thrown; under the run lock. */
  private @Nullable Throwable broken;

  /** A caller's step that leaves to the combiner what it holds, and one that takes what is due. */
  private final Runnable stepOfWaiting;

  private final Runnable stepOfDue;

  /** What follows a command that the inbox has taken. */
  private final Runnable taken = this::taken;

  /** What follows an event. */
  private final Runnable push = this::push;

  private final Runnable wake;

  /** A runner whose thread alone runs the machine. */
  public PartitionRunner(
      PartitionPorts seat, int queue, SlewedClock clock, Consumer<Throwable> onFailure) {
    this(
        seat,
        new Inbox(queue),
        clock,
        onFailure,
        Callers.WAIT,
        GroupCommitHelp.NONE,
        Optional.empty());
  }

  /**
   * A runner.
   *
   * @param inbox where what is to be done waits
   * @param onFailure hears of what stops it before its time
   * @param writeHelp how callers that help see to it that what they make is written
   * @param policy the keyspace's; needed only where callers combine
   */
  public PartitionRunner(
      PartitionPorts seat,
      Inbox inbox,
      SlewedClock clock,
      Consumer<Throwable> onFailure,
      Callers callers,
      GroupCommitHelp writeHelp,
      Optional<KeyspacePolicy> policy) {
    this.seat = seat;
    this.inbox = inbox;
    this.time = Time.of(seat.name(), clock);
    this.onFailure = onFailure;
    this.callersRun = callers != Callers.WAIT;
    this.helps = callers == Callers.HELP;
    this.writeHelp = writeHelp;
    this.thread = Thread.ofPlatform().name(seat.name()).daemon(true).unstarted(this::run);
    this.sleep = new Sleep(Sleep.Sleeper.of(thread));
    this.combiner =
        callers == Callers.COMBINE
            ? Optional.of(
                new Combiner(seat.store(), policy.orElseThrow(), time::nanos, sleep::wakeBefore))
            : Optional.empty();
    this.wake = sleep::wake;
    this.heavyUntilNanos = time.nanos();
    this.agent = new PartitionAgent(seat, inbox, time, combiner, callersRun, new Driver());
    this.stepOfWaiting = agent::stepLeaving;
    this.stepOfDue = agent::step;
  }

  public void start() {
    thread.start();
  }

  /**
   * From now on the keyspace behaves so.
   *
   * @param commandBytesMax what commands that are not answered may take of the heap
   */
  public void configure(Input.Configured changed, long commandBytesMax) {
    combiner.ifPresent(c -> c.configure(changed.policy()));
    inbox.setBytesMax(commandBytesMax);
    submit(changed);
  }

  /** Whether commands are served: the partition has caught up. For any thread. */
  @Override
  public boolean isReady() {
    return seat.machine().isReady();
  }

  /** See {@link io.osier.datacenter.partition.machine.Machine#isSettled}. For any thread. */
  public boolean isSettled() {
    return seat.machine().isSettled();
  }

  /** See {@link io.osier.datacenter.partition.machine.Machine#shown}. For any thread. */
  public Optional<VersionVector> shown() {
    return seat.machine().shown();
  }

  /** Whether it runs, or has run. */
  public boolean isStarted() {
    return thread.getState() != Thread.State.NEW;
  }

  /** See {@link io.osier.datacenter.partition.machine.Machine#heard}. For any thread. */
  public PeersHeard heard(long number) {
    return seat.machine().heard(number);
  }

  /** See {@link io.osier.datacenter.partition.machine.Machine#isComplete}. For any thread. */
  public boolean isComplete(long number) {
    return seat.machine().isComplete(number);
  }

  @Override
  public Optional<VersionVector> forgotten() {
    return seat.machine().forgotten();
  }

  @Override
  public void watched(long life) {
    submit(new Input.Watched(life));
  }

  /** The objects, for reads that need no turn. For any thread. */
  @Override
  public ObjectStore store() {
    return seat.store();
  }

  /** Has an answer made, or refused, by somebody who may take long. For any thread. */
  public void later(PendingAnswer answer) {
    seat.sender().later(answer);
  }

  // ---------------------------------------------------------------- what comes in

  /** Submits a command; it is answered by the runner's thread, or at once if the queue is full. */
  public void submit(Request request, Consumer<Reply> reply) {
    offer(request, reply).run();
  }

  /**
   * Puts a command into the queue, or refuses it; neither waits nor runs anybody's code.
   *
   * @return what must follow, with no lock held: it may run the partition, and callers' code
   */
  @Override
  public Runnable offer(Request request, Consumer<Reply> reply) {
    return switch (inbox.offer(request, reply)) {
      case TAKEN -> taken;
      case FULL ->
          () ->
              reply.accept(
                  new Reply.Failure(
                      ErrorCode.OVERLOADED,
                      "the queue of "
                          + seat.name()
                          + " is full; nothing was done, try again later"));
      case TOO_LARGE -> () -> reply.accept(new Reply.Failure(ErrorCode.OVERLOADED, tooLarge()));
      case CLOSED -> () -> reply.accept(inbox.closed().orElseThrow());
    };
  }

  private String tooLarge() {
    Budget.Usage memory = inbox.memory();
    return "commands of "
        + seat.name()
        + " that are not answered take "
        + memory.used()
        + " of "
        + memory.limit()
        + " bytes; nothing was done, try again later (osier.memory.commands says how much)";
  }

  private void taken() {
    push();
    if (stopped) {
      agent.answerWhatIsLeft(null);
    }
  }

  /** Submits an event; never refused. */
  public void submit(Input input) {
    offer(input).run();
  }

  /** As {@link #offer(Request, Consumer)}, for an event. */
  @Override
  public Runnable offer(Input input) {
    inbox.add(input);
    return helps && isMuch(input) ? wake : push;
  }

  /** Whether it is more than the one thread that reads all peers' frames should do itself. */
  private static boolean isMuch(Input input) {
    return input instanceof Input.FromPeer f
        && f.frame() instanceof Frame.Updates u
        && u.shipments().size() > SHIPMENTS_HELPED_MAX;
  }

  public CompletableFuture<PartitionReport> inspect(int hotLimit) {
    return inspect(hotLimit, List.of());
  }

  /** As {@link #inspect(int)}, with what is known of these objects. */
  public CompletableFuture<PartitionReport> inspect(int hotLimit, List<ObjectId> about) {
    CompletableFuture<PartitionReport> report = new CompletableFuture<>();
    inbox.inspect(hotLimit, about, report);
    sleep.wake();
    if (stopped) {
      agent.answerWhatIsLeft(null);
    }
    return report;
  }

  @Override
  public boolean isAllInMemory() {
    return callersRun && seat.journal() == Journal.NONE;
  }

  /**
   * Changes when something else may be read here than before; empty if that is not known. For any
   * thread: before it reads.
   */
  public OptionalLong recorded() {
    return seat.journal() == Journal.NONE
        ? OptionalLong.empty()
        : OptionalLong.of(agent.recorded());
  }

  /** How many commands wait. */
  public int queued() {
    return inbox.commands();
  }

  /** What the commands use of their budget. */
  public Budget.Usage memory() {
    return inbox.memory();
  }

  /** How many were refused because too many waited, or took too much. */
  public int overloads() {
    return inbox.overloads();
  }

  // ---------------------------------------------------------------- what is acknowledged in front

  /** Whether something is acknowledged in front of the partition, and not in it yet. */
  public boolean isHolding() {
    return combiner.map(Combiner::isHolding).orElse(false);
  }

  /** Whether {@link #combine} can be of use. */
  public boolean combines() {
    return combiner.isPresent();
  }

  /**
   * Acknowledges an update in front of the partition, if that is possible.
   *
   * @param operation within the keyspace's limits
   * @return false if nothing was done and it must be submitted
   */
  public boolean combine(Key key, CrdtType type, Operation operation) {
    switch (agent.acknowledge(key, type, operation)) {
      case REFUSED -> {
        return false;
      }
      case TAKEN -> {}
      case TAKEN_AND_DUE -> {
        // This thread has the processor already; the runner's own may have to wait for one. A
        // partition that is behind has its callers wait: otherwise they would acknowledge more than
        // it can replicate within the SLA.
        if (!running.tryLock() && agent.isBehind()) {
          running.lock();
        }
        if (running.isHeldByCurrentThread()) {
          callersTurn(stepOfDue);
          push(); // what came meanwhile
        }
      }
    }
    return true;
  }

  @Override
  public long millis() {
    return time.millis();
  }

  @Override
  public void absorb(Key key) {
    if (agent.isHolding(key)) {
      absorbing(() -> agent.stepAbsorbing(key));
    }
  }

  @Override
  public void absorbAll() {
    if (agent.isHolding()) {
      absorbing(agent::stepAbsorbingAll);
    }
  }

  private void absorbing(Runnable step) {
    running.lock();
    callersTurn(step);
    push(); // what came meanwhile
  }

  // ---------------------------------------------------------------- who runs it

  /**
   * Sees to it that what waits is done: by this thread if callers run the machine and nobody is at
   * it; otherwise whoever is at it goes on with it.
   */
  private void push() {
    if (!callersRun) {
      sleep.wake();
      return;
    }
    if (!helps) {
      runWhatWaits();
    } else if (!sleep.isAwake()) { // otherwise it looks at what waits before it sleeps
      long began = time.nanos();
      if (began - heavyUntilNanos < 0 || !writeHelp.begin()) {
        sleep.wake();
        return;
      }
      try {
        runWhatWaits();
      } finally {
        writeHelp.end();
      }
      long ended = time.nanos();
      if (ended - began > HEAVY_NANOS) {
        heavyUntilNanos = ended + HEAVY_FOR_NANOS;
      }
    }
  }

  private void runWhatWaits() {
    for (int i = 0; !inbox.isEmpty(); i++) {
      if (i == CALLER_BATCHES) {
        LockSupport.unpark(thread);
        return;
      }
      if (!running.tryLock()) {
        return;
      }
      callersTurn(stepOfWaiting);
    }
  }

  /**
   * A caller's batch; a failure is left to the thread. Called with the run lock, which is released
   * before the callers' answers go out: they may call again.
   */
  private void callersTurn(Runnable step) {
    Told told = Told.NOBODY;
    try {
      if (broken == null && !stopped) {
        step.run();
        sleep.wakeBefore(agent.dueNanos());
        told = agent.takeTold();
      }
    } catch (Throwable e) {
      broken = e;
      inbox.close();
      LockSupport.unpark(thread);
    } finally {
      running.unlock();
    }
    told.tell();
  }

  private void run() {
    Throwable failure = null;
    MDC.put("keyspace", seat.name().replaceFirst("-\\d+$", ""));
    try {
      store().attach(() -> submit(new Input.Tick()));
      while (!stopping) {
        if (ownTurn() == 0) {
          sleep();
        }
      }
    } catch (Throwable e) {
      failure = e;
    }
    inbox.close();
    combiner.ifPresent(Combiner::close);
    running.lock(); // and nobody else runs it from now on
    try {
      stopped = true;
    } finally {
      running.unlock();
    }
    // What was told to stop and takes long may still read what was dropped meanwhile.
    boolean wasDropped =
        stopping && failure instanceof OsierException e && e.code() == ErrorCode.UNKNOWN_KEYSPACE;
    if (failure != null && !wasDropped) {
      // Invariants may be broken; going on could spread the damage.
      LOG.error("{} failed and stops", seat.name(), failure);
      onFailure.accept(failure);
    }
    agent.abandon(failure);
    agent.answerWhatIsLeft(failure);
  }

  /**
   * The thread's step. Where the runner is not started a test takes the thread's turns.
   *
   * @return how much was done; 0 if there was nothing to do
   */
  int ownTurn() throws Throwable {
    int did;
    Told told;
    running.lock();
    try {
      if (broken != null) {
        throw broken;
      }
      groupOut = false;
      did = agent.step();
      told = agent.takeTold();
    } finally {
      running.unlock();
    }
    told.tell();
    return did;
  }

  private void sleep() {
    // The due time waits for a caller at the machine, who may leave something.
    sleep.unlessBusy(this::dueNanos, () -> stopping || groupOut || !inbox.isEmpty(), time);
  }

  /** When the thread has something to do, unless something comes in. */
  private long dueNanos() {
    running.lock();
    try {
      return broken == null ? agent.dueNanos() : Long.MIN_VALUE;
    } finally {
      running.unlock();
    }
  }

  // ---------------------------------------------------------------- the end

  /** Whether everything accepted before {@link #refuse} is answered and shipped. */
  public boolean isDrained() {
    return agent.isDrained();
  }

  /**
   * Answers every new command with SHUTTING_DOWN, and ships without delay what those before it have
   * left.
   */
  public void refuse() {
    inbox.close();
    refusing();
  }

  /** As {@link #refuse}, with another answer, to what still waits when it is stopped, too. */
  public void refuse(Reply.Failure why) {
    inbox.close(why);
    refusing();
  }

  private void refusing() {
    combiner.ifPresent(Combiner::close);
    LockSupport.unpark(thread);
  }

  private final class Driver implements PartitionAgent.Driver {
    /** It may have been the last that was missing. */
    @Override
    public void groupIsOut() {
      if (!inbox.isOpen()) {
        groupOut = true;
        sleep.wake();
      }
    }

    @Override
    public void hasWork() {
      push();
    }

    /** A caller's callback that throws is its own affair, and no reason to stop a partition. */
    @Override
    public void couldNotLeave(Effects.Output output, RuntimeException cause) {
      LOG.error("{}: {} could not leave", seat.name(), output.getClass().getSimpleName(), cause);
    }
  }

  /** Begins what {@link #stop} waits for. */
  public void tellToStop() {
    stopping = true;
    LockSupport.unpark(thread);
  }

  /**
   * Stops the thread, if it was started. What still waits is answered with SHUTTING_DOWN: nothing
   * of it was done.
   */
  public void stop() {
    tellToStop();
    try {
      if (thread.isAlive() && !thread.join(STOP_PATIENCE)) {
        LOG.warn(
            "{} has not ended {} after it was told to: what waits for it gets no answer",
            seat.name(),
            STOP_PATIENCE);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
