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
 * The threads around one {@link PartitionAgent}: its own, which sleeps while there is nothing to
 * do, and those of callers where they run it.
 *
 * <p>Callers may run it themselves ({@link PartitionRunner.Callers}): one at a time, under the run
 * lock, without waiting for another thread. The runner's own thread then does what time brings.
 *
 * <p>A machine that throws stops its thread; commands that wait are answered, and the failure is
 * reported, so that the process can stop.
 */
final class AgentRunner {
  private static final Logger LOG = LoggerFactory.getLogger(AgentRunner.class);

  /** After so many batches a caller leaves the rest of the others' commands to the thread. */
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

  /**
   * A caller's step that leaves combined updates in the combiner; the other one also takes those
   * that are due.
   */
  private final Runnable stepOfWaiting;

  private final Runnable stepOfDue;

  /**
   * @param callersRun whether whoever pushes runs the agent
   * @param helps whether those leave it to the thread while that is awake
   * @param writeHelp how callers that help see to it that what they make is written
   * @param combined the keyspace's policy, where a {@link Combiner} acknowledges in front
   * @param onFailure hears of what stops it before its time
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

  /** Whether whoever pushes runs the agent. */
  boolean callersRun() {
    return callersRun;
  }

  void start() {
    thread.start();
  }

  /** Whether the thread runs, or has run. */
  boolean isStarted() {
    return thread.getState() != Thread.State.NEW;
  }

  /** Whether nobody will run the agent any more. */
  boolean isStopped() {
    return stopped;
  }

  /** Has the thread look at what waits. */
  void wake() {
    sleep.wake();
  }

  /** Has the thread look whether it is to end, awake or not. */
  void unpark() {
    LockSupport.unpark(thread);
  }

  // ---------------------------------------------------------------- callers

  /**
   * Sees to it that what waits is done: by this thread if callers run the machine and nobody is at
   * it; otherwise whoever is at it goes on with it.
   */
  void push() {
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
   * Does what is due, unless another thread is at it: this one has the processor already, and the
   * runner's own may have to wait for one. A partition that is behind has its callers wait:
   * otherwise they would acknowledge more than it can replicate within the SLA.
   */
  void runDue() {
    if (!running.tryLock() && agent.isBehind()) {
      running.lock();
    }
    if (running.isHeldByCurrentThread()) {
      callersTurn(stepOfDue);
      push(); // what came meanwhile
    }
  }

  /** Runs a step of the agent, once nobody else does. */
  void run(Runnable step) {
    running.lock();
    callersTurn(step);
    push(); // what came meanwhile
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
      LOG.error("{} failed and stops", ports.name(), failure);
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

  /** When the thread has something to do, unless something comes in. */
  private long dueNanos() {
    running.lock();
    try {
      return broken == null ? agent.dueNanos() : Long.MIN_VALUE;
    } finally {
      running.unlock();
    }
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
      LOG.error("{}: {} could not be sent", ports.name(), output.getClass().getSimpleName(), cause);
    }
  }

  /** Begins what {@link #stop} waits for. */
  void tellToStop() {
    stopping = true;
    LockSupport.unpark(thread);
  }

  /**
   * Stops the thread, if it was started. What still waits is answered with SHUTTING_DOWN: nothing
   * of it was done.
   */
  void stop() {
    tellToStop();
    try {
      if (thread.isAlive() && !thread.join(STOP_PATIENCE)) {
        LOG.warn(
            "{} has not ended {} after it was told to: what waits for it gets no answer",
            ports.name(),
            STOP_PATIENCE);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
