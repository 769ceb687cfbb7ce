package io.osier.datacenter.server;

import io.netty.util.collection.LongObjectHashMap;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.SlewedClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.Effects;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Machine;
import io.osier.datacenter.partition.Now;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Frame;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one partition on one thread: takes its inputs in batches, commits each batch's records as
 * one group, and lets replies and frames go when the group is durable.
 *
 * <p>Where nothing is written to a disk and the callers are in this process, they may run it
 * themselves ({@link Callers}): one at a time, under the run lock, without waiting for another
 * thread. The runner's own thread then does what time brings.
 *
 * <p>Commands wait in a bounded queue and are refused when it is full. Frames of peers are never
 * refused: what a peer may have under way is bounded by its stream's window.
 *
 * <p>A machine that throws has broken an invariant: its thread stops, nothing of the batch leaves
 * it, commands that wait are answered, and the failure is reported, so that the process can stop.
 */
final class PartitionRunner {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionRunner.class);
  private static final int BATCH = 256;
  private static final long PARK_NANOS_MAX = 100_000_000;
  private static final int SUMMARY_MAX = 1_000;

  /** With more frames of peers waiting than this a partition is behind. */
  private static final int WAITING_EVENTS = 2;

  /** After so many batches a caller leaves the rest of the others' commands to the thread. */
  private static final int CALLER_BATCHES = 4;

  /** Who runs the machine. */
  enum Callers {
    /** The runner's thread alone. */
    WAIT,
    /** Whoever submits something; only with {@link Journal#NONE}. */
    RUN,
    /** As {@link #RUN}, and what a {@link Combiner} can take is acknowledged in front of it. */
    COMBINE
  }

  /** Sends a frame to a datacenter. */
  @FunctionalInterface
  interface Sender {
    void send(String dc, Frame frame);
  }

  private sealed interface Work {}

  private record Command(Request request, Consumer<Reply> reply) implements Work {}

  private record Event(Input input) implements Work {}

  private record Inspection(int hotLimit, CompletableFuture<PartitionReport> report)
      implements Work {}

  /**
   * What a batch wants to go out, with those who are answered.
   *
   * @param answered in the order of the answers among the outputs
   */
  private record Batch(List<Effects.Output> outputs, List<Consumer<Reply>> answered) {
    static final Batch EMPTY = new Batch(List.of(), List.of());
  }

  private record Told(CompletableFuture<PartitionReport> to, PartitionReport report) {
    void tell() {
      to.complete(report);
    }
  }

  private final String name;
  private final Machine machine;
  private final ObjectStore store;
  private final Journal journal;
  private final Sender sender;
  private final Consumer<Throwable> onFailure;
  private final SlewedClock clock;
  private final Queue<Work> commands;
  private final Queue<Work> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger overloads = new AtomicInteger();
  private final Thread thread;
  private volatile boolean parked;
  private volatile boolean stopping;
  private volatile boolean accepting = true;
  private volatile boolean drained;
  private volatile boolean stopped;

  /** Held by whoever runs the machine. */
  private final ReentrantLock running = new ReentrantLock();

  private final boolean callersRun;

  /** What follows a command that the queue has taken. */
  private final Runnable taken = this::taken;

  /** What follows an event. */
  private final Runnable push = this::push;

  /** Null unless callers combine. */
  private final Combiner combiner;

  /** Until when the thread sleeps at the latest; Long.MIN_VALUE while it does not. */
  private volatile long sleepsUntil = Long.MIN_VALUE;

  // What follows is touched under the run lock alone.
  private Throwable broken;

  /** Where callers run, answers go out after the lock is released: they run the callers' code. */
  private Batch answers = Batch.EMPTY;

  private List<Told> reports = List.of();

  /** What its journal has not taken. */
  private Batch leaving = Batch.EMPTY;

  private final LongObjectHashMap<Consumer<Reply>> waiting = new LongObjectHashMap<>();
  private final Map<Long, CompletableFuture<PartitionReport>> inspections = new HashMap<>();
  private long tickets;
  private long inHand;
  private boolean flushed;
  private long groups;

  /** How many groups are durable and their outputs out; written by the journal's thread. */
  private volatile long groupsOut;

  PartitionRunner(
      String name,
      Machine machine,
      ObjectStore store,
      Journal journal,
      int queue,
      SlewedClock clock,
      Sender sender,
      Consumer<Throwable> onFailure) {
    this(
        name,
        machine,
        store,
        journal,
        queue,
        clock,
        sender,
        onFailure,
        Callers.WAIT,
        Optional.empty());
  }

  /**
   * A runner.
   *
   * @param policy the keyspace's; needed only where callers combine
   */
  PartitionRunner(
      String name,
      Machine machine,
      ObjectStore store,
      Journal journal,
      int queue,
      SlewedClock clock,
      Sender sender,
      Consumer<Throwable> onFailure,
      Callers callers,
      Optional<KeyspacePolicy> policy) {
    this.callersRun = callers != Callers.WAIT;
    this.combiner =
        callers == Callers.COMBINE
            ? new Combiner(store, policy.orElseThrow(), this::wakeBefore)
            : null;
    this.name = name;
    this.machine = machine;
    this.store = store;
    this.journal = journal;
    this.commands = new ArrayBlockingQueue<>(queue);
    this.clock = clock;
    this.sender = sender;
    this.onFailure = onFailure;
    this.thread = Thread.ofPlatform().name(name).daemon(true).unstarted(this::run);
  }

  void start() {
    thread.start();
  }

  /** Whether commands are served: the partition has caught up. For any thread. */
  boolean isReady() {
    return machine.isReady();
  }

  /** The objects, for reads that need no turn. For any thread. */
  ObjectStore store() {
    return store;
  }

  /** Submits a command; it is answered by the runner's thread, or at once if the queue is full. */
  void submit(Request request, Consumer<Reply> reply) {
    offer(request, reply).run();
  }

  /**
   * Puts a command into the queue, or refuses it; neither waits nor runs anybody's code.
   *
   * @return what must follow, with no lock held: it may run the partition, and callers' code
   */
  Runnable offer(Request request, Consumer<Reply> reply) {
    if (!accepting) {
      return () ->
          reply.accept(
              new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
    }
    if (commands.offer(new Command(request, reply))) {
      return taken;
    }
    overloads.incrementAndGet();
    return () ->
        reply.accept(
            new Reply.Failure(
                ErrorCode.OVERLOADED,
                "the queue of " + name + " is full; nothing was done, try again later"));
  }

  private void taken() {
    push();
    if (stopped) {
      answerWhatIsLeft(null);
    }
  }

  /** Submits an event; never refused. */
  void submit(Input input) {
    offer(input).run();
  }

  /** As {@link #offer(Request, Consumer)}, for an event. */
  Runnable offer(Input input) {
    events.add(new Event(input));
    return push;
  }

  /** Whether those who submit run the partition themselves. */
  boolean callersRun() {
    return callersRun;
  }

  /** Whether {@link #combine} can be of use. */
  boolean combines() {
    return combiner != null;
  }

  /**
   * Acknowledges an update in front of the partition, if that is possible.
   *
   * @param operation within the keyspace's limits
   * @return false if nothing was done and it must be submitted
   */
  boolean combine(Key key, CrdtType type, Operation operation) {
    if (combiner == null || !Combiner.isCombinable(type, operation) || !machine.isReady()) {
      return false;
    }
    switch (combiner.add(key, type, operation)) {
      case REFUSED -> {
        return false;
      }
      case TAKEN -> {}
      case TAKEN_AND_DUE -> {
        // This thread has the processor already; the runner's own may have to wait for one. A
        // partition that is behind has its callers wait: otherwise they would acknowledge more than
        // it can replicate within the SLA.
        if (!running.tryLock() && isBehind()) {
          running.lock();
        }
        if (running.isHeldByCurrentThread()) {
          callersTurn(this::takeDue);
          push(); // what came meanwhile
        }
      }
    }
    return true;
  }

  private boolean isBehind() {
    return combiner.isLate(System.nanoTime()) || events.size() > WAITING_EVENTS;
  }

  /** Brings what is acknowledged of a key into the store, for a read or an update that follows. */
  void settle(Key key) {
    if (combiner != null && combiner.isHolding(key)) {
      settle(() -> combiner.take(key));
    }
  }

  /** As {@link #settle(Key)}, for all keys. */
  void settle() {
    if (combiner != null && combiner.isHolding()) {
      settle(combiner::takeAll);
    }
  }

  private void settle(Supplier<List<Input.Absorbed.Update>> taker) {
    running.lock();
    callersTurn(taker);
    push(); // what came meanwhile
  }

  CompletableFuture<PartitionReport> inspect(int hotLimit) {
    CompletableFuture<PartitionReport> report = new CompletableFuture<>();
    events.add(new Inspection(hotLimit, report));
    wake();
    if (stopped) {
      answerWhatIsLeft(null);
    }
    return report;
  }

  int queued() {
    return commands.size();
  }

  int overloads() {
    return overloads.get();
  }

  /** Whether everything accepted before {@link #refuse} is answered and shipped. */
  boolean isDrained() {
    // In this order: the thread withdraws "drained" before it takes anything from a queue.
    return commands.isEmpty() && events.isEmpty() && drained;
  }

  /**
   * Answers every new command with SHUTTING_DOWN, and ships without delay what those before it have
   * left.
   */
  void refuse() {
    accepting = false;
    if (combiner != null) {
      combiner.close();
    }
    LockSupport.unpark(thread);
  }

  /** Stops the thread. What still waits is answered with SHUTTING_DOWN: nothing of it was done. */
  void stop() {
    stopping = true;
    LockSupport.unpark(thread);
    try {
      thread.join(2_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void wake() {
    if (parked) {
      LockSupport.unpark(thread);
    }
  }

  /** Lets the thread come back before this time. */
  private void wakeBefore(long nanos) {
    if (sleepsUntil > nanos) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Sees to it that what waits is done: by this thread if callers run the machine and nobody is at
   * it; otherwise whoever is at it goes on with it.
   */
  private void push() {
    if (!callersRun) {
      wake();
      return;
    }
    for (int i = 0; hasWork(); i++) {
      if (i == CALLER_BATCHES) {
        LockSupport.unpark(thread);
        return;
      }
      if (!running.tryLock()) {
        return;
      }
      callersTurn(List::of);
    }
  }

  private boolean hasWork() {
    return !commands.isEmpty() || !events.isEmpty();
  }

  private Batch takeAnswers() {
    Batch out = answers;
    answers = Batch.EMPTY;
    return out;
  }

  private List<Told> takeReports() {
    List<Told> out = reports;
    reports = List.of();
    return out;
  }

  /**
   * A caller's batch; a failure is left to the thread. Called with the run lock, which is released
   * before the callers' answers go out: they may call again.
   */
  private void callersTurn(Supplier<List<Input.Absorbed.Update>> taker) {
    Batch out = Batch.EMPTY;
    List<Told> told = List.of();
    try {
      if (broken == null && !stopped) {
        runBatch(taker);
        wakeBefore(machine.nextTickNanos());
        out = takeAnswers();
        told = takeReports();
      }
    } catch (Throwable e) {
      broken = e;
      accepting = false;
      LockSupport.unpark(thread);
    } finally {
      running.unlock();
    }
    answer(out);
    told.forEach(Told::tell);
  }

  private Now now() {
    long nanos = System.nanoTime();
    long wall = System.currentTimeMillis();
    long millis = clock.read(wall, nanos);
    if (clock.jumped()) {
      LOG.warn(
          "{}: the system clock jumped; it is {} ms ahead of the time in use, which follows slowly",
          name,
          clock.offsetMillis());
    }
    return new Now(nanos, millis);
  }

  private void run() {
    Throwable failure = null;
    try {
      store.attach();
      while (!stopping) {
        if (!ownTurn()) {
          park();
        }
      }
    } catch (Throwable e) {
      failure = e;
    }
    accepting = false;
    if (combiner != null) {
      combiner.close();
    }
    running.lock(); // and nobody else runs it from now on
    try {
      stopped = true;
    } finally {
      running.unlock();
    }
    if (failure != null) {
      // Invariants may be broken; going on could spread the damage.
      LOG.error("{} failed and stops", name, failure);
      onFailure.accept(failure);
    }
    abandon(failure);
    answerWhatIsLeft(failure);
  }

  /** The thread's batch; false if there was nothing to do. */
  private boolean ownTurn() throws Throwable {
    boolean did;
    Batch out;
    List<Told> told;
    running.lock();
    try {
      if (broken != null) {
        throw broken;
      }
      did = runBatch(this::takeDue);
      out = takeAnswers();
      told = takeReports();
    } finally {
      running.unlock();
    }
    answer(out);
    told.forEach(Told::tell);
    return did;
  }

  private List<Input.Absorbed.Update> takeDue() {
    if (combiner == null) {
      return List.of();
    }
    return accepting ? combiner.takeDue(System.nanoTime()) : combiner.takeAll();
  }

  /**
   * Answers the commands that the machine has taken and not answered, and those whose answers were
   * about to leave with the batch that failed.
   */
  private void abandon(Throwable failure) {
    Reply.Failure unknown =
        new Reply.Failure(
            ErrorCode.TIMEOUT,
            name + " failed at this request, which may have been done: " + failure);
    batch(machine.takeEffects()).answered().forEach(reply -> reply.accept(unknown));
    leaving.answered().forEach(reply -> reply.accept(unknown));
    answers.answered().forEach(reply -> reply.accept(unknown));
    waiting.forEach(
        (ticket, reply) ->
            reply.accept(failure != null && ticket == inHand ? unknown : refusal(failure)));
    waiting.clear();
    takeReports().forEach(Told::tell);
    inspections.values().forEach(i -> i.completeExceptionally(gone(failure)));
    inspections.clear();
  }

  /** Answers what no thread will take from the queues any more. For any thread. */
  private void answerWhatIsLeft(Throwable failure) {
    Work work;
    while ((work = commands.poll()) != null || (work = events.poll()) != null) {
      switch (work) {
        case Command c -> c.reply.accept(refusal(failure));
        case Inspection i -> i.report.completeExceptionally(gone(failure));
        case Event e -> {}
      }
    }
  }

  private Reply.Failure refusal(Throwable failure) {
    OsierException gone = gone(failure);
    return new Reply.Failure(gone.code(), gone.getMessage());
  }

  private OsierException gone(Throwable failure) {
    return failure == null
        ? new OsierException(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down")
        : new OsierException(ErrorCode.INTERNAL, name + " has failed; nothing was done", failure);
  }

  /**
   * Handles what waits, up to a batch of it; false if nothing did.
   *
   * @param taker takes out of the combiner what is to be absorbed first
   */
  private boolean runBatch(Supplier<List<Input.Absorbed.Update>> taker) {
    boolean refusing = !accepting;
    drained = false;
    int handled = absorb(taker.get()) + drain(events) + drain(commands);
    Now now = now();
    if (machine.nextTickNanos() <= now.nanos()) {
      on(new Input.Tick(), now);
      handled++;
    }
    if (refusing && (handled > 0 || !flushed)) {
      // After the commands, and again when one that had to wait is done late: what a command
      // leaves dirty now has no deadline that will be met.
      flushed = true;
      on(new Input.Flush(), now);
      handled++;
    }
    if (handled > 0) {
      commit();
    }
    drained =
        refusing
            && groupsOut == groups
            && waiting.isEmpty()
            && (combiner == null || !combiner.isHolding())
            && machine.isDrained();
    return handled > 0;
  }

  /** Carries out what a batch wants done. */
  private void commit() {
    Effects effects = machine.takeEffects();
    report(effects.atOnce());
    Batch batch = batch(effects);
    long group = ++groups;
    leaving = batch; // to be answered with the failure, should there be one
    effects.keep(
        journal,
        () -> {
          leave(batch);
          groupsOut = group;
        });
    leaving = Batch.EMPTY;
    if (callersRun) {
      answers = batch;
    }
  }

  private void report(List<Effects.Report> made) {
    if (made.isEmpty()) {
      return;
    }
    reports = new ArrayList<>();
    for (Effects.Report report : made) {
      CompletableFuture<PartitionReport> to = inspections.remove(report.ticket());
      reports.add(new Told(to, report.report()));
    }
  }

  private Batch batch(Effects effects) {
    if (effects.whenDurable().isEmpty()) {
      return Batch.EMPTY;
    }
    List<Consumer<Reply>> answered = new ArrayList<>();
    for (Effects.Output output : effects.whenDurable()) {
      if (output instanceof Effects.Answer a) {
        answered.add(waiting.remove(a.ticket()));
      }
    }
    return new Batch(effects.whenDurable(), answered);
  }

  /**
   * Lets outputs go. What cannot leave must stop neither the others nor the journal's thread. Where
   * callers run, only frames leave here, in their order, under the lock.
   */
  private void leave(Batch batch) {
    int next = 0;
    for (Effects.Output output : batch.outputs()) {
      try {
        switch (output) {
          case Effects.Send s -> sender.send(s.dc(), s.frame());
          case Effects.Answer a -> {
            if (!callersRun) {
              batch.answered().get(next++).accept(a.reply());
            }
          }
        }
      } catch (RuntimeException e) {
        couldNotLeave(e);
      }
    }
  }

  /** Lets answers go that {@link #leave} has left. */
  private void answer(Batch batch) {
    int next = 0;
    for (Effects.Output output : batch.outputs()) {
      if (output instanceof Effects.Answer a) {
        try {
          batch.answered().get(next++).accept(a.reply());
        } catch (RuntimeException e) {
          couldNotLeave(e);
        }
      }
    }
  }

  private void couldNotLeave(RuntimeException e) {
    LOG.error("{}: an answer or a frame could not leave", name, e);
  }

  private int absorb(List<Input.Absorbed.Update> updates) {
    if (updates.isEmpty()) {
      return 0;
    }
    on(new Input.Absorbed(updates), now());
    combiner.absorbed();
    return updates.size();
  }

  private void on(Input input, Now now) {
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

  private int drain(Queue<Work> queue) {
    int handled = 0;
    Work work;
    while (handled < BATCH && (work = queue.poll()) != null) {
      handle(work);
      handled++;
    }
    return handled;
  }

  private void handle(Work work) {
    Now now = now();
    switch (work) {
      case Command c -> {
        long ticket = ++tickets;
        waiting.put(ticket, c.reply);
        inHand = ticket;
        on(new Input.Command(ticket, c.request), now);
        inHand = 0;
      }
      case Event e -> {
        on(e.input, now);
        if (e.input instanceof Input.FromPeer f && f.frame() instanceof Frame.Updates u) {
          machine.handled(u.shipments().size(), System.nanoTime() - now.nanos());
        }
      }
      case Inspection i -> {
        long ticket = ++tickets;
        inspections.put(ticket, i.report);
        on(new Input.Inspect(ticket, i.hotLimit), now);
      }
    }
  }

  private void park() {
    sleepsUntil = Long.MAX_VALUE; // whoever changes what is due from now on wakes this thread
    parked = true;
    if (!hasWork() && !stopping && (accepting || flushed)) {
      long now = System.nanoTime();
      long due = Math.min(dueNanos(), now + PARK_NANOS_MAX);
      sleepsUntil = due;
      // A caller that came while this thread had the lock has left its work to it.
      if (due > now && !hasWork()) {
        LockSupport.parkNanos(this, due - now);
      }
    }
    parked = false;
    sleepsUntil = Long.MIN_VALUE;
  }

  /** When the thread has something to do, unless something comes in. */
  private long dueNanos() {
    running.lock();
    try {
      if (broken != null) {
        return Long.MIN_VALUE;
      }
      long tick = machine.nextTickNanos();
      return combiner == null ? tick : Math.min(tick, combiner.dueNanos());
    } finally {
      running.unlock();
    }
  }
}
