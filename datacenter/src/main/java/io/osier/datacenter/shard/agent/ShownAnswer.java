package io.osier.datacenter.shard.agent;

import io.osier.datacenter.partition.machine.Waited;
import io.osier.protocol.Reply;
import java.util.function.Consumer;

/**
 * An answer that an observer sees before the asker gets it. All other events go to the asker alone.
 *
 * @param first the observer
 * @param reply the asker
 */
public record ShownAnswer(Consumer<Reply> first, Consumer<Reply> reply)
    implements Consumer<Reply>, Phased {
  @Override
  public void accept(Reply answer) {
    first.accept(answer);
    reply.accept(answer);
  }

  @Override
  public void taken(long nanos) {
    Phased.of(reply).taken(nanos);
  }

  @Override
  public void waited(Waited what) {
    Phased.of(reply).waited(what);
  }

  @Override
  public void executed(long nanos) {
    Phased.of(reply).executed(nanos);
  }

  @Override
  public void told() {
    Phased.of(reply).told();
  }

  @Override
  public long author() {
    return Phased.of(reply).author();
  }
}
