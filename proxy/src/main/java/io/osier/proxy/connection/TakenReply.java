package io.osier.proxy.connection;

import io.osier.protocol.Reply;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The end of a question whose answer is taken here. Static. */
final class TakenReply {
  private TakenReply() {}

  /**
   * A future that ends once an answer is taken, or with what that throws. Whoever completes it in
   * the answer's place gives the question up, so that it is under way no more.
   *
   * @param takes is run by the thread that brings the answer
   */
  static CompletableFuture<Void> of(CompletableFuture<Reply> reply, Consumer<Reply> takes) {
    CompletableFuture<Void> taken = reply.thenAccept(takes);
    var unused =
        taken.whenComplete(
            (nothing, error) ->
                reply.completeExceptionally( // unless it is there
                    error != null ? error : new CancellationException("nobody waits for it")));
    return taken;
  }
}
