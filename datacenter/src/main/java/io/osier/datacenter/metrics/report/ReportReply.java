package io.osier.datacenter.metrics.report;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.protocol.Reply;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The answer to what is told as text once it is gathered. Static. */
public final class ReportReply {
  private ReportReply() {}

  /**
   * Answers.
   *
   * @param text null if it has failed
   * @param error why; null if it has not
   */
  public static void send(@Nullable String text, @Nullable Throwable error, Consumer<Reply> reply) {
    if (text != null && error == null) {
      reply.accept(new Reply.Report(text));
      return;
    }
    Throwable cause = error instanceof CompletionException e ? e.getCause() : error;
    reply.accept(
        cause instanceof OsierException e
            ? new Reply.Failure(e.code(), e.reason())
            : new Reply.Failure(ErrorCode.INTERNAL, String.valueOf(cause)));
  }
}
