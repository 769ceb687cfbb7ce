package io.osier.datacenter.forward;

import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks other datacenters questions of this datacenter itself, not of a client: for round trips, and
 * for changes of objects that it copies. Thread-safe; foreign code is called without a lock.
 */
public final class OwnAsks {
  /** The first number of these questions, which clients' requests never reach. */
  private static final long FIRST_ID = 1L << 56;

  private static final Request PING = new Request.Ping();
  private static final Asks.Forms FORMS = new Asks.Forms(PING, PING);

  private final ForwardingHost around;
  private final LongSupplier nanoTime;
  private final Runnable begun;

  // Guarded by this object's lock.
  private final Asks asks = new Asks();
  private boolean closed;

  /** Takes an answer; what fails comes as a reply. */
  private record Raw(Consumer<@Nullable WireInput> answer) implements Consumer<Reply> {
    @Override
    public void accept(Reply failure) {
      answer.accept(null);
    }
  }

  /**
   * @param begun runs when {@link #expire} must be called from time to time
   */
  OwnAsks(ForwardingHost around, LongSupplier nanoTime, Runnable begun) {
    this.around = around;
    this.nanoTime = nanoTime;
    this.begun = begun;
  }

  /**
   * Asks a datacenter something.
   *
   * @param content writes the question, after the beginning that all questions have
   * @param answer takes the answer after its id, once, now or later; null if there is none
   */
  public void ask(
      String dc,
      Consumer<WireOutput> content,
      long waitMillis,
      Consumer<@Nullable WireInput> answer) {
    if (!around.mayAsk(dc) || !tryAsk(dc, content, waitMillis, answer)) {
      answer.accept(null);
    }
  }

  /** As {@link #ask}; false if the question was not sent, and then there is no answer. */
  private boolean tryAsk(
      String dc,
      Consumer<WireOutput> content,
      long waitMillis,
      Consumer<@Nullable WireInput> answer) {
    long id;
    synchronized (this) {
      if (closed) {
        return false;
      }
      id = FIRST_ID + asks.nextId();
      long now = nanoTime.getAsLong();
      long due = now + Asks.ANSWER_NANOS + TimeUnit.MILLISECONDS.toNanos(waitMillis);
      asks.add(id, new Asks.Ask(dc, FORMS, this, Optional.empty(), 0, now, due, new Raw(answer)));
    }
    boolean sent = around.ask(dc, ForwardedRequest.encode(id, content));
    begun.run();
    return sent || take(id, dc) == null; // else it was answered when the connection ended
  }

  /** Asks a datacenter for nothing but an answer. */
  void ping(String dc, Runnable answered) {
    tryAsk(dc, out -> ProtocolCodec.writeBody(out, PING), 0, in -> answered.run());
  }

  private synchronized Asks.@Nullable Ask take(long id, String dc) {
    return asks.take(id, dc);
  }

  /** Takes an answer; false if it does not belong to these questions. */
  boolean answered(String dc, long id, WireInput in) {
    if (id < FIRST_ID) {
      return false;
    }
    Asks.Ask ask = take(id, dc);
    if (ask != null && ask.reply() instanceof Raw raw) {
      raw.answer.accept(in);
    }
    return true;
  }

  /** Questions in flight at a datacenter will not be answered. */
  void down(String dc) {
    List<Asks.Ask> lost;
    synchronized (this) {
      lost = asks.takeAll(dc);
    }
    fail(lost);
  }

  /** Gives up questions that were not answered in time; false if none is in flight. */
  boolean expire(long now) {
    List<Asks.Ask> lost;
    boolean some;
    synchronized (this) {
      lost = asks.takeDue(now);
      some = !asks.isEmpty();
    }
    fail(lost);
    return some;
  }

  /** Asks nothing more. */
  void close() {
    List<Asks.Ask> lost;
    synchronized (this) {
      closed = true;
      lost = asks.takeAll();
    }
    fail(lost);
  }

  private static void fail(List<Asks.Ask> lost) {
    lost.forEach(ask -> ask.reply().accept(new Reply.Pong()));
  }
}
