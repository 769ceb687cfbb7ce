package io.osier.proxy.connection;

import io.osier.protocol.Reply;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Makes futures of requests whose replies the connection itself handles. */
final class TakenReply {
  private TakenReply() {}

  /**
   * Returns a future that completes once the reply is handled, or with the exception of its
   * handling. If a caller completes the future before, the request is given up and no longer counts
   * as in flight.
   *
   * @param takes handles the reply, in the thread that delivers it
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
