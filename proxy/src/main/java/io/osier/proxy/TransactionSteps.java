package io.osier.proxy;

import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.concurrent.CompletableFuture;

/** Brings the steps of transactions to where they live. Thread-safe. */
final class TransactionSteps {
  private final OsierClient client;
  private final Past past;

  TransactionSteps(OsierClient client, Past past) {
    this.client = client;
    this.past = past;
  }

  /**
   * Does a further step of a transaction, where it lives. Fails with {@link
   * OutcomeUnknownException} if it may have been done there, whatever it does.
   *
   * @param snapshot the transaction's
   */
  CompletableFuture<Reply.Transacted> step(
      String keyspace, Home home, VersionVector snapshot, Request.Transact request) {
    boolean commits = request.end() == Request.End.COMMIT;
    long deadline = client.timers().nanoTime() + client.settings().timeout().toNanos();
    Slice slice;
    synchronized (past) {
      slice = past.slice(keyspace, 0);
      if (commits) {
        slice.writesUnderWay++;
      }
    }
    long known = snapshot.get(home.replica());
    return new StepDelivery(client, home, request, known, deadline)
        .start()
        .handle(
            (reply, error) -> {
              if (commits) {
                synchronized (past) {
                  slice.writesUnderWay--;
                }
              }
              if (error != null) {
                throw Calls.asOsier(error, commits);
              }
              return switch (reply) {
                case Reply.Transacted t -> {
                  if (commits) {
                    synchronized (past) {
                      slice.saw(t.clock());
                      if (!past.isAt(home.replica())) {
                        past.sawStranger();
                      }
                    }
                  }
                  yield t;
                }
                case Reply.Failure f -> {
                  client.settings().metrics().failed(home.dc(), f.code());
                  throw Calls.failed(f, commits);
                }
                default -> throw Calls.unexpected(reply);
              };
            });
  }
}
