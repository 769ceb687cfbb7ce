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

/** Takes down what all sessions do, and hands their clocks on. Thread-safe. */
final class Recorder {
  /** How many clocks wait to be taken by others. */
  private static final int HANDED_MAX = 20;

  /**
   * What a session had seen.
   *
   * @param token as text, as it would go into another process
   * @param txns the last transactions before that
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
   * Takes nothing down yet.
   *
   * @param holders those that do themselves what they are asked: others may have asked now one and
   *     now another holder, so what is done there is in no turn
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
   * Takes a transaction down.
   *
   * @param after others that it comes after, besides those of its session
   * @param at the datacenter that served it
   * @return its number
   */
  synchronized int add(int session, List<Op> ops, List<Integer> after, String at) {
    return add(session, ops, after, at, false);
  }

  /** Takes a program down, as {@link #add} does a transaction. */
  synchronized int addProgram(int session, List<Op> ops, List<Integer> after, String at) {
    programs++;
    return add(session, ops, after, at, holders.contains(at));
  }

  private int add(int session, List<Op> ops, List<Integer> after, String at, boolean isProgram) {
    history.add(new Txn(session, ++numbers, ops, after, at, isProgram));
    return numbers;
  }

  /** A transaction of which nobody knows whether it was done: the last of its session. */
  synchronized void unknown(int session, List<Op> ops, List<Integer> after) {
    unknown++;
    add(session, ops, after, "?");
  }

  /** What failed and was not done; some errors must not come at all. */
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

  /** Gives a session's past to whoever takes it. */
  synchronized void hand(Past past) {
    handed.add(past);
    if (handed.size() > HANDED_MAX) {
      handed.removeFirst();
    }
  }

  /** A past that some session has handed on; null if there is none. */
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

  /** What must not happen and did; null if nothing. */
  synchronized @Nullable String broken() {
    return broken;
  }

  /** All that was taken down; for when all sessions are over. */
  synchronized History history() {
    return history;
  }
}
