package io.osier.datacenter.copies;

import io.osier.core.ErrorCode;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A read of an object that others hold: a copy answers it instead of a holder, or a stale copy once
 * no holder could be asked. Thread-safe.
 *
 * @param shownBy takes the holder whose state a copy shows, before the client is answered
 * @param reply takes the answer, now or later
 */
public record CopiedReads(
    Copies copies, Request.Read read, Consumer<String> shownBy, Consumer<Reply> reply)
    implements Consumer<Reply> {
  /**
   * Answers the read from a copy.
   *
   * @param isNext whether no earlier request of the connection waits for its answer
   * @return false if the read must be forwarded
   */
  public boolean answer(boolean isNext) {
    return show(copies.answer(read, isNext));
  }

  /**
   * Takes the answer to the forwarded read; if no holder could be asked, a stale copy answers
   * instead.
   */
  @Override
  public void accept(Reply forwarded) {
    boolean isUnavailable =
        forwarded instanceof Reply.Failure f && f.code() == ErrorCode.UNAVAILABLE;
    if (!isUnavailable || !show(copies.stale(read))) {
      reply.accept(forwarded);
    }
  }

  private boolean show(Copies.@Nullable Answer copied) {
    if (copied == null) {
      return false;
    }
    shownBy.accept(copied.holder());
    reply.accept(copied.reply());
    return true;
  }
}
