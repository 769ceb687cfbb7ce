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
 * Cuts a batch of updates into slices for its partition, so that no other command waits behind all
 * of it, and puts the answers together, which come one by one in any thread. Thread-safe.
 */
final class BatchSlices {
  /** The most updates of a slice: about a millisecond. */
  static final int UPDATES_MAX = 256;

  /** The most bytes of existing values that a slice makes anew; a single value may be larger. */
  static final int REWRITTEN_BYTES_MAX = 32 << 20;

  /** The errors with which a client asks another datacenter, or goes on without this one. */
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
   * @param valueBytesMax the largest size of a value: a small update may make a value of that size
   *     anew
   * @param reply takes the whole answer, once all slices are answered
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

  /** Returns the receiver of a slice's answer. */
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
      } else { // the slice was refused as a whole
        Reply[] refused = new Reply[slices.get(i).updates().size()];
        Arrays.fill(refused, answers.get(i));
        parts.addAll(Arrays.asList(refused));
      }
    }
    return allOrFailure(parts);
  }

  /**
   * Returns the parts' replies; or one failure, if nothing was done and another datacenter could do
   * all.
   */
  private static Reply allOrFailure(List<Reply> parts) {
    boolean elsewhere =
        parts.stream()
            .allMatch(part -> part instanceof Reply.Failure f && ELSEWHERE.contains(f.code()));
    return elsewhere ? parts.getFirst() : new Reply.All(parts);
  }
}
