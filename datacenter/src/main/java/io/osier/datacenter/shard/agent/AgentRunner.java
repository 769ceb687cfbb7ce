package io.osier.datacenter.shard.agent;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Runs one {@link PartitionAgent} in threads: in its own, which sleeps while there is no work, and
 * in those of callers.
 *
 * <p>Callers may run the agent themselves ({@link PartitionRunner.Callers}): one at a time, under
 * the run lock, without waiting for another thread. The runner's own thread then does the work that
 * becomes due with time.
 *
 * <p>A machine that throws stops its thread; waiting commands are answered, and the failure is
 * reported, so that the process can stop.
 */
final class AgentRunner {
  private static final Logger LOG = LoggerFactory.getLogger(AgentRunner.class);

  /** How many batches a caller runs before it leaves the rest of others' commands to the thread. */
  private static final int CALLER_BATCHES = 4;

  /**
   * A caller whose help took longer than this delays the other connections of its I/O thread; for
   * {@link #HEAVY_FOR_NANOS} the partition's own thread does the work.
   */
  private static final long HEAVY_NANOS = 5_000_000;

  private static final long HEAVY_FOR_NANOS = 50_000_000;

  /** How long a stop waits for the thread, whose last batch may wait for a disk. */
  private static final Duration STOP_PATIENCE = Duration.ofSeconds(2);

  private final PartitionPorts ports;
  private final Inbox inbox;
  private final Time time;
  private final boolean callersRun;

  /** Whether callers leave the work to the thread while that is awake. */
  private final boolean helps;

  private final GroupCommitHelp writeHelp;
  private final PartitionAgent agent;
  private final Consumer<Throwable> onFailure;
  private final Thread thread;
  private final Sleep sleep;

  /** Callers do not help before this time. */
  private volatile long heavyUntilNanos;

  /** Whether a group has left since the thread last looked. */
  private volatile boolean groupOut;

  private volatile boolean stopping;
  private volatile boolean stopped;

  /** Held by the thread that runs the machine. */
  private final ReentrantLock running = new ReentrantLock();

  /** What a step in a caller's thread has thrown; guarded by the run lock. */
  private @Nullable Throwable broken;

  /**
   * A caller's step that leaves combined updates in the combiner; the other one also takes those
   * that are due.
   */
  private final Runnable stepOfWaiting;

  private final Runnable stepOfDue;

  /**
   * @param callersRun whether callers run the agent
   * @param helps whether callers leave the work to the thread while that is awake
   * @param writeHelp lets callers write the records that they make
   * @param combined the keyspace's policy, if a {@link Combiner} acknowledges in front; otherwise
   *     empty
   * @param onFailure is told of a failure that stops the partition
   */
  AgentRunner(
      PartitionPorts ports,
      Inbox inbox,
      Time time,
      boolean callersRun,
      boolean helps,
      GroupCommitHelp writeHelp,
      Optional<KeyspacePolicy> combined,
      Consumer<Throwable> onFailure) {
    this.ports = ports;
    this.inbox = inbox;
    this.time = time;
    this.callersRun = callersRun;
    this.helps = helps;
    this.writeHelp = writeHelp;
    this.onFailure = onFailure;
    this.thread = Thread.ofPlatform().name(ports.name()).daemon(true).unstarted(this::runThread);
    this.sleep = new Sleep(Sleep.Sleeper.of(thread));
    this.heavyUntilNanos = time.nanos();
    Optional<Combiner> combiner =
        combined.map(policy -> new Combiner(ports.store(), policy, time::nanos, sleep::wakeBefore));
    this.agent = new PartitionAgent(ports, inbox, time, combiner, callersRun, new Driver());
    this.stepOfWaiting = agent::stepLeaving;
    this.stepOfDue = agent::step;
  }

  PartitionAgent agent() {
    return agent;
  }

  /** Returns whether callers run the agent. */
  boolean callersRun() {
    return callersRun;
  }

  void start() {
    thread.start();
  }

  /** Returns whether the thread runs, or has run. */
  boolean isStarted() {
    return thread.getState() != Thread.State.NEW;
  }

  /** Returns whether nobody will run the agent any more. */
  boolean isStopped() {
    return stopped;
  }

  /** Makes the thread look at what waits. */
  void wake() {
    sleep.wake();
  }

  /** Makes the thread check, awake or not, whether it must end. */
  void unpark() {
    LockSupport.unpark(thread);
  }

  // ---------------------------------------------------------------- callers

