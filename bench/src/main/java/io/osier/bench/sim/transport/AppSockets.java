package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.netty.channel.Channel;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimChannel;
import io.osier.bench.sim.world.SimProcess;
import io.osier.core.net.Network;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** What an application's way to a datacenter has of the world. */
final class AppSockets implements Network, SimProcess {
  private static final int DELAY_MILLIS_MAX = 15;
  private static final int FAR_MILLIS_MAX = 120;
  private static final int BYTES_PER_SECOND_MIN = 20_000;
  private static final int[] BUFFER_BYTES = {2 << 10, 16 << 10, 64 << 10};

  /** By so much buffers are larger, and lines not narrow, where values are large. */
  private static final int LARGE_FACTOR = 32;

  /**
   * What lies between an application and a datacenter.
   *
   * @param bytesPerSecond what it carries; 0 for any amount
   * @param bufferBytes of each direction
   */
  record Link(long delayNanos, long bytesPerSecond, int bufferBytes) {
    static Link draw(Random random, boolean isLarge) {
      int delay = random.nextInt(4) == 0 ? FAR_MILLIS_MAX : DELAY_MILLIS_MAX;
      int buffer = BUFFER_BYTES[random.nextInt(BUFFER_BYTES.length)];
      boolean isNarrow = random.nextInt(4) == 0 && !isLarge;
      return new Link(
          (1 + random.nextInt(delay)) * MILLI,
          isNarrow ? BYTES_PER_SECOND_MIN : 0,
          isLarge ? LARGE_FACTOR * buffer : buffer);
    }
  }

  private final AppWorld world;
  private final Scheduler scheduler;
  private final String name;
  private final boolean isStranger;
  private final Function<String, AppPort> ports;
  private final Link link;
  private final Random random;
  private long numbers;
  private boolean closed;

  /** The last connection that was opened; null before. */
  private @Nullable AppConnection connection;

  AppSockets(
      AppWorld world,
      String name,
      boolean isStranger,
      Function<String, AppPort> ports,
      Random random) {
    this.world = world;
    this.scheduler = world.scheduler();
    this.name = name;
    this.isStranger = isStranger;
    this.ports = ports;
    this.link = Link.draw(random, world.isLarge());
    this.random = new Random(random.nextLong());
  }

  Link link() {
    return link;
  }

  /** Whether the datacenter may not let it in. */
  boolean isStranger() {
    return isStranger;
  }

  SimChannel channel() {
    return new SimChannel(scheduler, this, ++numbers);
  }

  /** The last connection that was opened; null before. */
  @Nullable AppConnection connection() {
    return connection;
  }

  @Override
  public boolean isServed() {
    return true; // until its client has closed its connections
  }

  @Override
  public Port listen(InetSocketAddress at, Consumer<Channel> opening) {
    throw new IllegalStateException("an application is not dialled");
  }

  @Override
  public void dial(
      InetSocketAddress to,
      int timeoutMillis,
      Consumer<Channel> opening,
      Consumer<Throwable> failed) {
    long delay = link.delayNanos();
    world.trace().note("%s dials", name);
    scheduler.in(
        delay,
        () -> {
          AppPort there = ports.apply(to.getHostString());
          if (closed) {
            return;
          }
          if (there.sockets().isServed()) {
            connect(there, delay, opening);
            return;
          }
          boolean isSilent = !there.sockets().isClosed();
          Throwable why = new ConnectException(isSilent ? "timed out" : "connection refused");
          scheduler.in(
              isSilent ? timeoutMillis * MILLI : delay,
              () -> {
                if (!closed) {
                  failed.accept(why);
                }
              });
        });
  }

  private void connect(AppPort there, long delay, Consumer<Channel> opening) {
    AppConnection opened = new AppConnection(world, this, there, new Random(random.nextLong()));
    there.accept(opened);
    scheduler.in(
        delay,
        () -> {
          connection = opened;
          world.trace().note("%s is connected with %s", name, there.self());
          opened.client().open(opening);
          opened.deliver();
        });
  }

  @Override
  public void later(Runnable task, long millis) {
    scheduler.in(
        millis * MILLI,
        () -> {
          if (!closed) {
            task.run();
          }
        });
  }

  @Override
  public void apart(String name, Runnable task) {
    AppConnection of = connection;
    later(
        () -> {
          task.run();
          if (of != null) {
            of.client().wake(); // what is sent from outside of its loop
          }
        },
        1 + random.nextInt(10));
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
  }

  @Override
  public String toString() {
    return name;
  }
}
