package io.osier.datacenter.copies;

import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.crdt.state.CrdtState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks holders for the changes of copied objects, and stores the states that they tell in the
 * copies. Thread-safe; holders are asked without a lock.
 */
final class Subscriber {
  private static final Logger LOG = LoggerFactory.getLogger(Subscriber.class);

  /** The least time that a holder waits for a change before it answers. */
  private static final long WAIT_MILLIS_MIN = 1_000;

  private final Holders around;
  private final CopyTable table;
  private final Interest interest;
  private final CopyCounts counts;
  private final LongSupplier millis;

  /** Holders whose answers were wrong: each is named in the log once. */
  private final Set<String> distrusted = new HashSet<>();

  /**
   * @param table the copies; its lock is taken
   * @param millis the datacenter's clock, in milliseconds since 1970
   */
  Subscriber(
      Holders around, CopyTable table, Interest interest, CopyCounts counts, LongSupplier millis) {
    this.around = around;
    this.table = table;
    this.interest = interest;
    this.counts = counts;
    this.millis = millis;
  }

  /** Sends further questions of a subscription, unless enough are in flight. */
  void ask(Subscription of) {
    int waitMillis = waitMillis(around.staleReads(of.keyspace()));
    List<FollowCodec.Ask> asks;
    synchronized (table) {
      asks = of.asks(waitMillis);
    }
    asks.forEach(ask -> ask(of, ask));
  }

  /**
   * Returns how long a holder waits for a change, in milliseconds. Shorter for a keyspace with
   * stale reads: the age of a stale copy is only known as exactly as the holder's answers come.
   */
  private static int waitMillis(Duration stale) {
    return stale.isZero()
        ? Subscription.WAIT_MILLIS
        : (int) Math.clamp(stale.toMillis() / 10, WAIT_MILLIS_MIN, Subscription.WAIT_MILLIS);
  }

  /** Asks for the vector of the holder, unless such a question is in flight. */
  void refresh(Subscription of) {
    FollowCodec.Ask ask;
    synchronized (table) {
      if (!of.refresh()) {
        return;
      }
      ask = of.refreshing();
    }
    ask(of, ask);
  }

  private void ask(Subscription of, FollowCodec.Ask ask) {
    long now = millis.getAsLong();
    around.ask(
        of.holder(),
        out -> FollowCodec.write(out, ask),
        ask.waitMillis(),
        answer -> answered(of, now, answer));
  }

  private void answered(Subscription of, long askedMillis, @Nullable WireInput in) {
    if (in == null || !FollowCodec.isOfThese(in)) {
      refused(of, in != null);
      return;
    }
    FollowCodec.Answer answer;
    try {
      answer = FollowCodec.readAnswer(in);
    } catch (MalformedException e) {
      distrust(of, e.reason());
      return;
    }
    boolean lacks;
    synchronized (table) {
      if (of.isEnded()) {
        return;
      }
      boolean isFirst = !of.isTold();
      for (Subscription.Heard next : of.inOrder(new Subscription.Heard(answer, askedMillis))) {
        take(of, next.answer(), next.askedMillis());
      }
      if (isFirst && of.isTold()) {
        interest.tells(of.holder());
      }
      lacks = of.lacksAnAnswer();
    }
    if (lacks) {
      distrust(of, "an answer from it is missing");
    } else {
      ask(of);
    }
  }

  /** Ends a subscription that a holder refuses, or whose link is lost. */
  private void refused(Subscription of, boolean byHolder) {
    boolean mayBeStale = !around.staleReads(of.keyspace()).isZero();
    synchronized (table) {
      if (of.isEnded()) {
        return;
      }
      if (byHolder && !of.isTold()) {
        interest.refuses(of.holder());
      }
      table.cut(of, mayBeStale);
    }
  }

  /** Ends a subscription whose holder has answered wrongly; its copies are not trusted either. */
  private void distrust(Subscription of, String why) {
    boolean isFirst;
    synchronized (table) {
      isFirst = distrusted.add(of.holder());
      interest.distrusts(of.holder());
      table.cut(of, false);
    }
    if (isFirst) {
      LOG.warn(
          "{} does not send the changes of objects that are copied here: {}", of.holder(), why);
    }
  }

  private void take(Subscription of, FollowCodec.Answer answer, long askedMillis) {
    VersionVector shown = VersionVector.EMPTY;
    List<Runnable> sets = new ArrayList<>();
    for (FollowCodec.Told told : answer.objects()) {
      Copy copy = of.copies().get(told.number());
      if (copy == null) {
        continue; // it was dropped meanwhile
      }
      counts.version();
      copy.demand().shipped(told.bytes());
      Copy.Version version = told.states().map(Subscriber::version).orElse(null);
      if (version == null) {
        table.drop(copy, CopyCounts.Dropped.REFUSED);
      } else if (!table.makeRoom(copy, version)) {
        table.drop(copy, CopyCounts.Dropped.BUDGET);
      } else {
        shown = shown.join(version.context());
        sets.add(() -> table.set(copy, version));
      }
    }
    around.shows(of.keyspace(), of.partition(), shown);
    sets.forEach(Runnable::run);
    answer.through().ifPresent(more -> of.reached(more, askedMillis));
  }

  private static Copy.Version version(List<CrdtState> states) {
    VersionVector context = VersionVector.EMPTY;
    long size = 0;
    for (CrdtState state : states) {
      context = context.join(state.context().toVersionVector());
      size += state.heapBytes();
    }
    return new Copy.Version(states, context, size + context.heapBytes());
  }
}
