package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.datacenter.trace.Traces;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.SocketAddress;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** What clients ask and how long it takes, and who hears of it. Thread-safe. */
public final class RequestWatch {
  private final SlowLog slow;
  private final Traces traces;
  private final LongSupplier nanoTime;
  private final RequestTimes times = new RequestTimes();
  private final LongAdder malformed = new LongAdder();

  /**
   * @param nanoTime a monotonic clock, the one that partitions tell their phases by
   */
  public RequestWatch(SlowLog slow, Traces traces, LongSupplier nanoTime) {
    this.slow = slow;
    this.traces = traces;
    this.nanoTime = nanoTime;
  }

  long nanos() {
    return nanoTime.getAsLong();
  }

  /** How long requests took, and why some failed. */
  RequestTimes times() {
    return times;
  }

  /** What came could not be read. */
  public void malformed() {
    malformed.increment();
  }

  /** How often something could not be read. */
  long malformedCount() {
    return malformed.sum();
  }

  /** A watcher waits because nothing happens, and who asks about others for those. */
  private static boolean waits(Request request) {
    return request instanceof Request.Watch
        || request instanceof Request.Spread
        || (request instanceof Request.Administer a && a.asksWhy());
  }

  public void failed(ErrorCode code) {
    times.failed(code);
  }

  /** Whether anybody wants to hear of a request that took so long. */
  boolean listens(long nanos) {
    return traces.isOn() || slow.isSlow(nanos);
  }

  /**
   * A request got its answer.
   *
   * @param client from where it came
   */
  void answered(Request request, Reply reply, SlowLog.Phases phases, SocketAddress client) {
    if (traces.isOn()) {
      traces.answered(
          request,
          reply,
          phases.beganNanos(),
          phases.takenNanos(),
          phases.executedNanos(),
          phases.answeredNanos());
    }
    if (!waits(request) && slow.isSlow(phases.nanos())) {
      slow.answered(request, phases, client);
    }
  }
}
