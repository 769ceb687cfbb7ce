package io.osier.propagation.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Ticker;
import io.osier.core.net.Network;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Networks in memory whose time passes only while they {@link #run}: one thread, virtual time,
 * nothing at random. A byte takes a millisecond.
 */
public final class StillWorld {
  private static final long MILLI = 1_000_000;

  /** How long a connection takes to close after {@link #closesSlowly}. */
  public static final long SLOW_CLOSE_MILLIS = 3_000;

  private record Task(long nanos, long number, Runnable work) {}

  private final PriorityQueue<Task> tasks =
      new PriorityQueue<>(Comparator.comparingLong(Task::nanos).thenComparingLong(Task::number));

  private final Map<String, Consumer<Channel>> listening = new TreeMap<>();
  private final Map<String, Integer> dialled = new TreeMap<>();
  private final List<End> ends = new ArrayList<>();
  private final List<One> processes = new ArrayList<>();
  private boolean closesSlowly;
  private long nanos;
  private long numbers;

  /** Makes connections close slowly from now on, as TLS does over a link that is full. */
  public void closesSlowly() {
    closesSlowly = true;
  }

  private static String name(InetSocketAddress at) {
    return at.getHostString() + ":" + at.getPort();
  }

  /**
   * Puts something at an address that takes connections and closes them, like a forwarder whose
   * target is away; until a process listens there.
   */
  public void closesWhatComes(InetSocketAddress at) {
    listening.put(
        name(at),
        channel ->
            channel
                .pipeline()
                .addLast(
                    new ChannelInboundHandlerAdapter() {
                      @Override
                      public void channelActive(ChannelHandlerContext ctx) {
                        ctx.close();
                      }
                    }));
  }

  public int dials(InetSocketAddress at) {
    return dialled.getOrDefault(name(at), 0);
  }

  /** Returns how many ends of connections are open. */
  public long open() {
    return ends.stream().filter(Channel::isOpen).count();
  }

  public int planned() {
    return tasks.size();
  }

  /** Lets time pass, and does what is due. */
  public void run(long millis) {
    long until = nanos + millis * MILLI;
    long next = 0;
    while (next <= until) {
      nanos = Math.max(nanos, next);
      Task task = tasks.peek();
      if (task != null && task.nanos <= nanos) {
        tasks.remove();
        task.work.run();
      }
      next = task == null ? Long.MAX_VALUE : task.nanos;
      for (End end : List.copyOf(ends)) {
        next = Math.min(next, end.turn());
      }
      ends.removeIf(end -> !end.isOpen());
      Task first = tasks.peek();
      next = Math.min(next, first == null ? Long.MAX_VALUE : first.nanos);
    }
    nanos = until;
  }

  /**
   * Loses the machine at an address, with the processes on it: they send nothing any more, not even
   * that their connections have ended; until another process listens there.
   */
  public void loses(InetSocketAddress at) {
    listening.remove(name(at));
    processes.stream().filter(p -> p.listens.equals(name(at))).forEach(p -> p.closed = true);
    for (End end : ends) {
      if (name(at).equals(end.of)) {
        end.isLost = true;
      }
    }
  }

  private void in(long millis, Runnable work) {
    tasks.add(new Task(nanos + millis * MILLI, numbers++, work));
  }

  public Network network() {
    One process = new One();
    processes.add(process);
    return process;
  }

  private void connect(One by, String to, Consumer<Channel> opening, Consumer<Throwable> failed) {
    dialled.merge(to, 1, Integer::sum);
    Consumer<Channel> accepts = listening.get(to);
    if (by.closed) {
      return;
    }
    if (accepts == null) {
      failed.accept(new ConnectException("nobody listens at " + to));
      return;
    }
    End here = new End();
    End there = new End();
    here.of = by.listens;
    there.of = to;
    here.other = there;
    there.other = here;
    by.ends.add(here);
    there.open(accepts);
    here.open(opening);
  }

  private final class One implements Network {
    private final List<End> ends = new ArrayList<>();
    private final Random random = new Random(1);
    private boolean closed;
    private String listens = "";

    @Override
    public Port listen(InetSocketAddress at, Consumer<Channel> opening) {
      listens = name(at);
      listening.put(
          name(at),
          channel -> {
            ends.add((End) channel);
            opening.accept(channel);
          });
      return new Port() {
        @Override
        public InetSocketAddress address() {
          return at;
        }

        @Override
        public void close() {
          listening.remove(name(at));
        }
      };
    }

    @Override
    public void dial(
        InetSocketAddress to,
        int timeoutMillis,
        Consumer<Channel> opening,
        Consumer<Throwable> failed) {
      in(1, () -> connect(this, name(to), opening, failed));
    }

    @Override
    public void later(Runnable task, long millis) {
      in(
          millis,
          () -> {
            if (!closed) {
              task.run();
            }
          });
    }

    @Override
    public void apart(String name, Runnable task) {
      in(10, task);
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
      ends.forEach(Channel::close);
    }
  }

  private final class Clock implements Ticker {
    @Override
    public long initialNanoTime() {
      return 0;
    }

    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void sleep(long delay, TimeUnit unit) {
      throw new IllegalStateException("nothing sleeps here");
    }
  }

  private final class End extends EmbeddedChannel {
    private @Nullable End other;

    /** The address at which the process of this end listens. */
    private String of = "";

    private boolean isLost;

    End() {
      super(EmbeddedChannel.builder().register(false).ticker(new Clock()));
    }

    void open(Consumer<Channel> opening) {
      if (closesSlowly) {
        pipeline()
            .addLast(
                new ChannelOutboundHandlerAdapter() {
                  @Override
                  public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                    in(SLOW_CLOSE_MILLIS, () -> ctx.close(promise));
                  }
                });
      }
      opening.accept(this);
      ends.add(this);
      try {
        register();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    /** Does what is due; returns when it has something to do next. */
    long turn() {
      if (isLost) {
        return Long.MAX_VALUE;
      }
      runPendingTasks();
      long next = runScheduledPendingTasks();
      checkException();
      return next < 0 || !isOpen() ? Long.MAX_VALUE : nanos + next;
    }

    private void reads(byte[] bytes) {
      if (isOpen() && !isLost) {
        pipeline().fireChannelRead(Unpooled.wrappedBuffer(bytes));
        pipeline().fireChannelReadComplete();
      }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer written) {
      for (Object next = written.current(); next != null; next = written.current()) {
        ByteBuf message = (ByteBuf) next;
        byte[] bytes = new byte[message.readableBytes()];
        message.readBytes(bytes);
        End to = other;
        if (to != null) {
          in(1, () -> to.reads(bytes));
        }
        written.remove();
      }
    }

    @Override
    protected void doClose() throws Exception {
      boolean was = isOpen();
      super.doClose();
      End to = other;
      if (was && to != null && !isLost) {
        in(1, to::close);
      }
    }
  }
}
