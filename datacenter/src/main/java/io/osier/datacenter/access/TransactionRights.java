package io.osier.datacenter.access;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the rights by which open transactions have made their updates. A commit needs all these
 * rights again, so that updates made before a right was taken away are not committed afterwards.
 * Only the user's grants that were used are kept of each transaction. A transaction is forgotten
 * when the partition has answered that it has ended or did not begin, or when its time limit has
 * passed; a request to end it is not enough, as it may be refused and leave all updates. No user
 * may have so many transactions, here or open in one keyspace, that there is no room for other
 * users. Not thread-safe.
 */
public final class TransactionRights {
  /** Most transactions; further ones fail with OVERLOADED. */
  static final int MAX = 100_000;

  /** Most transactions of one user; as with other limits, a quarter is left for the other users. */
  static final int OF_ONE_MAX = MAX * 3 / 4;

  /**
   * How much longer than its limit a transaction is remembered, so that it never ends here first.
   */
  private static final long SLACK_NANOS = 60_000_000_000L;

  private record Name(String keyspace, TransactionId transaction) implements Comparable<Name> {
    /** An order for tree maps, as clients may choose ids with one hash. */
    @Override
    public int compareTo(Name other) {
      int byTransaction = transaction.compareTo(other.transaction);
      return byTransaction != 0 ? byTransaction : keyspace.compareTo(other.keyspace);
    }
  }

  /** A user and a keyspace in which it has open transactions. */
  private record Owner(String user, String keyspace) {}

  private static final class Open implements Comparable<Open> {
    final Name name;
    final String user;
    final long endNanos;

    /** The time after which it is certainly no longer open in its partition. */
    final long limitNanos;

    final Set<Grant> used = new HashSet<>();

    /** Whether the partition may have begun it; before that it may still be opened later. */
    boolean began;

    /** How many requests that may begin it are unanswered: several, if it was sent again. */
    int beginning;

    Open(Name name, String user, long endNanos, long limitNanos) {
      this.name = name;
      this.user = user;
      this.endNanos = endNanos;
      this.limitNanos = limitNanos;
    }

    Owner owner() {
      return new Owner(user, name.keyspace);
    }

    /** Orders transactions by the time at which their partition aborts them. */
    int compareLimit(Open other) {
      int byLimit = Long.signum(limitNanos - other.limitNanos);
      return byLimit != 0 ? byLimit : name.compareTo(other.name);
    }

    /** Orders transactions by the time at which they are forgotten. */
    @Override
    public int compareTo(Open other) {
      int byEnd = Long.signum(endNanos - other.endNanos);
      return byEnd != 0 ? byEnd : name.compareTo(other.name);
    }
  }

  private final Map<Name, Open> open = new HashMap<>();
  private final TreeSet<Open> byEnd = new TreeSet<>();
  private final Map<String, Integer> ofUsers = new HashMap<>();

  /**
   * The transactions that may be open in their partitions, which are counted in {@link #ofOwners}.
   */
  private final TreeSet<Open> byLimit = new TreeSet<>(Open::compareLimit);

  private final Map<Owner, Integer> ofOwners = new HashMap<>();
  private final int max;
  private final int ofOneMax;
  private final int inKeyspaceMax;

  /**
   * Makes it.
   *
   * @param inKeyspaceMax the most open transactions of a keyspace, of all users; one user may have
   *     three quarters of them
   */
  public TransactionRights(int inKeyspaceMax) {
    this(MAX, OF_ONE_MAX, inKeyspaceMax);
  }

  TransactionRights(int max, int ofOneMax, int inKeyspaceMax) {
    this.max = max;
    this.ofOneMax = ofOneMax;
    this.inKeyspaceMax = inKeyspaceMax;
  }

  /**
   * Checks a step for which the user has the rights at present. Unless it is refused here, {@link
   * #answered} follows.
   *
   * @param nowNanos the time, by the monotonic clock
   * @return a right by which an earlier update was made and which the user no longer has; null if
   *     the step may be done
   * @throws OsierException TRANSACTION_ENDED if the transaction belongs to another user; OVERLOADED
   *     if too many are open, of this user or of all users
   */
  public @Nullable Grant missing(User user, Request.Transact step, long nowNanos) {
    boolean goesOn = step.end() == Request.End.OPEN;
    if (step.step() == 1 && !goesOn) {
      return null; // begins and ends at once, without earlier updates
    }
    Name name = new Name(step.keyspace(), step.transaction());
    Open of = open.get(name);
    if (of == null) {
      if (!goesOn || step.begin().isEmpty()) {
        return null; // ended or never begun: the partition will refuse it
      }
      checkRoom(new Owner(user.name(), step.keyspace()), nowNanos);
      long limit = nowNanos + step.begin().map(b -> b.limitMillis() * 1_000_000L).orElse(0L);
      of = new Open(name, user.name(), limit + SLACK_NANOS, limit + waitNanos(step));
      add(of);
    }
    if (!of.user.equals(user.name())) {
      throw new OsierException(
          ErrorCode.TRANSACTION_ENDED, "this user has no such open transaction");
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
      of.beginning += step.begin().isPresent() ? 1 : 0;
    }
    return null;
  }

