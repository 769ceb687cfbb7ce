package io.osier.datacenter.server;

import io.osier.core.ErrorCode;
import io.osier.core.SlewedClock;
import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.Now;
import io.osier.datacenter.partition.Outbox;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Frame;
import io.osier.propagation.Shipment;
import io.osier.proxy.protocol.Reply;
import io.osier.proxy.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one partition on one thread: takes its inputs in batches, commits each batch's records as
 * one group, and lets replies and frames go when the group is durable.
 *
 * <p>Commands wait in a bounded queue and are refused when it is full. Frames of peers are never
 * refused: what a peer may have under way is bounded by its stream's window.
 */
final class PartitionRunner {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionRunner.class);
  private static final int BATCH = 256;
  private static final long PARK_NANOS_MAX = 100_000_000;

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

  private final String name;
  private final Partition partition;
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

  // Only the runner's thread touches what follows.
  private final Map<Long, Consumer<Reply>> waiting = new HashMap<>();
  private final Map<Long, CompletableFuture<PartitionReport>> inspections = new HashMap<>();
  private List<Runnable> outputs = new ArrayList<>();
  private long tickets;

  PartitionRunner(
      String name,
      Partition partition,
      ObjectStore store,
      Journal journal,
      int queue,
      SlewedClock clock,
      Sender sender,
      Consumer<Throwable> onFailure) {
    this.name = name;
    this.partition = partition;
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
    return partition.isReady();
  }

  /** The objects, for reads that need no turn. For any thread. */
  ObjectStore store() {
    return store;
  }

  /** Submits a command; it is answered by the runner's thread, or at once if the queue is full. */
  void submit(Request request, Consumer<Reply> reply) {
    if (!accepting) {
      reply.accept(new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
    } else if (commands.offer(new Command(request, reply))) {
      wake();
    } else {
      overloads.incrementAndGet();
      reply.accept(
          new Reply.Failure(
              ErrorCode.OVERLOADED,
              "the queue of " + name + " is full; nothing was done, try again later"));
    }
  }

  /** Submits an event; never refused. */
  void submit(Input input) {
    events.add(new Event(input));
    wake();
  }

  CompletableFuture<PartitionReport> inspect(int hotLimit) {
    CompletableFuture<PartitionReport> report = new CompletableFuture<>();
    events.add(new Inspection(hotLimit, report));
    wake();
    return report;
  }

  int queued() {
    return commands.size();
  }

  int overloads() {
    return overloads.get();
  }

  boolean isDrained() {
    return commands.isEmpty() && events.isEmpty() && drained;
  }

  /** Answers every new command with SHUTTING_DOWN. */
  void refuse() {
    accepting = false;
  }

  void stop() {
    stopping = true;
    wake();
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
    try {
      while (!stopping) {
        if (!runBatch()) {
          park();
        }
      }
    } catch (Throwable e) {
      // The machine's invariants may be broken; going on could spread the damage.
      LOG.error("{} failed and stops", name, e);
      accepting = false;
      onFailure.accept(e);
    }
  }

  /** Handles what waits, up to a batch of it; false if nothing did. */
  private boolean runBatch() {
    int handled = drain(events) + drain(commands);
    Now now = now();
    if (partition.nextTickNanos() <= now.nanos()) {
      partition.on(new Input.Tick(), now, outbox);
      handled++;
    }
    drained = !accepting && partition.isDrained();
    if (handled == 0) {
      return false;
    }
    List<Runnable> batch = outputs;
    outputs = new ArrayList<>();
    journal.commit(() -> batch.forEach(Runnable::run));
    return true;
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
        partition.on(new Input.Command(ticket, c.request), now, outbox);
      }
      case Event e -> partition.on(e.input, now, outbox);
      case Inspection i -> {
        long ticket = ++tickets;
        inspections.put(ticket, i.report);
        partition.on(new Input.Inspect(ticket, i.hotLimit), now, outbox);
      }
    }
  }

  private void park() {
    parked = true;
    if (events.isEmpty() && commands.isEmpty() && !stopping) {
      long nanos = partition.nextTickNanos() - System.nanoTime();
      if (nanos > 0) {
        LockSupport.parkNanos(this, Math.min(nanos, PARK_NANOS_MAX));
      }
    }
    parked = false;
  }

  private final Outbox outbox =
      new Outbox() {
        @Override
        public void reply(long ticket, Reply reply) {
          Consumer<Reply> to = waiting.remove(ticket);
          outputs.add(() -> to.accept(reply));
        }

        @Override
        public void send(String dc, Frame frame) {
          outputs.add(() -> sender.send(dc, frame));
        }

        @Override
        public void report(long ticket, PartitionReport report) {
          inspections.remove(ticket).complete(report);
        }

        @Override
        public void append(Shipment update) {
          journal.append(update);
        }
      };
}
