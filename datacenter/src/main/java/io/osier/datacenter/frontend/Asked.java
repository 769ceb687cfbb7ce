package io.osier.datacenter.frontend;

import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.shard.agent.Phased;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A request that is to be answered, once, by any thread. Made for {@link ClientRequests#ask}. */
public abstract class Asked implements Consumer<Reply>, Phased {
  private final ClientRequests by;
  private final long beganNanos;
  private Request request;

  // Set before it is handed on.
  private UserQuotas.@Nullable Quota of;
  private long keptBytes;

  /** What is answered whatever is done; null for what is done. */
  private Reply.@Nullable Failure refusal;

  // Each is set by one thread, which hands the request on to the next, or the answer.
  private long takenNanos;
  private long executedNanos;
  private List<Waited> waited = List.of();

  /** Whether {@link #told} comes. */
  private volatile boolean isBatched;

  /**
   * @param by what the connection asks for
   * @param beganNanos when it came, by {@link ClientRequests#nanos}
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

  /** It is under way, and counts among a user's. */
  final void begin(UserQuotas.Quota of, long keptBytes) {
    this.of = of;
    this.keptBytes = keptBytes;
  }

  /** As the other one: another request is done in its place, and this is answered. */
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
  public final void waited(Waited what) { // by one thread after the other
    waited = Stream.concat(waited.stream(), Stream.of(what)).toList();
  }

  @Override
  public final void executed(long nanos) {
    executedNanos = nanos;
    isBatched = true;
  }

  /** Whether the answers of its batch are being given, and {@link #batchTold} follows. */
  protected final boolean isBatched() {
    return isBatched;
  }

  @Override
  public final void told() {
    isBatched = false;
    batchTold();
  }

  /** All answers of its batch that are there have been given. Called by any thread. */
  protected void batchTold() {}
}
