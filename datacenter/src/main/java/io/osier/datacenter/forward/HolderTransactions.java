package io.osier.datacenter.forward;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the holder of each transaction that was begun through this datacenter: all of its steps
 * go there. An open transaction counts as a request that its connection has in flight there. Pure;
 * used under its owner's lock.
 */
final class HolderTransactions {
  /** The most open transactions; further ones are refused for the moment. */
  static final int OPEN_MAX = 65_536;

  /** The most ended transactions that are remembered, since they may be asked for again. */
  static final int ENDED_MAX = 10_000;

  /**
   * How much longer than its limit a transaction is kept here, so that it never ends here first.
   */
  private static final long SLACK_NANOS = TimeUnit.SECONDS.toNanos(60);

  private record Name(String keyspace, TransactionId transaction) implements Comparable<Name> {
    /** An order, since clients may draw ids that have one hash. */
    @Override
    public int compareTo(Name other) {
      int byTransaction = transaction.compareTo(other.transaction);
      return byTransaction != 0 ? byTransaction : keyspace.compareTo(other.keyspace);
    }
  }

  static final class Home {
    private final Name name;
    private final ReplicaId holder;

    /** A commit number that the holder had given before the transaction began; 0 if unknown. */
    private final long known;

    private final Object lane;
    private final long endNanos;
    private boolean open = true;

    /** Whether the holder was asked to commit. */
    private boolean committing;

    private Home(Name name, ReplicaId holder, long known, Object lane, long endNanos) {
      this.name = name;
      this.holder = holder;
      this.known = known;
      this.lane = lane;
      this.endNanos = endNanos;
    }

    String dc() {
      return holder.dc();
    }

    Request asked(Request request) {
      return request instanceof Request.Repeat r
          ? new Request.Repeat(holder, known, r.step())
          : request;
    }
  }

  private final LaneHistory lanes;
  private final Map<Name, Home> open = new HashMap<>();
  private final Map<Name, Home> ended = new LinkedHashMap<>();

  /**
   * @param lanes are told of open transactions
   */
  HolderTransactions(LaneHistory lanes) {
    this.lanes = lanes;
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /**
   * Returns whether a step may be sent to a datacenter: its transaction is open there, or can be.
   */
  boolean hasRoom(Request.Transact step, String dc) {
    Home home = home(step);
    return home == null ? open.size() < OPEN_MAX : home.dc().equals(dc);
  }

  /** Returns the holder of a step's transaction; null if it is not known. */
  @Nullable Home home(Request.Transact step) {
    Name name = name(step);
    Home found = open.get(name);
    return found == null ? ended.get(name) : found;
  }

  private static Name name(Request.Transact step) {
    return new Name(step.keyspace(), step.transaction());
  }

  /**
   * Notes that a step is about to be sent.
   *
   * @param at the replica that gets it if it begins its transaction, as far as is known; null if
   *     that has just gone
   * @param known a commit number that the replica has given before
   */
  void asked(Request.Transact step, @Nullable ReplicaId at, long known, Object lane, long now) {
    Home home = home(step);
    if (home == null && at != null && step.begin().isPresent()) {
      Request.Begin begin = step.begin().get();
      int limit = Math.clamp(begin.limitMillis(), 0, Request.TRANSACTION_LIMIT_MILLIS_MAX);
      int wait = Math.clamp(begin.waitMillis(), 0, Request.WAIT_MILLIS_MAX);
      home =
          new Home(
              name(step),
              at,
              known,
              lane,
              now + TimeUnit.MILLISECONDS.toNanos(limit + wait) + SLACK_NANOS);
      open.put(home.name, home);
      lanes.begins(lane, step.keyspace(), at.dc());
    }
    if (home != null) {
      home.committing |= step.isUpdate();
    }
  }

  /**
   * Notes that a holder has answered a step, or will not answer it.
   *
   * @param lane of the connection that sent it
   * @param reply a failure if the holder will not answer: see {@link Forwardable#loss}
   */
  void answered(Request request, Object lane, Reply reply) {
    Request.Transact step = Forwardable.step(request);
    Home home = step == null ? null : open.get(name(step));
    if (step == null || home == null) {
      return;
    }
    if (!(reply instanceof Reply.Failure f)) {
      if (step.end() != Request.End.OPEN) {
        end(home);
      }
      return;
    }
    boolean isUnknown = request instanceof Request.Repeat || f.code() == ErrorCode.TIMEOUT;
    if (step.step() == 1 && !isUnknown && home.lane == lane) {
      home.committing = false; // it was not begun, and may begin at another holder
      end(home);
    } else if (f.code() == ErrorCode.TRANSACTION_ENDED
        || f.code() == ErrorCode.TRANSACTION_FORGOTTEN) {
      end(home);
    }
  }

  /** The connection to a holder was lost, and with it the transactions there. */
  void down(String dc) {
    endIf(home -> home.dc().equals(dc));
  }

  /** Ends the transactions whose time is over. */
  void expire(long now) {
    endIf(home -> now - home.endNanos >= 0);
  }

  private void endIf(Predicate<Home> which) {
    List<Home> all = new ArrayList<>(open.values());
    all.stream().filter(which).forEach(this::end);
  }

  private void end(Home home) {
    if (!home.open) {
      return;
    }
    home.open = false;
    open.remove(home.name);
    lanes.ends(home.lane, home.name.keyspace);
    if (home.committing) {
      ended.put(home.name, home);
      if (ended.size() > ENDED_MAX) {
        ended.remove(ended.keySet().iterator().next());
      }
    }
  }
}
