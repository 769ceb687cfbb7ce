package io.osier.datacenter.security;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * By which rights the open transactions have made their updates: a commit needs all of them once
 * more, so what somebody updated before the right was taken away is not committed afterwards. Of
 * each transaction no more is kept than which of the user's grants were used, so it is small; it is
 * forgotten when the partition has answered that the transaction has ended, or its time is over. A
 * request to end it is not enough: it may be refused, and leave all that was updated. Not
 * thread-safe.
 */
public final class TransactionRights {
  /** Most transactions; further ones are told to come later. */
  static final int MAX = 100_000;

  /** Longer than its limit a transaction may live here, so that it never ends here first. */
  private static final long SLACK_NANOS = 60_000_000_000L;

  private record Name(String keyspace, TransactionId transaction) implements Comparable<Name> {
    /** As with identities alone: clients may choose those of one hash. */
    @Override
    public int compareTo(Name other) {
      int byTransaction = transaction.compareTo(other.transaction);
      return byTransaction != 0 ? byTransaction : keyspace.compareTo(other.keyspace);
    }
  }

  private static final class Open {
    final String user;
    final long endNanos;
    final Set<Grant> used = new HashSet<>();

    /** Whether the partition is known to have had it: before that it may be open later. */
    boolean began;

    Open(String user, long endNanos) {
      this.user = user;
      this.endNanos = endNanos;
    }
  }

  private final Map<Name, Open> open = new HashMap<>();
  private final int max;

  /** Before that nobody's time is over. */
  private long firstEndNanos;

  /** None yet. */
  public TransactionRights() {
    this(MAX);
  }

  TransactionRights(int max) {
    this.max = max;
  }

  /**
   * A step comes, for which the user has the rights at present.
   *
   * @param nowNanos the time, by the monotonic clock
   * @return the right that an earlier update was made by and that the user does not have any more;
   *     null if the step may be done
   * @throws OsierException TRANSACTION_ENDED if the transaction is somebody else's; OVERLOADED if
   *     too many are open
   */
  public @Nullable Grant missing(User user, Request.Transact step, long nowNanos) {
    boolean goesOn = step.end() == Request.End.OPEN;
    if (step.step() == 1 && !goesOn) {
      return null; // begins and ends at once: nothing came before
    }
    Name name = new Name(step.keyspace(), step.transaction());
    Open of = open.get(name);
    if (of == null) {
      if (!goesOn || step.begin().isEmpty()) {
        return null; // has ended, or never began: the partition will say so
      }
      checkRoom(nowNanos);
      of = new Open(user.name(), nowNanos + limitNanos(step) + SLACK_NANOS);
      endsAt(of.endNanos, open.isEmpty());
      open.put(name, of);
    }
    if (!of.user.equals(user.name())) {
      throw new OsierException(
          ErrorCode.TRANSACTION_ENDED, "there is no such transaction of this user");
    }
    if (step.end() == Request.End.COMMIT) {
      for (Grant used : of.used) {
        if (!user.may(used)) {
          return used;
        }
      }
    }
    if (goesOn) {
      use(user, step, of.used);
    }
    return null;
  }

  /** A step that was allowed has been answered: what has ended by that is forgotten. */
  public void answered(Request.Transact step, Reply reply) {
    Name name = new Name(step.keyspace(), step.transaction());
    Open of = open.get(name);
    if (of == null) {
      return;
    }
    boolean goesOn = step.end() == Request.End.OPEN;
    of.began |= goesOn && reply instanceof Reply.Transacted;
    boolean isOver =
        switch (reply) {
          // One that begins and ends at once may have overtaken the step that is to open it.
          case Reply.Transacted t -> !goesOn && step.step() > 1;
          // So may what finds it not open yet. And what cannot be read any more, of one that is
          // still open, is answered so, too.
          case Reply.Failure f ->
              f.code() == ErrorCode.TRANSACTION_ENDED && of.began && step.reads().isEmpty();
          default -> false;
        };
    if (isOver) {
      open.remove(name);
    }
  }

  private static long limitNanos(Request.Transact step) {
    return step.begin().map(b -> b.limitMillis() * 1_000_000L).orElse(0L);
  }

  private static void use(User user, Request.Transact step, Set<Grant> used) {
    for (Request.Update update : step.updates()) {
      for (Grant grant : user.grants()) {
        if (grant.covers(Grant.Right.WRITE, step.keyspace(), update.key())) {
          used.add(grant);
          break;
        }
      }
    }
  }

  private void checkRoom(long nowNanos) {
    // Not each time: those who wait for their turn here would wait for a walk through all.
    if (open.size() >= max && nowNanos - firstEndNanos > 0) {
      boolean first = true;
      Iterator<Open> all = open.values().iterator();
      while (all.hasNext()) {
        long endNanos = all.next().endNanos;
        if (nowNanos - endNanos > 0) {
          all.remove();
        } else {
          endsAt(endNanos, first);
          first = false;
        }
      }
    }
    if (open.size() >= max) {
      throw new OsierException(
          ErrorCode.OVERLOADED, "nothing was done: " + max + " transactions are open");
    }
  }

  private void endsAt(long nanos, boolean first) {
    if (first || nanos - firstEndNanos < 0) {
      firstEndNanos = nanos;
    }
  }

  /** Of how many transactions something is kept. */
  int size() {
    return open.size();
  }
}
