package io.osier.datacenter.copies;

import io.osier.core.ErrorCode;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A read of what others hold, which a copy answers: instead of a holder, or, if it may be old, once
 * no holder could be asked. Thread-safe.
 *
 * @param shownBy hears who has told what a copy shows, before it is shown
 * @param reply takes the answer, now or later
 */
public record CopiedReads(
    Copies copies, Request.Read read, Consumer<String> shownBy, Consumer<Reply> reply)
    implements Consumer<Reply> {
  /**
   * Answers it from a copy.
   *
   * @param isNext whether nothing of its connection is under way that must be answered before it
   * @return false if it must be forwarded
   */
  public boolean answer(boolean isNext) {
    return show(copies.answer(read, isNext));
  }

  /** Takes what became of it when it was forwarded. */
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
