package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimChannel;
import io.osier.bench.sim.world.SimProcess;
import io.osier.bench.sim.world.SimStream;
import io.osier.bench.sim.world.SimTimers;
import io.osier.core.net.Network;
import io.osier.proxy.Connection;
import io.osier.proxy.OsierClient;
import io.osier.proxy.SteppedClient;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * A datacenter that is gone before it has said anything is dialled again: its connection is one on
 * which nobody waits for an answer, so nothing else would end it.
 */
final class SilentGreetingTest {
  private final Scheduler scheduler = new Scheduler();
  private int dialled;

  /** Takes bytes, and gives none. */
  private static final class Nowhere extends SimStream {
    Nowhere(SimChannel from, SimChannel to) {
      super(from, to);
    }

    @Override
    protected int bufferBytes() {
      return 1 << 16;
    }

    @Override
    protected void carry(byte[] bytes) {}

    @Override
    protected void refused() {}

    @Override
    protected void ended(boolean byNetwork) {}
  }

  /** Whoever is dialled accepts, and never says anything. */
  private final class Silence implements Network, SimProcess {
    @Override
    public boolean isServed() {
      return true;
    }

    @Override
    public void dial(
        InetSocketAddress to, int millis, Consumer<Channel> opening, Consumer<Throwable> failed) {
      dialled++;
      SimChannel here = new SimChannel(scheduler, this, 2L * dialled);
      SimChannel there = new SimChannel(scheduler, this, 2L * dialled + 1);
      here.join(new Nowhere(here, there), new Nowhere(there, here));
      here.open(opening);
    }

    @Override
    public Port listen(InetSocketAddress at, Consumer<Channel> opening) {
      throw new IllegalStateException("nobody is to listen");
    }

    @Override
    public void later(Runnable task, long millis) {
      scheduler.in(millis * MILLI, task);
    }

    @Override
    public void apart(String name, Runnable task) {
      later(task, 1);
    }

    @Override
    public RandomGenerator random() {
      return new Random(1);
    }

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public void close() {}
  }

  @Test
  void whoeverAcceptsAndSaysNothing_isDialledAgain() {
    OsierClient.Builder settings = OsierClient.builder().name("test");
    SimTimers timers = new SimTimers(scheduler, new Random(1), id -> {});
    Connection remote = SteppedClient.remote("dc", settings, timers, new Silence(), () -> {});
    remote.open();
    scheduler.runFor(2 * SECOND);
    assertThat(dialled).isEqualTo(1);
    scheduler.runFor(20 * SECOND);
    assertThat(dialled).isBetween(3, 8);
    assertThat(remote.trouble()).isEqualTo("no answer to the attempt to connect");
  }
}
