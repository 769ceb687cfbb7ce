package io.osier.bench.sim;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Ticker;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a {@link SimConnection}: production's handlers stand in its pipeline, its time is the
 * simulation's, and what it writes goes no further than the socket's buffer has room.
 */
final class SimChannel extends EmbeddedChannel {
  private record VirtualTime(Scheduler scheduler) implements Ticker {
    @Override
    public long initialNanoTime() {
      return 0;
    }

    @Override
    public long nanoTime() {
      return scheduler.nanos();
    }

    @Override
    public void sleep(long delay, TimeUnit unit) {
      throw new IllegalStateException("nothing sleeps here");
    }
  }

  private final Scheduler scheduler;
  private final SimSockets sockets;

  // Null until it is joined with its other end.
  private SimConnection.@Nullable Way out;
  private SimConnection.@Nullable Way in;

  /** The network ends it, and not its handlers. */
  private boolean ending;

  private boolean running;
  private boolean planned;
  private long plannedNanos = Long.MAX_VALUE;

  SimChannel(Scheduler scheduler, SimSockets sockets) {
    super(EmbeddedChannel.builder().register(false).ticker(new VirtualTime(scheduler)));
    this.scheduler = scheduler;
    this.sockets = sockets;
  }

  void join(SimConnection.Way writes, SimConnection.Way reads) {
    out = writes;
    in = reads;
  }

  /** The connection is there. */
  void open(Consumer<Channel> opening) {
    opening.accept(this);
    try {
      register();
    } catch (Exception e) {
      throw new IllegalStateException("a channel cannot be opened", e);
    }
    run();
  }

  SimSockets sockets() {
    return sockets;
  }

  /** Whether its process runs, and listens. */
  boolean isServed() {
    return isOpen() && isRegistered() && sockets.isServed();
  }

  /** What its handlers have written and the socket has not taken, in bytes. */
  long unsentBytes() {
    ChannelOutboundBuffer unsent = unsafe().outboundBuffer();
    return unsent == null ? 0 : unsent.totalPendingWriteBytes();
  }

  // ---------------------------------------------------------------- its loop

  /** Does what its handlers have planned for now. */
  void run() {
    if (running || !sockets.isServed() || !isRegistered()) {
      return;
    }
    running = true;
    try {
      runPendingTasks();
      long next = runScheduledPendingTasks();
      if (next >= 0 && isOpen()) {
        plan(scheduler.nanos() + next);
      }
      checkException();
    } finally {
      running = false;
    }
  }

  private void plan(long nanos) {
    if (nanos >= plannedNanos) {
      return;
    }
    plannedNanos = nanos;
    scheduler.in(
        nanos - scheduler.nanos(),
        () -> {
          if (plannedNanos == nanos) {
            plannedNanos = Long.MAX_VALUE;
            run();
          }
        });
  }

  /** Its process goes on. */
  void resume() {
    if (isServed()) {
      flushMore();
      requireNonNull(in).deliver();
      plannedNanos = Long.MAX_VALUE;
      run();
    }
  }

  // ---------------------------------------------------------------- bytes

  /** Whether it wants what has come. */
  boolean reads() {
    return isServed() && config().isAutoRead();
  }

  void read(byte[] bytes) {
    pipeline().fireChannelRead(Unpooled.wrappedBuffer(bytes));
  }

  void readComplete() {
    pipeline().fireChannelReadComplete();
    run();
  }

  @Override
  protected void doBeginRead() {
    SimConnection.Way way = in;
    if (way != null && way.hasCome() && !planned) {
      planned = true;
      scheduler.in(
          0,
          () -> {
            planned = false;
            way.deliver();
          });
    }
  }

  /** The socket has room again. */
  void flushMore() {
    if (isServed() && unsentBytes() > 0) {
      unsafe().flush();
      run();
    }
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer written) {
    SimConnection.Way way = requireNonNull(out);
    int room = sockets.isServed() ? way.room() : 0;
    int bytes = (int) Math.min(room, written.totalPendingWriteBytes());
    byte[] taken = new byte[bytes];
    int n = 0;
    for (Object next = written.current(); next != null; next = written.current()) {
      ByteBuf message = (ByteBuf) next;
      int part = Math.min(message.readableBytes(), bytes - n);
      message.readBytes(taken, n, part);
      n += part;
      written.progress(part);
      if (message.isReadable()) {
        way.isFull();
        break;
      }
      written.remove();
    }
    if (n > 0) {
      way.put(n == bytes ? taken : java.util.Arrays.copyOf(taken, n));
    }
  }

  // ---------------------------------------------------------------- the end

  /** The other end has closed it, or the network has cut it. */
  void end(boolean reset) {
    if (!isServed()) {
      return;
    }
    ending = true;
    if (reset) {
      pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
    }
    close();
    run();
  }

  @Override
  protected void doClose() throws Exception {
    boolean was = isOpen();
    super.doClose();
    if (was && out != null) {
      out.ended(ending);
    }
  }
}
