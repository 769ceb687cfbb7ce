package io.osier.datacenter.shard.agent;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.core.time.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.feed.FeedSource;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.PeersHeard;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running partition: takes commands, events and questions for it from any thread, refuses what
 * exceeds its bounds, and tells any thread what is known of it. {@link AgentRunner} decides which
 * thread handles them.
 */
public final class PartitionRunner implements ShardGateway.Inside, FeedSource, InspectedPartition {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionRunner.class);
  private static final int STOP_SECONDS = 5;

  /** A frame with more shipments is left to the partition's thread, where callers help. */
  private static final int SHIPMENTS_HELPED_MAX = 64;

  /** Who runs the machine. */
  public enum Callers {
    /** Only the runner's thread. */
    WAIT,
    /**
     * A caller that submits something while the thread sleeps: a single request is not handed over
     * to it and back, and many requests, or heavy ones, keep it awake.
     */
    HELP,
    /** Any caller that submits something; only with {@link Journal#NONE}. */
    RUN,
    /**
     * As {@link #RUN}, and a {@link Combiner} acknowledges in front those updates that it can take.
     */
    COMBINE
  }

  private final PartitionPorts ports;
  private final Inbox inbox;
  private final Time time;
  private final AgentRunner runner;
  private final PartitionAgent agent;

  /** The work that follows a command that the inbox has taken. */
  private final Runnable taken = this::taken;

  /** The work that follows an event. */
  private final Runnable push;

  /** The work that follows a large event. */
  private final Runnable pushMuch;

  /**
   * @param onFailure is told of a failure that stops the partition
   * @param policy the keyspace's; needed only if callers combine
   */
  public PartitionRunner(
      PartitionPorts ports,
      Inbox inbox,
      SlewedClock clock,
      Consumer<Throwable> onFailure,
      Callers callers,
      GroupCommitHelp writeHelp,
      Optional<KeyspacePolicy> policy) {
    this.ports = ports;
    this.inbox = inbox;
    this.time = Time.of(ports.name(), clock, System::nanoTime, Time::wallMillis);
    this.runner =
        new AgentRunner(
            ports,
            inbox,
            time,
            callers != Callers.WAIT,
            callers == Callers.HELP,
            writeHelp,
            callers == Callers.COMBINE ? Optional.of(policy.orElseThrow()) : Optional.empty(),
            onFailure);
    this.agent = runner.agent();
    this.push = runner::push;
    this.pushMuch = callers == Callers.HELP ? runner::wake : push;
  }

  public void start() {
    runner.start();
  }

  /**
   * Changes the keyspace's policy and bounds.
   *
   * @param commandBytesMax the heap that commands that are not answered may take
   */
  public void configure(Input.Configured changed, long commandBytesMax) {
    agent.combiner().ifPresent(c -> c.configure(changed.policy()));
    inbox.setBytesMax(commandBytesMax);
    submit(changed);
  }

  /** Returns whether commands are served: the partition has caught up. For any thread. */
  @Override
  public boolean isReady() {
    return ports.machine().isReady();
  }

  /** See {@link io.osier.datacenter.partition.machine.Machine#isSettled}. For any thread. */
  public boolean isSettled() {
    return ports.machine().isSettled();
  }

  /** See {@link io.osier.datacenter.partition.machine.Machine#shown}. For any thread. */
  public Optional<VersionVector> shown() {
    return ports.machine().shown();
  }

  /** Returns whether the partition's thread runs, or has run. */
  public boolean isStarted() {
    return runner.isStarted();
  }

  /** See {@link io.osier.datacenter.partition.machine.Machine#heard}. For any thread. */
  public PeersHeard heard(long number) {
    return ports.machine().heard(number);
  }

  /** See {@link io.osier.datacenter.partition.machine.Machine#isComplete}. For any thread. */
  public boolean isComplete(long number) {
    return ports.machine().isComplete(number);
  }

  @Override
  public Optional<VersionVector> forgotten() {
    return ports.machine().forgotten();
  }

  @Override
  public void watched(long life) {
    submit(new Input.Watched(life));
  }

  /** Returns the objects, for reads that need no turn. For any thread. */
  @Override
  public ObjectStore store() {
    return ports.store();
  }

  /** Has an answer made, or refused, by a thread that may take long. */
  public void later(PendingAnswer answer) {
    ports.sender().later(answer);
  }

  // ---------------------------------------------------------------- inputs

  /**
   * Puts a command into the inbox, or refuses it; neither waits nor calls foreign code.
   *
   * @return the work that must follow, with no lock held: it may run the partition, and callers'
   *     code
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
                          + ports.name()
                          + " is full; nothing was done, try again later"));
      case TOO_LARGE -> () -> reply.accept(new Reply.Failure(ErrorCode.OVERLOADED, tooLarge()));
      case CLOSED -> () -> reply.accept(inbox.closed().orElseThrow());
    };
  }

  private String tooLarge() {
    Budget.Usage memory = inbox.memory();
    return "commands of "
        + ports.name()
        + " that are not answered take "
        + memory.used()
        + " of "
        + memory.limit()
        + " bytes; nothing was done, try again later (osier.memory.commands says how much)";
  }

  private void taken() {
    runner.push();
    if (runner.isStopped()) {
      agent.answerWhatIsLeft(null);
    }
  }

  @Override
  public void submit(Input input) {
    offer(input).run();
  }

  /** As {@link #offer(Request, Consumer)}, for an event. */
  @Override
  public Runnable offer(Input input) {
    inbox.add(input);
    return isMuch(input) ? pushMuch : push;
  }

  /**
   * Returns whether handling an event would take too long for the single thread that reads all
   * peers' frames.
   */
  private static boolean isMuch(Input input) {
    return input instanceof Input.FromPeer f
        && f.frame() instanceof Frame.Updates u
        && u.shipments().size() > SHIPMENTS_HELPED_MAX;
  }

  @Override
  public CompletableFuture<PartitionReport> inspect(int hotLimit) {
    return inspect(hotLimit, List.of());
  }

  /** As {@link #inspect(int)}, with a report on these objects. */
  public CompletableFuture<PartitionReport> inspect(int hotLimit, List<ObjectId> about) {
    CompletableFuture<PartitionReport> report = new CompletableFuture<>();
    inbox.inspect(hotLimit, about, report);
    runner.wake();
    if (runner.isStopped()) {
      agent.answerWhatIsLeft(null);
    }
    return report;
  }

  @Override
  public boolean isAllInMemory() {
    return runner.callersRun() && ports.journal() == Journal.NONE;
  }

  /**
   * Returns a number that changes when readers may see something new; empty if there is none. For
   * any thread: read it before the data.
   */
  public OptionalLong recorded() {
    return ports.journal() == Journal.NONE
        ? OptionalLong.empty()
        : OptionalLong.of(agent.recorded());
  }

  /** Returns how many commands wait. */
  public int queued() {
    return inbox.commands();
  }

  /** Returns the commands' use of their budget. */
  public Budget.Usage memory() {
    return inbox.memory();
  }

  /** Returns how many commands were refused because too many waited or took too much. */
  public int overloads() {
    return inbox.overloads();
  }

  // ---------------------------------------------------------------- acknowledged in front

  @Override
  public boolean isHolding() {
    return agent.isHolding();
  }

  /** Returns whether {@link #combine} can acknowledge anything. */
  public boolean combines() {
    return agent.combiner().isPresent();
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
      case TAKEN_AND_DUE -> runner.runDue();
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
      runner.run(() -> agent.stepAbsorbing(key));
    }
  }

  @Override
  public void absorbAll() {
    if (agent.isHolding()) {
      runner.run(agent::stepAbsorbingAll);
    }
  }

  // ---------------------------------------------------------------- the end

  /** Returns whether everything accepted before {@link #refuse} is answered and shipped. */
  public boolean isDrained() {
    return agent.isDrained();
  }

  /**
   * Answers new commands with SHUTTING_DOWN, and ships without delay the updates of earlier ones.
   */
  public void refuse() {
    inbox.close();
    refusing();
  }

  /**
   * As {@link #refuse}, with this answer, which commands that still wait when the partition is
   * stopped get, too.
   */
  public void refuse(Reply.Failure why) {
    inbox.close(why);
    refusing();
  }

  private void refusing() {
    agent.combiner().ifPresent(Combiner::close);
    runner.unpark();
  }

  /** See {@link AgentRunner#ownTurn}. */
  int ownTurn() throws Throwable {
    return runner.ownTurn();
  }

  /** Tells the thread to stop; {@link #stop} waits for it. */
  public void tellToStop() {
    runner.tellToStop();
  }

  /** See {@link AgentRunner#stop}. */
  public void stop() {
    runner.stop();
  }

  /**
   * Stops partitions once they have handled their inputs: all at once, so that many take little
   * longer than the slowest of them.
   *
   * @return the last reports of those that give one
   */
  public static List<PartitionReport> stopAll(List<PartitionRunner> partitions) {
    List<CompletableFuture<PartitionReport>> done =
        partitions.stream().filter(PartitionRunner::isStarted).map(p -> p.inspect(0)).toList();
    try {
      CompletableFuture.allOf(done.toArray(CompletableFuture<?>[]::new))
          .get(STOP_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOG.warn("a partition does not stop: its thread does not answer", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    partitions.forEach(PartitionRunner::tellToStop);
    partitions.forEach(PartitionRunner::stop);
    return done.stream()
        .filter(d -> d.isDone() && !d.isCompletedExceptionally())
        .map(CompletableFuture::join)
        .toList();
  }
}
