package io.osier.proxy.connection;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.ThreadFactory;

/**
 * Knows whether the current thread delivers answers, and so runs callers' callbacks. A call that
 * such a thread makes must not wait for other answers, since the thread may be the one that has to
 * deliver them.
 */
public final class CallbackThread {
  private static final ThreadLocal<CallbackThread> HERE =
      ThreadLocal.withInitial(CallbackThread::new);

  private int depth;

  /**
   * How many of the answers that this thread is delivering are followed by answers to other
   * callers.
   */
  private int owing;

  private CallbackThread() {}

  /** A thread of the client's event loop. */
  private static final class LoopThread extends FastThreadLocalThread {
    LoopThread(ThreadGroup group, Runnable target, String name) {
      super(group, target, name);
    }
  }

  /** Returns a factory of the threads that deliver the network's answers. */
  public static ThreadFactory threads(String name) {
    return new DefaultThreadFactory(name, true) {
      @Override
      protected Thread newThread(Runnable r, String threadName) {
        return new LoopThread(threadGroup, r, threadName);
      }
    };
  }

  /**
   * Delivers an answer of a datacenter in the process, in the calling thread.
   *
   * @param isLast whether nobody waits for what this thread does afterwards, so that a callback may
   *     wait
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

  /**
   * Returns whether this thread must not block, because other callers wait for answers that it has
   * to deliver.
   */
  public static boolean mustNotWait() {
    return Thread.currentThread() instanceof LoopThread || HERE.get().owing > 0;
  }

  /**
   * Returns whether this thread is delivering an answer, or is one of Netty's, which nothing may
   * block.
   */
  public static boolean isHere() {
    return Thread.currentThread() instanceof FastThreadLocalThread || HERE.get().depth > 0;
  }
}
