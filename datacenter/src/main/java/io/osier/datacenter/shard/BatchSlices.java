package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * A batch of updates as its partition gets it: in slices, so that nobody waits behind all of it.
 * Their answers come one by one, of any thread, and are put together. Thread-safe.
 */
final class BatchSlices {
  /** Most updates of a slice: about a millisecond. */
  static final int UPDATES_MAX = 256;

  /** What a slice makes anew of values that are there, at most, in bytes; one value may be more. */
  static final int REWRITTEN_BYTES_MAX = 32 << 20;

  /** With these a client asks another datacenter, or goes on without what this one lacks. */
  private static final Set<ErrorCode> ELSEWHERE =
      EnumSet.of(
          ErrorCode.UNAVAILABLE,
          ErrorCode.SHUTTING_DOWN,
          ErrorCode.SESSION_BEHIND,
          ErrorCode.SESSION_LOST,
          ErrorCode.REFUSED_BY_PEERS);

  private final List<Request.WriteAll> slices = new ArrayList<>();
  private final AtomicReferenceArray<Reply> answers;
  private final AtomicInteger left;
  private final Consumer<Reply> reply;

  /**
   * @param valueBytesMax a value that is made anew may be so large, though its update is small
   * @param reply takes the answer, once that of each slice has come
   */
  BatchSlices(Request.WriteAll batch, int valueBytesMax, Consumer<Reply> reply) {
    List<Request.Update> all = batch.updates();
    int from = 0;
    int weight = 0;
    int rewriteWeight = (int) Math.max(1, (long) UPDATES_MAX * valueBytesMax / REWRITTEN_BYTES_MAX);
    for (int i = 0; i < all.size(); i++) {
      weight += all.get(i).operation().rewrites() ? rewriteWeight : 1;
      if (weight >= UPDATES_MAX || i == all.size() - 1) {
        List<Request.Update> some = all.subList(from, i + 1);
        slices.add(new Request.WriteAll(batch.keyspace(), some, batch.after(), batch.waitMillis()));
        from = i + 1;
        weight = 0;
      }
    }
    this.answers = new AtomicReferenceArray<>(slices.size());
    this.left = new AtomicInteger(slices.size());
    this.reply = reply;
  }

  int size() {
    return slices.size();
  }

  Request.WriteAll slice(int number) {
    return slices.get(number);
  }

  /** Takes the answer to a slice. */
  Consumer<Reply> answerOf(int number) {
    return answer -> {
      answers.set(number, answer);
      if (left.decrementAndGet() == 0) {
        reply.accept(together());
      }
    };
  }

  private Reply together() {
    List<Reply> parts = new ArrayList<>();
    for (int i = 0; i < slices.size(); i++) {
      if (answers.get(i) instanceof Reply.All all) {
        parts.addAll(all.parts());
      } else { // it was refused as a whole
        Reply[] refused = new Reply[slices.get(i).updates().size()];
        Arrays.fill(refused, answers.get(i));
        parts.addAll(Arrays.asList(refused));
      }
    }
    return allOrFailure(parts);
  }

  /** What became of the parts; or a failure, where nothing was done that could be elsewhere. */
  private static Reply allOrFailure(List<Reply> parts) {
    boolean elsewhere =
        parts.stream()
            .allMatch(part -> part instanceof Reply.Failure f && ELSEWHERE.contains(f.code()));
    return elsewhere ? parts.getFirst() : new Reply.All(parts);
  }
}
