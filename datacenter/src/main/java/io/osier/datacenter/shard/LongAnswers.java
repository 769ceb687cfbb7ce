package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.datacenter.shard.agent.PendingAnswer;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes answers that take long in threads of its own: the store's readers are kept for cold
 * objects, whose reads are short. The bound on clients' requests in flight bounds the answers that
 * wait here, since requests count until they are answered. Thread-safe.
 */
public final class LongAnswers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LongAnswers.class);
  private static final int THREADS = 2;

  /** How long a stop waits for answers that are being made, in seconds. */
  private static final int STOP_SECONDS = 10;

  private static final Reply.Failure CLOSED =
      new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down");

  private final AtomicInteger threadNumber = new AtomicInteger();
  private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();

  /** The threads are started when there is work. */
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          0,
          TimeUnit.SECONDS,
          queue,
          r ->
              Thread.ofPlatform()
                  .name("osier-long-answers-" + threadNumber.incrementAndGet())
                  .daemon(true)
                  .unstarted(r));

  /** An answer to make. Its exceptions are logged; an error is for the thread's handler. */
  private record Job(PendingAnswer answer) implements Runnable {
    @Override
    public void run() {
      try {
        answer.run();
      } catch (RuntimeException e) {
        LOG.error("a long answer could not be built or sent", e);
      }
    }

    void refuse() {
      try {
        answer.refuse(CLOSED);
      } catch (RuntimeException e) {
        LOG.error("a refusal could not be sent", e);
      }
    }
  }

  /** Makes an answer when a thread is free; refuses it if this is closed. */
  public void take(PendingAnswer answer) {
    Job job = new Job(answer);
    try {
      threads.execute(job);
    } catch (RejectedExecutionException e) {
      job.refuse();
    }
  }

  /**
   * Refuses answers that were not begun, so that a stop does not wait for them, and waits for the
   * others, for some time.
   */
  @Override
  public void close() {
    threads.shutdown();
    List<Runnable> left = new ArrayList<>();
    queue.drainTo(left);
    left.forEach(job -> ((Job) job).refuse());
    try {
      if (!threads.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("a long answer is still being built {} s after the stop", STOP_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
