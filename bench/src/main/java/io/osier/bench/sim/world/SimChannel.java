package io.osier.bench.sim.world;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelId;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Ticker;
import io.osier.propagation.net.link.LinkCompressor;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection: production's handlers stand in its pipeline, its time is the
 * simulation's, and what it writes goes no further than the socket's buffer has room.
 */
public class SimChannel extends EmbeddedChannel {
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

  /** The identity of a channel within its process. */
  private record Id(long number) implements ChannelId {
    @Override
    public String asShortText() {
      return Long.toString(number);
    }

    @Override
    public String asLongText() {
      return asShortText();
    }

    @Override
    public int compareTo(ChannelId other) {
      return Long.compare(number, ((Id) other).number);
    }
  }

  private final Scheduler scheduler;
  private final SimProcess process;

  // Null until it is joined with its other end.
  private @Nullable SimStream out;
  private @Nullable SimStream in;

  /** Whether the network closes the channel, and not one of its handlers. */
  private boolean ending;

  /** The compressor in its pipeline; null if there is none. */
  private @Nullable ChannelHandlerContext compressor;

  private boolean gathers;
  private boolean running;
  private boolean planned;
  private boolean woken;
  private long plannedNanos = Long.MAX_VALUE;

  /**
   * Makes an end that is not joined with another one.
   *
   * @param number no other channel of the process has it
   */
  public SimChannel(Scheduler scheduler, SimProcess process, long number) {
    super(
        EmbeddedChannel.builder()
            .channelId(new Id(number))
            .register(false)
            .ticker(new VirtualTime(scheduler)));
    this.scheduler = scheduler;
    this.process = process;
  }

  public void join(SimStream writes, SimStream reads) {
    out = writes;
    in = reads;
  }

  /** Releases what was not sent, since the process has crashed; its handlers hear nothing. */
  void abandon() {
    ChannelOutboundBuffer unsent = unsafe().outboundBuffer();
    if (unsent == null) {
      return;
    }
    unsent.addFlush();
    try {
      unsent.forEachFlushedMessage(
          message -> {
            ReferenceCountUtil.release(message);
            return true;
          });
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** The connection is there. */
  public void open(Consumer<Channel> opening) {
    pipeline()
        .addLast(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                opening.accept(channel);
              }
            });
    try {
      register();
    } catch (Exception e) {
      throw new IllegalStateException("a channel cannot be opened", e);
    }
    compressor = pipeline().context(LinkCompressor.class);
    run();
  }

  long nanos() {
    return scheduler.nanos();
  }

  SimProcess process() {
    return process;
  }

  /** Whether its process runs, and listens. */
  boolean isServed() {
    return isOpen() && isRegistered() && process.isServed();
  }

  /** How many bytes its handlers have written that the socket has not taken. */
  long unsentBytes() {
    ChannelOutboundBuffer unsent = unsafe().outboundBuffer();
    return gatheredBytes() + (unsent == null ? 0 : unsent.totalPendingWriteBytes());
  }

  /** How many bytes its next compressed block holds so far. */
  int gatheredBytes() {
    ChannelHandlerContext here = compressor;
    return here == null || here.isRemoved() ? 0 : ((LinkCompressor) here.handler()).gatheredBytes();
  }

  // ---------------------------------------------------------------- its loop

  /** Runs the tasks of its event loop that are due. */
  public void run() {
    if (running || !process.isServed() || !isRegistered()) {
      return;
    }
    running = true;
    try {
      within(this::runTasks);
    } finally {
      running = false;
    }
  }

  private void runTasks() {
    runPendingTasks();
    long next = runScheduledPendingTasks();
    if (next >= 0 && isOpen()) {
      plan(scheduler.nanos() + next);
    }
    checkException();
  }

  /** Runs work in which its handlers take part. */
  protected void within(Runnable work) {
    work.run();
  }

  /**
   * While it gathers, what is written leaves at the end of the turn, all together; otherwise each
   * message leaves by itself.
   */
  void gather(boolean begin) {
    gathers = begin;
  }

  @Override
  public ChannelFuture writeAndFlush(Object message) {
    return gathers ? pipeline().writeAndFlush(message) : super.writeAndFlush(message);
  }

  /** Runs its event loop soon, after a task was added from outside of it. */
  public final void wake() {
    if (!woken) {
      woken = true;
      scheduler.in(
          0,
          () -> {
            woken = false;
            gathers = false;
            run();
          });
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

  /** Whether it reads at present. */
  boolean reads() {
    return isServed() && config().isAutoRead();
  }

  void read(byte[] bytes) {
    within(() -> pipeline().fireChannelRead(Unpooled.wrappedBuffer(bytes)));
  }

  void readComplete() {
    within(() -> pipeline().fireChannelReadComplete());
    run();
  }

  @Override
  protected void doBeginRead() {
    SimStream way = in;
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
      within(() -> unsafe().flush());
      run();
    }
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer written) {
    SimStream way = requireNonNull(out);
    int room = process.isServed() ? way.room() : 0;
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
  public void end(boolean reset) {
    if (!isServed()) {
      return;
    }
    ending = true;
    within(
        () -> {
          if (reset) {
            pipeline().fireExceptionCaught(new IOException("Connection reset by peer"));
          }
          close();
        });
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
