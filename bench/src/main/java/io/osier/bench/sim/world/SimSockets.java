package io.osier.bench.sim.world;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.netty.channel.Channel;
import io.osier.core.ReplicaId;
import io.osier.core.net.Network;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The network of one process, as production's transport uses it. It ends with the process, and
 * stands still while the process does.
 */
public final class SimSockets implements Network, SimProcess {
  private static final int APART_MILLIS_MAX = 50;

  private final SimNetwork network;
  private final Scheduler scheduler;
  private final ReplicaId self;
  private final LongSupplier slowNanos;
  private final Random random;
  private final List<SimChannel> channels = new ArrayList<>();

  /** The tasks that became due while the process stood still. */
  private final List<Runnable> held = new ArrayList<>();

  /** Prepares an accepted channel; null before the transport listens. */
  private @Nullable Consumer<Channel> opening;

  private long numbers;
  private boolean ended;
  private int stops;
  private long servedSinceNanos;

  /**
   * Makes the network of a process that has just started.
   *
   * @param slowNanos how much longer than usual the process takes now
   */
  public SimSockets(
      SimNetwork network,
      Scheduler scheduler,
      ReplicaId self,
      LongSupplier slowNanos,
      Random random) {
    this.network = network;
    this.scheduler = scheduler;
    this.self = self;
    this.slowNanos = slowNanos;
    this.random = random;
    this.servedSinceNanos = scheduler.nanos();
  }

  @Override
  public boolean isServed() {
    return !ended && stops == 0;
  }

  @Override
  public long servedSinceNanos() {
    return isServed() ? servedSinceNanos : Long.MAX_VALUE;
  }

  /** The process has crashed. */
  public void crash() {
    ended = true;
    channels.forEach(SimChannel::abandon);
    channels.clear();
    held.clear();
  }

  /** Nothing is read, written or timed until as many stops have ended as began. */
  public void stop(boolean begin) {
    stops += begin ? 1 : -1;
    servedSinceNanos = scheduler.nanos();
    if (stops == 0 && !ended) {
      List<Runnable> due = List.copyOf(held);
      held.clear();
      due.forEach(Runnable::run);
      channels.removeIf(c -> !c.isOpen());
      List.copyOf(channels).forEach(SimChannel::resume);
    }
  }

  /** Runs a task later, once the process is not stopped; never if it has ended. */
  void inTime(long nanos, Runnable task) {
    scheduler.in(
        nanos,
        () -> {
          if (isServed()) {
            task.run();
          } else if (!ended) {
            held.add(task);
          }
        });
  }

  /** A new end of a connection. */
  SimChannel channel() {
    return add(new SimChannel(scheduler, this, nextNumber()));
  }

  /** The number of the next channel. */
  public long nextNumber() {
    return ++numbers;
  }

  /** A new end of a connection, with its number. */
  public <C extends SimChannel> C add(C channel) {
    channels.removeIf(c -> !c.isOpen());
    channels.add(channel);
    return channel;
  }

  /** Somebody has dialled, and is connected. */
  public void accept(SimChannel channel) {
    channel.open(requireNonNull(opening, "whoever is dialled listens"));
  }

  /** Runs the due tasks of its channels' event loops. */
  public void run() {
    List.copyOf(channels).forEach(SimChannel::run);
  }

  /** Sends in one turn of its channels' loop. */
  public void inOneTurn(Runnable sends) {
    channels.forEach(channel -> channel.gather(true));
    sends.run();
    channels.forEach(channel -> channel.gather(false));
    run();
  }

  /** What the next compressed blocks of its channels will hold, in bytes, so far. */
  public int gatheredBytes() {
    return channels.stream().mapToInt(SimChannel::gatheredBytes).sum();
  }

  ReplicaId self() {
    return self;
  }

  // ---------------------------------------------------------------- for the transport

  @Override
  public Port listen(InetSocketAddress at, Consumer<Channel> with) {
    opening = with;
    return new Port() {
      @Override
      public InetSocketAddress address() {
        return at;
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void dial(
      InetSocketAddress to, int timeoutMillis, Consumer<Channel> with, Consumer<Throwable> failed) {
    network.dial(
        this,
        to.getHostString(),
        timeoutMillis,
        channel -> channel.open(with),
        cause -> inTime(0, () -> failed.accept(cause)));
  }

  @Override
  public void later(Runnable task, long millis) {
    inTime(millis * MILLI, task);
  }

  @Override
  public void apart(String name, Runnable task) {
    network.decodesApart(self.dc());
    if (network.losesWhatIsApart()) {
      return;
    }
    inTime(
        slowNanos.getAsLong() + (1 + random.nextInt(APART_MILLIS_MAX)) * MILLI,
        () -> {
          task.run();
          run();
        });
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  @Override
  public boolean isClosed() {
    return ended;
  }

  @Override
  public void close() {
    ended = true;
  }

  @Override
  public String toString() {
    return self.toString();
  }
}
