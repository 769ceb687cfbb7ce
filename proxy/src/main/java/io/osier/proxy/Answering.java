package io.osier.proxy;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.ThreadFactory;

/**
 * Knows whether the present thread is one that brings answers, and so runs callers' callbacks: a
 * call that it makes must not wait for other answers, which it may be the one to bring.
 */
final class Answering {
  private static final ThreadLocal<Answering> HERE = ThreadLocal.withInitial(Answering::new);

  private int depth;

  /** How many of the answers that this thread is bringing are followed by others' answers. */
  private int owing;

  private Answering() {}

  /** A thread of the client's own. */
  private static final class LoopThread extends FastThreadLocalThread {
    LoopThread(ThreadGroup group, Runnable target, String name) {
      super(group, target, name);
    }
  }

  /** Makes the threads that bring the network's answers. */
  static ThreadFactory threads(String name) {
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
  static void bring(boolean isLast, Runnable answer) {
    Answering here = HERE.get();
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
  static boolean mustNotWait() {
    return Thread.currentThread() instanceof LoopThread || HERE.get().owing > 0;
  }

  /** Whether this thread is bringing an answer, or is one of Netty's, which nobody may block. */
  static boolean isHere() {
    return Thread.currentThread() instanceof FastThreadLocalThread || HERE.get().depth > 0;
  }
}
