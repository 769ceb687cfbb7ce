package io.osier.datacenter.server;

import io.osier.datacenter.partition.Input;
import io.osier.datacenter.partition.PartitionReport;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * What waits in front of a partition. Commands wait in a bounded queue and are refused when it is
 * full. Frames of peers are never refused: what a peer may have under way is bounded by its
 * stream's window. Thread-safe; runs nobody's code.
 */
public final class Inbox {
  sealed interface Work {}

  record Command(Request request, Consumer<Reply> reply) implements Work {}

  record Event(Input input) implements Work {}

  record Inspection(int hotLimit, CompletableFuture<PartitionReport> report) implements Work {}

  /** What became of a command. */
  public enum Offer {
    /** It waits. */
    TAKEN,
    /** Too many wait already. */
    FULL,
    /** No commands are taken any more. */
    CLOSED
  }

  private final Queue<Command> commands;
  private final Queue<Work> events = new ConcurrentLinkedQueue<>();
  private final AtomicInteger overloads = new AtomicInteger();
  private volatile boolean open = true;

  /**
   * An empty one.
   *
   * @param commandsMax so many commands may wait
   */
  public Inbox(int commandsMax) {
    this.commands = new ArrayBlockingQueue<>(commandsMax);
  }

  /** Puts a command in, or refuses it; it is not answered then. */
  public Offer offer(Request request, Consumer<Reply> reply) {
    if (!open) {
      return Offer.CLOSED;
    }
    if (commands.offer(new Command(request, reply))) {
      return Offer.TAKEN;
    }
    overloads.incrementAndGet();
    return Offer.FULL;
  }

  /** Puts an event in. */
  public void add(Input input) {
    events.add(new Event(input));
  }

  /** Asks for a report. */
  public void inspect(int hotLimit, CompletableFuture<PartitionReport> report) {
    events.add(new Inspection(hotLimit, report));
  }

  Work pollEvent() {
    return events.poll();
  }

  Command pollCommand() {
    return commands.poll();
  }

  /** Whether nothing waits. */
  public boolean isEmpty() {
    return commands.isEmpty() && events.isEmpty();
  }

  int commands() {
    return commands.size();
  }

  int events() {
    return events.size();
  }

  /** How many commands were refused because too many waited. */
  int overloads() {
    return overloads.get();
  }

  /** Takes no commands any more. */
  public void close() {
    open = false;
  }

  /** Whether commands are taken. */
  public boolean isOpen() {
    return open;
  }
}
