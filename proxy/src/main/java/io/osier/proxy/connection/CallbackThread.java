package io.osier.proxy.connection;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.ThreadFactory;

/**
 * Knows whether the present thread is one that brings answers, and so runs callers' callbacks: a
 * call that it makes must not wait for other answers, which it may be the one to bring.
 */
public final class CallbackThread {
  private static final ThreadLocal<CallbackThread> HERE =
      ThreadLocal.withInitial(CallbackThread::new);

  private int depth;

  /** How many of the answers that this thread is bringing are followed by others' answers. */
  private int owing;

  private CallbackThread() {}

  /** A thread of the client's own. */
  private static final class LoopThread extends FastThreadLocalThread {
    LoopThread(ThreadGroup group, Runnable target, String name) {
      super(group, target, name);
    }
  }

  /** Makes the threads that bring the network's answers. */
  public static ThreadFactory threads(String name) {
    return new DefaultThreadFactory(name, true) {
      @Override
      protected Thread newThread(Runnable r, String threadName) {
        return new LoopThread(threadGroup, r, threadName);
      }
    };
  }

  /**
   * Brings an answer within the process, by whatever thread has it.
   *
   * @param isLast whether nobody waits for what this thread does afterwards: then a callback may
   */
  public static void bring(boolean isLast, Runnable answer) {
    CallbackThread here = HERE.get();
    here.depth++;
    here.owing += isLast ? 0 : 1;
    try {
      answer.run();
    } finally {
      here.owing -= isLast ? 0 : 1;
      here.depth--;
    }
  }

  /** Whether this thread must not block: other callers wait for answers that it has to bring. */
  public static boolean mustNotWait() {
    return Thread.currentThread() instanceof LoopThread || HERE.get().owing > 0;
  }

  /** Whether this thread is bringing an answer, or is one of Netty's, which nobody may block. */
  public static boolean isHere() {
    return Thread.currentThread() instanceof FastThreadLocalThread || HERE.get().depth > 0;
  }
}