  /**
   * Makes sure that waiting inputs are handled: by this thread, if callers run the machine and no
   * thread runs it; otherwise the thread that runs it goes on with them.
   */
  void push() {
    if (!callersRun) {
      sleep.wake();
      return;
    }
    if (!helps) {
      runWhatWaits();
    } else if (!sleep.isAwake()) { // otherwise the thread looks at the inbox before it sleeps
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
   * Runs a caller's step; a failure is left to the thread. Called with the run lock, which is
   * released before the callers' answers leave: their code may call again.
   */
  private void callersTurn(Runnable step) {
    PendingReplies told = PendingReplies.NONE;
    try {
      if (broken == null && !stopped) {
        step.run();
        sleep.wakeBefore(agent.dueNanos());
        told = agent.takeReplies();
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

  /**
   * Does the work that is due, unless another thread runs the agent: this one has the processor
   * already, and the runner's own thread may have to wait for one. If the partition is behind,
   * callers wait: otherwise they would acknowledge more than it can replicate within the SLA.
   */
  void runDue() {
    if (!running.tryLock() && agent.isBehind()) {
      running.lock();
    }
    if (running.isHeldByCurrentThread()) {
      callersTurn(stepOfDue);
      push(); // inputs that came meanwhile
    }
  }

  /** Runs a step of the agent as soon as no other thread runs it. */
  void run(Runnable step) {
    running.lock();
    callersTurn(step);
    push(); // inputs that came meanwhile
  }

  // ---------------------------------------------------------------- the thread

  private void tick() {
    inbox.add(new Input.Tick());
    push();
  }

  private void runThread() {
    Throwable failure = null;
    MDC.put("keyspace", ports.name().replaceFirst("-\\d+$", ""));
    try {
      ports.store().attach(this::tick);
      while (!stopping) {
        if (ownTurn() == 0) {
          sleep.unlessBusy(this::dueNanos, () -> stopping || groupOut || !inbox.isEmpty(), time);
        }
      }
    } catch (Throwable e) {
      failure = e;
    }
    inbox.close();
    agent.combiner().ifPresent(Combiner::close);
    running.lock(); // nobody runs the agent from now on
    try {
      stopped = true;
    } finally {
      running.unlock();
    }
    // A partition that was told to stop and is slow may still read the data of a dropped keyspace.
    boolean wasDropped =
        stopping && failure instanceof OsierException e && e.code() == ErrorCode.UNKNOWN_KEYSPACE;
    if (failure != null && !wasDropped) {
      // Invariants may be broken; going on could spread the damage.
      LOG.error("{} failed and stops", ports.name(), failure);
      onFailure.accept(failure);
    }
    agent.abandon(failure);
    agent.answerWhatIsLeft(failure);
  }

  /**
   * Does one step in the runner's thread. In tests the runner is not started, and the test calls
   * this.
   *
   * @return how many inputs were handled; 0 if there was nothing to do
   */
  int ownTurn() throws Throwable {
    int did;
    PendingReplies told;
    running.lock();
    try {
      if (broken != null) {
        throw broken;
      }
      groupOut = false;
      did = agent.step();
      told = agent.takeReplies();
    } finally {
      running.unlock();
    }
    told.tell();
    return did;
  }

  /** Returns when the thread has work, unless an input comes before that. */
  private long dueNanos() {
    running.lock();
    try {
      return broken == null ? agent.dueNanos() : Long.MIN_VALUE;
    } finally {
      running.unlock();
    }
  }

  private final class Driver implements PartitionAgent.Driver {
    /** The last group may have left that a drained partition waits for. */
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

    /** A caller's callback that throws is no reason to stop a partition. */
    @Override
    public void couldNotLeave(Effects.Output output, RuntimeException cause) {
      LOG.error("{}: {} could not be sent", ports.name(), output.getClass().getSimpleName(), cause);
    }
  }

  /** Tells the thread to stop; {@link #stop} waits for it. */
  void tellToStop() {
    stopping = true;
    LockSupport.unpark(thread);
  }

  /**
   * Stops the thread, if it was started. Commands that still wait are answered with SHUTTING_DOWN:
   * they were not executed.
   */
  void stop() {
    tellToStop();
    try {
      if (thread.isAlive() && !thread.join(STOP_PATIENCE)) {
        LOG.warn(
            "{} has not ended within {} of being told to stop: requests that wait for it get no"
                + " answer",
            ports.name(),
            STOP_PATIENCE);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
