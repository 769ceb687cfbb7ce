package io.osier.datacenter.frontend;

import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.shard.agent.Phased;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A client's request until it is answered, once, by any thread: measures its phases and gives back
 * what it holds of its user's quota. Made for {@link ClientRequests#ask}.
 */
public abstract class Asked implements Consumer<Reply>, Phased {
  private final ClientRequests by;
  private final long beganNanos;
  private Request request;

  // Set before the request is handed on.
  private UserQuotas.@Nullable Quota of;
  private long keptBytes;

  /** The answer whatever the partition answers; null to pass its answer on. */
  private Reply.@Nullable Failure refusal;

  // Each is set by one thread, before it hands the request or its answer on to the next one.
  private long takenNanos;
  private long executedNanos;
  private List<Waited> waited = List.of();

  /** Whether {@link #told} follows. */
  private volatile boolean isBatched;

  /**
   * @param by the requests of its connection
   * @param beganNanos when the request came, by {@link ClientRequests#nanos}
   */
  protected Asked(ClientRequests by, Request request, long beganNanos) {
    this.by = by;
    this.request = request;
    this.beganNanos = beganNanos;
  }

  /** Takes the answer, once. Called by any thread. */
  protected abstract void answer(Reply reply);

  final Request request() {
    return request;
  }

  /** Begins the request, which counts in its user's quota, with so many bytes. */
  final void begin(UserQuotas.Quota of, long keptBytes) {
    this.of = of;
    this.keptBytes = keptBytes;
  }

  /** As the other method, but does another request in its place and answers with a refusal. */
  final void begin(UserQuotas.Quota of, long keptBytes, Request instead, Reply.Failure refusal) {
    begin(of, keptBytes);
    this.request = instead;
    this.refusal = refusal;
  }

  @Override
  public final void accept(Reply reply) {
    by.access().answered(request, reply);
    if (of != null) {
      of.bytes().give(keptBytes);
      of.end();
    }
    RequestWatch watch = by.watch();
    long now = watch.nanos();
    watch.took(request, now - beganNanos);
    answer(refusal == null ? reply : refusal);
    if (watch.listens(now - beganNanos)) {
      watch.answered(
          request,
          reply,
          new SlowLog.Phases(beganNanos, takenNanos, executedNanos, now, waited),
          by.remoteAddress());
    }
  }

  @Override
  public final void taken(long nanos) {
    takenNanos = nanos;
  }

  @Override
  public final void waited(Waited what) { // called by one thread after the other
    waited = Stream.concat(waited.stream(), Stream.of(what)).toList();
  }

  @Override
  public final void executed(long nanos) {
    executedNanos = nanos;
    isBatched = true;
  }

  /**
   * Returns whether the answers of its batch are being given, so that {@link #batchTold} follows.
   */
  protected final boolean isBatched() {
    return isBatched;
  }

  @Override
  public final void told() {
    isBatched = false;
    batchTold();
  }

  /** Called once all present answers of its batch were given; by any thread. */
  protected void batchTold() {}
}
