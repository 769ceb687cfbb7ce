package io.osier.datacenter.shard.agent;

import io.osier.core.ErrorCode;
import io.osier.core.memory.Budget;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds the inputs that wait for a partition. Commands wait in a bounded queue and are refused when
 * it is full, or when all commands not answered yet take too much of the heap. Frames of peers are
 * never refused: a stream's window bounds the frames that a peer has in flight. Thread-safe; calls
 * no foreign code.
 */
public final class Inbox {
  sealed interface Work {}

  /** A command; its bytes count in the budget until it is answered. */
  record Command(Request request, Consumer<Reply> reply, long bytes, ByteBudget budget)
      implements Work, Consumer<Reply> {
    /** What a command takes in the heap besides its request, about, in bytes. */
    private static final long PLACE_BYTES = 160;

    /** Who is told how far the request has come. */
    Phased phased() {
      return Phased.of(reply);
    }

    @Override
    public void accept(Reply answer) {
      budget.give(bytes);
      reply.accept(answer);
    }
  }

  record Event(Input input) implements Work {}

  record Inspection(int hotLimit, List<ObjectId> about, CompletableFuture<PartitionReport> report)
      implements Work {}

  /** The outcome of offering a command. */
  public enum Offer {
    /** The command waits in the queue. */
    TAKEN,
    /** Too many commands wait already. */
    FULL,
    /** The waiting commands take too much of the heap. */
    TOO_LARGE,
    /** No commands are taken any more. */
    CLOSED
  }

  /** A queue without a lock: threads that add and take commands do not stop each other. */
  private final Queue<Command> commands = new ConcurrentLinkedQueue<>();

  private final int commandsMax;

  /** The number of commands, or a little more. */
  private final AtomicInteger commandsThere = new AtomicInteger();

  private final Queue<Work> events = new ConcurrentLinkedQueue<>();

  /** Events that go before every command that comes after them. */
  private final Queue<Event> urgent = new ConcurrentLinkedQueue<>();

  private final AtomicInteger overloads = new AtomicInteger();

  /** The reply that refuses commands; null as long as they are taken. */
  private volatile Reply.@Nullable Failure closed;

  private final ByteBudget budget;
  private final AtomicInteger tooLarge = new AtomicInteger();

  /** An inbox without a bound in the heap. */
  public Inbox(int commandsMax) {
    this(commandsMax, ByteBudget.UNLIMITED.max());
  }

  /**
   * @param commandsMax how many commands may wait
   * @param bytesMax what commands that are not answered may take in the heap; a single one may take
   *     more
   */
  public Inbox(int commandsMax, long bytesMax) {
    this.commandsMax = commandsMax;
    this.budget = new ByteBudget(bytesMax);
  }

  /** Adds a command, or refuses it without an answer. */
  public Offer offer(Request request, Consumer<Reply> reply) {
    if (closed != null) {
      return Offer.CLOSED;
    }
    long bytes = Math.min(budget.max(), Command.PLACE_BYTES + MessageHeap.bytes(request));
    if (!budget.tryTake(bytes)) {
      overloads.incrementAndGet();
      tooLarge.incrementAndGet();
      return Offer.TOO_LARGE;
    }
    if (commandsThere.incrementAndGet() <= commandsMax) {
      commands.add(new Command(request, reply, bytes, budget));
      return Offer.TAKEN;
    }
    commandsThere.decrementAndGet();
    budget.give(bytes);
    overloads.incrementAndGet();
    return Offer.FULL;
  }

  /** Sets how many bytes of the heap commands that are not answered may take. */
  void setBytesMax(long bytesMax) {
    budget.setMax(bytesMax);
  }

  /** Adds an event. */
  public void add(Input input) {
    events.add(new Event(input));
  }

  /** Adds an event that goes before any command added later. */
  void addFirst(Input input) {
    urgent.add(new Event(input));
  }

  public void inspect(
      int hotLimit, List<ObjectId> about, CompletableFuture<PartitionReport> report) {
    events.add(new Inspection(hotLimit, about, report));
  }

  @Nullable Event pollUrgent() {
    return urgent.poll();
  }

  Work pollEvent() {
    return events.poll();
  }

  @Nullable Command pollCommand() {
    Command first = commands.poll();
    if (first != null) {
      commandsThere.decrementAndGet();
    }
    return first;
  }

  /** Returns whether the inbox is empty. */
  public boolean isEmpty() {
    return commands.isEmpty() && events.isEmpty() && urgent.isEmpty();
  }

  int commands() {
    return commandsThere.get();
  }

  int events() {
    return events.size();
  }

  /** Returns the commands' use of their budget. */
  Budget.Usage memory() {
    return new Budget.Usage("commands", budget.max(), budget.taken(), tooLarge.get());
  }

  /** Returns how many commands were refused because too many waited or took too much. */
  int overloads() {
    return overloads.get();
  }

  /** Refuses commands with SHUTTING_DOWN from now on, unless the inbox is closed already. */
  public void close() {
    close(new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
  }

  /** Refuses commands with this reply from now on, unless the inbox is closed already. */
  void close(Reply.Failure why) {
    if (closed == null) {
      closed = why;
    }
  }

  /** Returns the reply that refuses commands; empty as long as they are taken. */
  Optional<Reply.Failure> closed() {
    return Optional.ofNullable(closed);
  }

  /** Returns whether commands are taken. */
  public boolean isOpen() {
    return closed == null;
  }
}
