package io.osier.datacenter.forward;

import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The questions to other datacenters that are not answered yet: each is removed once, by its
 * answer, by the end of the connection, or by its time limit. Pure; used under its owner's lock.
 */
final class Asks {
  /** The most questions in flight at one datacenter. */
  static final int WINDOW = 16_384;

  /** How long an answer is waited for, beyond the time that the request itself may wait. */
  static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** Returns when a question that is sent now is given up. */
  static long dueNanos(Request request, long now) {
    int wait = Math.clamp(request.waitMillis(), 0, Request.WAIT_MILLIS_MAX);
    return now + ANSWER_NANOS + TimeUnit.MILLISECONDS.toNanos(wait);
  }

  /**
   * A request as its client sent it, and as it is sent on, where it asks for what other holders
   * have shown.
   */
  record Forms(Request original, Request asked) {}

  /**
   * A question.
   *
   * @param dc the datacenter that was asked
   * @param lane of the connection that asks
   * @param partition that it is about; empty if it is about all of them
   * @param bytes of the budget
   * @param sinceNanos when it was asked
   * @param dueNanos when it is given up
   * @param reply takes the answer
   */
  record Ask(
      String dc,
      Forms forms,
      Object lane,
      Optional<Integer> partition,
      long bytes,
      long sinceNanos,
      long dueNanos,
      Consumer<Reply> reply) {
    Request request() {
      return forms.asked;
    }
  }

  private final Map<Long, Ask> underWay = new HashMap<>();
  private final Map<String, Integer> byDc = new HashMap<>();
  private long last;

  /** Returns whether no question is in flight. */
  boolean isEmpty() {
    return underWay.isEmpty();
  }

  /** Returns whether a datacenter may get one more question. */
  boolean hasRoom(String dc) {
    return byDc.getOrDefault(dc, 0) < WINDOW;
  }

  long nextId() {
    return ++last;
  }

  void add(long id, Ask ask) {
    underWay.put(id, ask);
    byDc.merge(ask.dc, 1, Integer::sum);
  }

  /** Removes a question; null if it is no longer in flight at this datacenter. */
  @Nullable Ask take(long id, String dc) {
    Ask ask = underWay.get(id);
    if (ask == null || !ask.dc.equals(dc)) {
      return null;
    }
    remove(id);
    return ask;
  }

  private void remove(long id) {
    Ask ask = underWay.remove(id);
    if (ask != null) {
      byDc.computeIfPresent(ask.dc, (dc, n) -> n == 1 ? null : n - 1);
    }
  }

  List<Ask> takeAll(String dc) {
    return takeIf(ask -> ask.dc.equals(dc));
  }

  List<Ask> takeAll() {
    return takeIf(ask -> true);
  }

  /** Removes all questions whose time is over. */
  List<Ask> takeDue(long now) {
    return takeIf(ask -> now - ask.dueNanos >= 0);
  }

  private List<Ask> takeIf(Predicate<Ask> which) {
    List<Long> ids = new ArrayList<>();
    List<Ask> taken = new ArrayList<>();
    underWay.forEach(
        (id, ask) -> {
          if (which.test(ask)) {
            ids.add(id);
            taken.add(ask);
          }
        });
    ids.forEach(this::remove);
    return taken;
  }
}
