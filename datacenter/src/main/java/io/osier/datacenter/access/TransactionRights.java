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
 * By which rights the open transactions have made their updates: a commit needs all of them once
 * more, so what somebody updated before the right was taken away is not committed afterwards. Of
 * each transaction no more is kept than which of the user's grants were used, so it is small; it is
 * forgotten when the partition has answered that the transaction has ended or was not begun, or its
 * time is over. A request to end it is not enough: it may be refused, and leave all that was
 * updated. No user has so many, here or open in one keyspace, that the others find no room. Not
 * thread-safe.
 */
public final class TransactionRights {
  /** Most transactions; further ones are told to come later. */
  static final int MAX = 100_000;

  /** Most of one user: as with what else a user may have, the others keep a quarter. */
  static final int OF_ONE_MAX = MAX * 3 / 4;

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

  /** Who has them open, and where. */
  private record Owner(String user, String keyspace) {}

  private static final class Open implements Comparable<Open> {
    final Name name;
    final String user;
    final long endNanos;

    /** Longer it is not open in its partition, whoever tells of that. */
    final long limitNanos;

    final Set<Grant> used = new HashSet<>();

    /** Whether the partition may have had it: before that it may be open later. */
    boolean began;

    /** How many requests that may begin it are not answered: several, if it was sent again. */
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

    /** Whose partition aborts it first comes first. */
    int compareLimit(Open other) {
      int byLimit = Long.signum(limitNanos - other.limitNanos);
      return byLimit != 0 ? byLimit : name.compareTo(other.name);
    }

    /** Whose time is over first comes first. */
    @Override
    public int compareTo(Open other) {
      int byEnd = Long.signum(endNanos - other.endNanos);
      return byEnd != 0 ? byEnd : name.compareTo(other.name);
    }
  }

  private final Map<Name, Open> open = new HashMap<>();
  private final TreeSet<Open> byEnd = new TreeSet<>();
  private final Map<String, Integer> ofUsers = new HashMap<>();

  /** Those that may be open in their partitions, of whom there are so many each. */
  private final TreeSet<Open> byLimit = new TreeSet<>(Open::compareLimit);

  private final Map<Owner, Integer> ofOwners = new HashMap<>();
  private final int max;
  private final int ofOneMax;
  private final int inKeyspaceMax;

  /**
   * @param inKeyspaceMax how many a keyspace has open at most, of all users: one user may have
   *     three quarters of those
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
   * A step comes, for which the user has the rights at present. Unless it is refused here, {@link
   * #answered} follows.
   *
   * @param nowNanos the time, by the monotonic clock
   * @return the right that an earlier update was made by and that the user does not have any more;
   *     null if the step may be done
   * @throws OsierException TRANSACTION_ENDED if the transaction is somebody else's; OVERLOADED if
   *     too many are open, of this user or of all
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
      checkRoom(new Owner(user.name(), step.keyspace()), nowNanos);
      long limit = nowNanos + step.begin().map(b -> b.limitMillis() * 1_000_000L).orElse(0L);
      of = new Open(name, user.name(), limit + SLACK_NANOS, limit + waitNanos(step));
      add(of);
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
      of.beginning += step.begin().isPresent() ? 1 : 0;
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
    boolean begins = goesOn && step.begin().isPresent();
    if (begins && of.beginning > 0) {
      of.beginning--;
    }
    of.began |= goesOn && mayBeDone(reply);
    boolean isOver =
        switch (reply) {
          // One that begins and ends at once may have overtaken the step that is to open it.
          case Reply.Transacted t -> !goesOn && step.step() > 1;
          // So may what finds it not open yet.
          case Reply.Failure f ->
              of.began
                  ? f.code() == ErrorCode.TRANSACTION_ENDED
                  : begins && of.beginning == 0; // no other sending of the step may open it
          default -> false;
        };
    if (isOver) {
      remove(of);
    }
  }

  /**
   * Whether a step may have been done that was answered so, and its transaction be open. What takes
   * long is read when the step is done: if that fails, the partition ends the transaction before
   * anything else that comes after the answer. Only one that was open before may go on after a step
   * that reads too much.
   */
  private static boolean mayBeDone(Reply reply) {
    return reply instanceof Reply.Failure f
        ? f.code() == ErrorCode.TIMEOUT || f.code() == ErrorCode.INTERNAL
        : reply instanceof Reply.Transacted;
  }

  /** So long it may wait before it begins. */
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
              + " open transactions, and no user may have more here; commit or abort some");
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

  /** Of how many transactions something is kept. */
  public int size() {
    return open.size();
  }
}
