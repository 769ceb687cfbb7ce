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
 * What a datacenter asks others for itself, and not for a client: how long the way is, and what
 * becomes of objects that it copies. Thread-safe; others are called without a lock.
 */
public final class OwnAsks {
  /** Their numbers begin here: those of clients' requests never get there. */
  private static final long FIRST_ID = 1L << 56;

  private static final Request PING = new Request.Ping();
  private static final Asks.Forms FORMS = new Asks.Forms(PING, PING);

  private final ForwardingHost around;
  private final LongSupplier nanoTime;
  private final Runnable begun;

  // Under this one's lock.
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
   * @param begun is run when {@link #expire} must be called now and then
   */
  OwnAsks(ForwardingHost around, LongSupplier nanoTime, Runnable begun) {
    this.around = around;
    this.nanoTime = nanoTime;
    this.begun = begun;
  }

  /**
   * Asks a datacenter something.
   *
   * @param content is written behind what each question begins with
   * @param answer takes what the answer has behind its id, once, now or later; null if there is
   *     none
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

  /** As {@link #ask}; false if it was not sent, and then there is no answer. */
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
    return sent || take(id, dc) == null; // else it was answered for it when the way ended
  }

  /** Asks a datacenter for nothing but an answer. */
  void ping(String dc, Runnable answered) {
    tryAsk(dc, out -> ProtocolCodec.writeBody(out, PING), 0, in -> answered.run());
  }

  private synchronized Asks.@Nullable Ask take(long id, String dc) {
    return asks.take(id, dc);
  }

  /** An answer has come; false if it is none to these. */
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

  /** Nothing that was asked of a datacenter is answered any more. */
  void down(String dc) {
    List<Asks.Ask> lost;
    synchronized (this) {
      lost = asks.takeAll(dc);
    }
    fail(lost);
  }

  /** Gives up what was not answered in time; false if nothing is under way. */
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
