package io.osier.datacenter.server;

import io.osier.datacenter.shard.agent.PartitionRunner;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits, when a datacenter shuts down, until all its updates are shipped.
 *
 * @param limit the longest wait
 * @param failure is done if the datacenter cannot, or need not, go on
 * @param isCutOff returns whether there are other datacenters and none is connected
 * @param isStored whether updates that are not shipped are still there after the next start
 */
record Drain(
    Duration limit, CompletableFuture<Void> failure, BooleanSupplier isCutOff, boolean isStored) {
  private static final Logger LOG = LoggerFactory.getLogger(Datacenter.class);
  private static final long POLL_NANOS = 10_000_000;

  /**
   * Waits until everything is shipped, or the time limit ends; logs a line if something is not
   * shipped.
   *
   * @return whether this thread was interrupted
   */
  boolean await(List<PartitionRunner> all) {
    long deadline = System.nanoTime() + limit.toNanos();
    boolean interrupted = false; // an interrupt ends the waiting; all is still closed in order
    while (!isDone(all) && System.nanoTime() < deadline && !failure.isDone() && !interrupted) {
      LockSupport.parkNanos(POLL_NANOS);
      interrupted = Thread.interrupted();
    }
    if (failure.isCompletedExceptionally()) {
      LOG.warn("updates that were not shipped before the failure stay unshipped");
    } else if (!failure.isDone() && !isDone(all)) {
      LOG.warn(
          "some updates were not shipped {}",
          interrupted
              ? "before the closing was interrupted"
              : "within " + limit.toMillis() + " ms");
    } else if (!failure.isDone() && isCutOff.getAsBoolean()) {
      LOG.warn(
          "no peer is connected: updates since the last connection {}",
          isStored ? "are shipped after the next start" : "are lost");
    }
    return interrupted;
  }

  private static boolean isDone(List<PartitionRunner> all) {
    return all.stream().allMatch(PartitionRunner::isDrained);
  }
}
