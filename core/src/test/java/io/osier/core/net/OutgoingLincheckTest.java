package io.osier.core.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.osier.core.codec.WireOutput;
import io.osier.testing.Interleavings;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The hand-over to a channel's loop, with its threads interleaved by Lincheck's model checker: each
 * message leaves once, in its thread's order. The loop waits without a time-out, so a lost wake-up
 * makes the test hang, which is reported.
 */
final class OutgoingLincheckTest {
  /**
   * A loop of tasks that runs in whatever thread calls it. Created once, outside of the interleaved
   * part, since the model checker need not see how proxies are made.
   */
  private static final class Loop {
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final ByteBuf buffer = Unpooled.buffer(64);
    private boolean ended;
    private @Nullable Thread thread;

    final List<Byte> written = new ArrayList<>();

    private final ByteBufAllocator allocator =
        proxy(ByteBufAllocator.class, (name, arguments) -> buffer.clear());

    private final EventLoop eventLoop =
        proxy(
            EventLoop.class,
            (name, arguments) -> {
              if (name.equals("inEventLoop")) {
                return Thread.currentThread() == thread;
              }
              execute((Runnable) arguments[0]);
              return null;
            });

    final Channel channel =
        proxy(
            Channel.class,
            (name, arguments) ->
                switch (name) {
                  case "eventLoop" -> eventLoop;
                  case "alloc" -> allocator;
                  case "writeAndFlush" -> {
                    take();
                    yield null;
                  }
                  default -> null;
                });

    private interface Answers {
      @Nullable Object to(String name, Object[] arguments);
    }

    private static <T> T proxy(Class<T> type, Answers answers) {
      return type.cast(
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "equals" -> proxy == arguments[0]; // the model checker calls it
                    case "hashCode" -> type.hashCode();
                    case "toString" -> type.getSimpleName();
                    default -> answers.to(method.getName(), arguments);
                  }));
    }

    private void take() {
      while (buffer.isReadable()) {
        Interleavings.check(buffer.readInt() == 1);
        written.add(buffer.readByte());
      }
    }

    void begin() {
      tasks.clear();
      written.clear();
      ended = false;
      thread = null;
    }

    private synchronized void execute(Runnable task) {
      if (ended) {
        throw new RejectedExecutionException("ended");
      }
      tasks.add(task);
      notifyAll();
    }

    private synchronized Runnable next() {
      while (tasks.isEmpty()) {
        try {
          wait();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return tasks.remove();
    }

    /** Runs tasks until this many messages are written. */
    void runUntilWritten(int messages) {
      thread = Thread.currentThread();
      while (written.size() < messages) {
        next().run();
      }
    }

    /** Runs at most one task, and takes none any more. */
    void runOneAndEnd() {
      thread = Thread.currentThread();
      Runnable task;
      synchronized (this) {
        task = tasks.poll();
      }
      if (task != null) {
        task.run();
      }
      synchronized (this) {
        ended = true;
      }
      for (Runnable left = tasks.poll(); left != null; left = tasks.poll()) {
        left.run(); // as Netty's loops do: tasks that were taken are run
      }
    }
  }

  private static final class Messages extends Outgoing<Byte> {
    final List<Byte> failed = new ArrayList<>();

    Messages(Channel channel) {
      super(channel);
    }

    @Override
    protected boolean write(WireOutput to, Byte message) {
      to.writeByte(message);
      return true;
    }

    @Override
    protected void failed(Byte message, RuntimeException cause) {
      synchronized (failed) {
        failed.add(message);
      }
    }

    @Override
    protected boolean flushesSoon() {
      return false;
    }
  }

  private static void addOneAndTwo(Messages messages) {
    messages.add((byte) 1);
    messages.add((byte) 2);
  }

  @Test
  void messagesOfSeveralThreads_leaveOnceAndInOrder() {
    Loop loop = new Loop();
    Interleavings.of(
        () -> {
          loop.begin();
          Messages messages = new Messages(loop.channel);
          Interleavings.run(
              () -> addOneAndTwo(messages),
              () -> messages.add((byte) 3),
              () -> loop.runUntilWritten(3));
          Interleavings.check(loop.written.size() == 3);
          Interleavings.check(loop.written.indexOf((byte) 1) < loop.written.indexOf((byte) 2));
          Interleavings.check(loop.written.contains((byte) 3) && messages.failed.isEmpty());
        });
  }

  /** Not interleaved: exceptions in the model checker's threads cost it minutes. */
  @Test
  void messagesOfALoopThatHasEnded_failOnce() {
    Loop loop = new Loop();
    Messages messages = new Messages(loop.channel);
    messages.add((byte) 1);
    loop.runOneAndEnd();
    addOneAndTwo(messages);
    Interleavings.check(loop.written.equals(List.of((byte) 1)));
    Interleavings.check(messages.failed.equals(List.of((byte) 1, (byte) 2)));
  }
}
