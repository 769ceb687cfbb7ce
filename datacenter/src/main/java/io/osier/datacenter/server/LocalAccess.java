package io.osier.datacenter.server;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.Phased;
import io.osier.datacenter.trace.Traces;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.InProcess;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gives clients in the datacenter's own process access to it. Thread-safe. */
public final class LocalAccess implements InProcess {
  private final ReplicaId self;
  private final RequestHandler handler;
  private final BooleanSupplier open;
  private final OrderedQueue lane = new OrderedQueue();

  private final boolean answersApart;
  private final Traces traces;

  /**
   * Makes the access.
   *
   * @param answersApart whether each answer that does not come at once is delivered by a thread of
   *     its own, so that the store's writing threads do not wait for callers' callbacks
   */
  public LocalAccess(
      ReplicaId self,
      RequestHandler handler,
      Traces traces,
      BooleanSupplier open,
      boolean answersApart) {
    this.answersApart = answersApart;
    this.traces = traces;
    this.self = self;
    this.handler = handler;
    this.open = open;
  }

  @Override
  public ReplicaId replica() {
    return self;
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return handler.served();
  }

  @Override
  public Reply.@Nullable KeyspaceInfo keyspace(String name) {
    return handler.keyspace(name);
  }

  @Override
  public boolean isOpen() {
    return open.getAsBoolean();
  }

  @Override
  public boolean answersApart() {
    return answersApart;
  }

  @Override
  public void send(Request request, Consumer<Reply> reply) {
    Consumer<Reply> answered = answersApart ? apart(reply) : reply;
    handler.handle(request, lane, traces.isOn() ? new Timed(request, answered) : answered);
  }

  /** Notes the times of the phases of a request, which may be traced. */
  private final class Timed implements Consumer<Reply>, Phased {
    private final Request request;
    private final Consumer<Reply> reply;
    private final long beganNanos = System.nanoTime();
    private volatile long takenNanos;
    private volatile long executedNanos;

    Timed(Request request, Consumer<Reply> reply) {
      this.request = request;
      this.reply = reply;
    }

    @Override
    public void accept(Reply answer) {
      traces.answered(request, answer, beganNanos, takenNanos, executedNanos, System.nanoTime());
      reply.accept(answer);
    }

    @Override
    public void taken(long nanos) {
      takenNanos = nanos;
    }

    @Override
    public void waited(Waited what) {
      // Used by the log of slow requests only, which has no requests of this process.
    }

    @Override
    public void executed(long nanos) {
      executedNanos = nanos;
    }
  }

  private static Consumer<Reply> apart(Consumer<Reply> reply) {
    Thread caller = Thread.currentThread();
    return answer -> {
      if (Thread.currentThread() == caller) {
        reply.accept(answer);
      } else {
        Thread.startVirtualThread(() -> reply.accept(answer));
      }
    };
  }

  @Override
  public boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    return handler.combine(keyspace, key, type, operation, lane);
  }
}
