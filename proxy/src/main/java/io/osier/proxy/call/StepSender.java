package io.osier.proxy.call;

import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.client.ClientCore;
import java.util.concurrent.CompletableFuture;

/**
 * Sends one step of a transaction to the process that coordinates the transaction, and repeats it
 * while the answer is lost, as {@link StepRetryPolicy} decides.
 */
public final class StepSender extends SendState implements Connection.Answered {
  private final ClientCore client;
  private final Coordinator home;
  private final StepRetryPolicy tries;
  private final long deadlineNanos;
  private final CompletableFuture<Reply> result = new CompletableFuture<>();
  private volatile boolean givenUp;

  /**
   * @param again the request that repeats the step, for when an earlier try may have arrived
   */
  public StepSender(ClientCore client, Coordinator home, Request.Repeat again, long deadlineNanos) {
    this.client = client;
    this.home = home;
    this.deadlineNanos = deadlineNanos;
    this.tries = new StepRetryPolicy(home.replica(), again, deadlineNanos);
  }

  /**
   * Sends the step. The result fails with {@link OutcomeUnknownException} if the step may have been
   * done, and otherwise with the error because of which it was not done.
   */
  public CompletableFuture<Reply> start() {
    send();
    return result;
  }

  /** As {@link #start}, after an earlier try that may have arrived. */
  CompletableFuture<Reply> again() {
    tries.mayHaveArrived();
    super.begins(); // the earlier try was a sending
    return start();
  }

  private long now() {
    return client.timers().nanoTime();
  }

  /**
   * Gives the step up: it is not sent if it was not sent yet, and not repeated.
   *
   * @return whether the step is certainly not done
   */
  public boolean giveUp() {
    givenUp = true;
    return withdraw();
  }

  private void send() {
    Connection to = home.connection();
    act(
        givenUp || client.isClosed()
            ? tries.ended(givenUp)
            : tries.now(now(), to.replica(), to.isUp()));
  }

  @Override
  public boolean begins() {
    return !(givenUp && withdraw()) && super.begins();
  }

  @Override
  public void answered(Reply reply) {
    StepRetryPolicy.Next next = tries.answered(now(), reply);
    if (next instanceof StepRetryPolicy.Next.Later && reply instanceof Reply.Failure f) {
      client.settings().metrics().failed(home.dc(), f.code()); // the caller counts other errors
    }
    act(next);
  }

  @Override
  public void lost(LostException cause) {
    if (!cause.isSent() && !tries.mayBeDone()) {
      isUndone();
    }
    act(tries.lost(now(), cause));
  }

  private void later(long millis) {
    client.timers().later(this::send, millis > 1 ? client.timers().pauseMillis(millis) : millis);
  }

  private void act(StepRetryPolicy.Next next) {
    switch (next) {
      case StepRetryPolicy.Next.Send s ->
          home.connection().send(s.request(), now(), deadlineNanos, this);
      case StepRetryPolicy.Next.Later l -> later(l.millis());
      case StepRetryPolicy.Next.Answered a -> result.complete(a.reply());
      case StepRetryPolicy.Next.GivenUp g -> result.completeExceptionally(g.error());
    }
  }
}
