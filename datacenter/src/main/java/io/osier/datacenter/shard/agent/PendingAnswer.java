package io.osier.datacenter.shard.agent;

import io.osier.core.ErrorCode;
import io.osier.protocol.Reply;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * An answer that takes long to be made, and is not made yet. Whoever has it either runs it or
 * refuses it, once, in any thread.
 */
public final class PendingAnswer implements Runnable {
  private final Supplier<Reply> made;
  private final Consumer<Reply> to;

  /**
   * @param made makes it; may read the disk
   * @param to who is told, whatever happens
   */
  public PendingAnswer(Supplier<Reply> made, Consumer<Reply> to) {
    this.made = made;
    this.to = to;
  }

  /** Makes it, and tells it. What cannot be made is answered all the same, and thrown. */
  @Override
  public void run() {
    Reply reply;
    try {
      reply = made.get();
    } catch (Throwable e) {
      // Otherwise somebody waits for ever, and what the command takes is not given back.
      to.accept(new Reply.Failure(ErrorCode.INTERNAL, "internal error in the datacenter: " + e));
      throw e;
    }
    to.accept(reply);
  }

  /** Tells something else; nothing is read. */
  public void refuse(Reply instead) {
    to.accept(instead);
  }
}
