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
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** What an application's way to a datacenter has of the world. */
final class AppSockets implements Network, SimProcess {
  private final Applications world;
  private final Scheduler scheduler;
  private final AppWay way;
  private final Random random;
  private long numbers;
  private boolean closed;

  /** The last connection that was opened; null before. */
  private @Nullable AppConnection connection;

  AppSockets(Applications world, AppWay way, Random random) {
    this.world = world;
    this.scheduler = world.scheduler();
    this.way = way;
    this.random = random;
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
    long delay = way.link().delayNanos();
    world.trace().note("%s dials", way);
    scheduler.in(
        delay,
        () -> {
          AppPort there = world.port(to.getHostString());
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
    AppConnection opened = new AppConnection(world, way, there, new Random(random.nextLong()));
    there.accept(opened);
    scheduler.in(
        delay,
        () -> {
          connection = opened;
          world.trace().note("%s is connected with %s", way, there.self());
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
}
