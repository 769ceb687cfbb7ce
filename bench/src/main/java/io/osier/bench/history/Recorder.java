package io.osier.bench.history;

import io.osier.bench.history.History.Op;
import io.osier.bench.history.History.Txn;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.SessionToken;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Records the transactions of all sessions, and hands tokens from one to another. Thread-safe. */
final class Recorder {
  /** The most tokens that wait to be taken by other sessions. */
  private static final int HANDED_MAX = 20;

  /**
   * The past of a session.
   *
   * @param token the session's token as text, as it would be sent to another process
   * @param txns the last transactions that the token covers
   */
  record Past(String token, List<Integer> txns) {
    SessionToken decoded() {
      return SessionToken.decode(token);
    }
  }

  private final History history = new History();
  private final Set<String> holders;
  private final List<Past> handed = new ArrayList<>();
  private final List<Past> endings = new ArrayList<>();
  private int sessions;
  private int numbers;
  private long values;
  private int programs;
  private int failed;
  private int unknown;
  private @Nullable String broken;

  /**
   * Creates a recorder of an empty history.
   *
   * @param holders the datacenters that always execute programs themselves. Others may forward to
   *     one holder now and to another later, so their programs may overlap
   */
  Recorder(Collection<String> holders) {
    this.holders = Set.copyOf(holders);
  }

  synchronized int newSession() {
    return ++sessions;
  }

  /** A value that was never written. */
  synchronized long newValue() {
    return ++values;
  }

  /**
   * Records a transaction.
   *
   * @param after transactions that it comes after, besides those of its session
   * @param at the datacenter that served it
   * @return its number
   */
  synchronized int add(int session, List<Op> ops, List<Integer> after, String at) {
    return add(session, ops, after, at, false);
  }

  /** Records a program, as {@link #add} does a transaction. */
  synchronized int addProgram(int session, List<Op> ops, List<Integer> after, String at) {
    programs++;
    return add(session, ops, after, at, holders.contains(at));
  }

  private int add(int session, List<Op> ops, List<Integer> after, String at, boolean isProgram) {
    history.add(new Txn(session, ++numbers, ops, after, at, isProgram));
    return numbers;
  }

  /** Records a transaction of unknown outcome, which is the last of its session. */
  synchronized void unknown(int session, List<Op> ops, List<Integer> after) {
    unknown++;
    add(session, ops, after, "?");
  }

  /** Counts a transaction that failed and was not done; some errors are violations. */
  synchronized void failed(OsierException e) {
    failed++;
    boolean expected =
        e.code().retryable()
            || e.code() == ErrorCode.TRANSACTION_ENDED
            || e.code() == ErrorCode.SNAPSHOT_TOO_OLD;
    if (!expected) {
      broken(e.code() + ": " + e.reason());
    }
  }

  synchronized void broken(String what) {
    broken = what;
  }

  /** Offers a session's past to other sessions. */
  synchronized void hand(Past past) {
    handed.add(past);
    if (handed.size() > HANDED_MAX) {
      handed.removeFirst();
    }
  }

  /** Returns a past that a session has offered, and withdraws it; null if there is none. */
  synchronized @Nullable Past taken(Random random) {
    return handed.isEmpty() ? null : handed.remove(random.nextInt(handed.size()));
  }

  synchronized void ended(Past past) {
    endings.add(past);
  }

  synchronized List<Past> endings() {
    return List.copyOf(endings);
  }

  synchronized String summary() {
    return String.format(
        Locale.ROOT,
        "%d transactions, %d of them programs, of %d sessions, %d failed, %d of unknown outcome",
        history.txns().size(),
        programs,
        sessions,
        failed,
        unknown);
  }

  /** Returns the last violation; null if there is none. */
  synchronized @Nullable String broken() {
    return broken;
  }

  /** Returns the history; for after all sessions have ended. */
  synchronized History history() {
    return history;
  }
}