  /** Handles the answer to a step that was allowed: forgets its transaction if it has ended. */
  public void answered(Request.Transact step, Reply reply) {
    Name name = new Name(step.keyspace(), step.transaction());
    Open of = open.get(name);
    if (of == null) {
      return;
    }
    boolean goesOn = step.end() == Request.End.OPEN;
    boolean begins = goesOn && step.begin().isPresent();
    if (begins && of.beginning > 0) {
      of.beginning--;
    }
    of.began |= goesOn && mayBeDone(reply);
    boolean isOver =
        switch (reply) {
          // A step that begins and ends at once may have overtaken the step that opens the
          // transaction.
          case Reply.Transacted t -> !goesOn && step.step() > 1;
          // So may a step that finds the transaction not open yet.
          case Reply.Failure f ->
              of.began
                  ? f.code() == ErrorCode.TRANSACTION_ENDED
                  : begins && of.beginning == 0; // no repetition of the step may open it
          default -> false;
        };
    if (isOver) {
      remove(of);
    }
  }

  /**
   * Returns whether a step with this answer may have been done, and its transaction be open. Long
   * answers are made after the step is done: if that fails, the partition ends the transaction
   * before it handles anything that comes after the answer. Only a transaction that was open before
   * may go on after a step that reads too much.
   */
  private static boolean mayBeDone(Reply reply) {
    return reply instanceof Reply.Failure f
        ? f.code() == ErrorCode.TIMEOUT || f.code() == ErrorCode.INTERNAL
        : reply instanceof Reply.Transacted;
  }

  /** Returns how long the transaction may wait before it begins. */
  private static long waitNanos(Request.Transact step) {
    return step.begin()
        .map(b -> Math.clamp((long) b.waitMillis(), 0, Request.WAIT_MILLIS_MAX) * 1_000_000L)
        .orElse(0L);
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

  private void checkRoom(Owner owner, long nowNanos) {
    while (!byEnd.isEmpty() && nowNanos - byEnd.first().endNanos > 0) {
      remove(byEnd.first());
    }
    while (!byLimit.isEmpty() && nowNanos - byLimit.first().limitNanos > 0) {
      isNotOpen(byLimit.first());
    }
    String user = owner.user;
    if (ofUsers.getOrDefault(user, 0) >= ofOneMax) {
      throw new OsierException(
          ErrorCode.OVERLOADED,
          "nothing was done: user '"
              + user
              + "' has "
              + ofOneMax
              + " open transactions, the most that a user may have at this datacenter; commit or"
              + " abort some");
    }
    int inKeyspaceOfOneMax = inKeyspaceMax * 3 / 4;
    if (ofOwners.getOrDefault(owner, 0) >= inKeyspaceOfOneMax) {
      throw new OsierException(
          ErrorCode.OVERLOADED,
          "nothing was done: user '"
              + user
              + "' has "
              + inKeyspaceOfOneMax
              + " open transactions in '"
              + owner.keyspace
              + "', and no user may have more of the "
              + inKeyspaceMax
              + " that there may be; commit or abort some");
    }
    if (open.size() >= max) {
      throw new OsierException(
          ErrorCode.OVERLOADED,
          "nothing was done: all users together have "
              + max
              + " open transactions, and there is no room for more here; try again later");
    }
  }

  private void add(Open one) {
    open.put(one.name, one);
    byEnd.add(one);
    ofUsers.merge(one.user, 1, Integer::sum);
    byLimit.add(one);
    ofOwners.merge(one.owner(), 1, Integer::sum);
  }

  private void remove(Open one) {
    open.remove(one.name);
    byEnd.remove(one);
    ofUsers.computeIfPresent(one.user, (user, n) -> n == 1 ? null : n - 1);
    isNotOpen(one);
  }

  private void isNotOpen(Open one) {
    if (byLimit.remove(one)) {
      ofOwners.computeIfPresent(one.owner(), (owner, n) -> n == 1 ? null : n - 1);
    }
  }

  /** Returns how many transactions are remembered. */
  public int size() {
    return open.size();
  }
}
