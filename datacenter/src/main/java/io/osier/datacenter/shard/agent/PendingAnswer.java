package io.osier.datacenter.shard.agent;

import io.osier.core.ErrorCode;
import io.osier.protocol.Reply;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * An answer that takes long to make, and is not made yet. Its owner either runs it or refuses it,
 * once, in any thread.
 */
public final class PendingAnswer implements Runnable {
  private final Supplier<Reply> made;
  private final Consumer<Reply> to;

  /**
   * @param made makes the answer; may read the disk
   * @param to gets the answer, or a failure, whatever happens
   */
  public PendingAnswer(Supplier<Reply> made, Consumer<Reply> to) {
    this.made = made;
    this.to = to;
  }

  /**
   * Makes the answer and delivers it. If it cannot be made, a failure is delivered and the
   * exception thrown.
   */
  @Override
  public void run() {
    Reply reply;
    try {
      reply = made.get();
    } catch (Throwable e) {
      // Otherwise the asker would wait for ever, and the command's bytes would stay in its budget.
      to.accept(new Reply.Failure(ErrorCode.INTERNAL, "internal error in the datacenter: " + e));
      throw e;
    }
    to.accept(reply);
  }

  /** Delivers this reply instead; nothing is read. */
  public void refuse(Reply instead) {
    to.accept(instead);
  }
}
