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
 * What waits in front of a partition. Commands wait in a bounded queue and are refused when it is
 * full, or when they and those that are not answered yet take more of the heap than there is.
 * Frames of peers are never refused: what a peer may have under way is bounded by its stream's
 * window. Thread-safe; runs nobody's code.
 */
public final class Inbox {
  sealed interface Work {}

  /** A command; takes its bytes of the budget until it is answered. */
  record Command(Request request, Consumer<Reply> reply, long bytes, ByteBudget budget)
      implements Work, Consumer<Reply> {
    /** What an entry of the queue takes in the heap with what is made to answer it, about. */
    private static final long PLACE_BYTES = 160;

    @Override
    public void accept(Reply answer) {
      budget.give(bytes);
      reply.accept(answer);
    }
  }

  record Event(Input input) implements Work {}

  record Inspection(int hotLimit, List<ObjectId> about, CompletableFuture<PartitionReport> report)
      implements Work {}

  /** What became of a command. */
  public enum Offer {
    /** It waits. */
    TAKEN,
    /** Too many wait already. */
    FULL,
    /** Those that wait take too much of the heap. */
    TOO_LARGE,
    /** No commands are taken any more. */
    CLOSED
  }

  /** Without a lock: threads that bring and take commands at once do not stop each other. */
  private final Queue<Command> commands = new ConcurrentLinkedQueue<>();

  private final int commandsMax;

  /** At least as many as there are. */
  private final AtomicInteger commandsThere = new AtomicInteger();

  private final Queue<Work> events = new ConcurrentLinkedQueue<>();

  /** Events that go before every command that comes after them. */
  private final Queue<Event> urgent = new ConcurrentLinkedQueue<>();

  private final AtomicInteger overloads = new AtomicInteger();

  /** What commands are refused with; null as long as they are taken. */
  private volatile Reply.@Nullable Failure closed;

  private final ByteBudget budget;
  private final AtomicInteger tooLarge = new AtomicInteger();

  /** As the other one, with as much of the heap as there is. */
  public Inbox(int commandsMax) {
    this(commandsMax, ByteBudget.UNLIMITED.max());
  }

  /**
   * @param commandsMax so many commands may wait
   * @param bytesMax what those that are not answered may take in the heap; one alone may take more
   */
  public Inbox(int commandsMax, long bytesMax) {
    this.commandsMax = commandsMax;
    this.budget = new ByteBudget(bytesMax);
  }

  /** Puts a command in, or refuses it; it is not answered then. */
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

  /** From now on commands that are not answered may take so much of the heap. */
  void setBytesMax(long bytesMax) {
    budget.setMax(bytesMax);
  }

  /** Puts an event in. */
  public void add(Input input) {
    events.add(new Event(input));
  }

  /** Puts an event in, before any command that is put in later. */
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

  /** Whether nothing waits. */
  public boolean isEmpty() {
    return commands.isEmpty() && events.isEmpty() && urgent.isEmpty();
  }

  int commands() {
    return commandsThere.get();
  }

  int events() {
    return events.size();
  }

  /** What the commands use of their budget. */
  Budget.Usage memory() {
    return new Budget.Usage("commands", budget.max(), budget.taken(), tooLarge.get());
  }

  /** How many commands were refused because too many waited, or took too much. */
  int overloads() {
    return overloads.get();
  }

  /** From now on commands are refused with SHUTTING_DOWN, unless it is closed already. */
  public void close() {
    close(new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
  }

  /** From now on commands are refused, unless it is closed already. */
  void close(Reply.Failure why) {
    if (closed == null) {
      closed = why;
    }
  }

  /** What commands are refused with; empty as long as they are taken. */
  Optional<Reply.Failure> closed() {
    return Optional.ofNullable(closed);
  }

  /** Whether commands are taken. */
  public boolean isOpen() {
    return closed == null;
  }
}
