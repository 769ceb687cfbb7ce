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

  /** Brings an answer within the process, by whatever thread has it. */
  static void bring(Runnable answer) {
    Answering here = HERE.get();
    here.depth++;
    try {
      answer.run();
    } finally {
      here.depth--;
    }
  }

  /** Whether this thread waits for nobody: all the network's answers come by it. */
  static boolean isLoop() {
    return Thread.currentThread() instanceof LoopThread;
  }

  /** Whether this thread is bringing an answer, or is one of Netty's, which nobody may block. */
  static boolean isHere() {
    return Thread.currentThread() instanceof FastThreadLocalThread || HERE.get().depth > 0;
  }
}
