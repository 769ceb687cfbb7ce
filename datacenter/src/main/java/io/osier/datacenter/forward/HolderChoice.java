package io.osier.datacenter.forward;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the holder that gets a request, and adds to the request what its connection was shown:
 * the nearest holder, unless the connection has requests in flight at another one or its
 * transaction lives there. Pure; used under its owner's lock.
 */
final class HolderChoice {
  /** The least time that another holder may take to get what the former one has shown. */
  static final int MOVE_MILLIS = 1_000;

  /** How long other holders are preferred after one said that it cannot serve. */
  private static final long AVOID_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** The decision about a request. */
  sealed interface Choice {}

  /** The request goes to a holder. */
  record Chosen(String dc, Request request) implements Choice {}

  /** The request goes to no holder. */
  record Refused(Reply.Failure why) implements Choice {}

  private final String self;
  private final BiFunction<String, Integer, VersionVector> shownBefore;
  private final LaneHistory lanes = new LaneHistory();
  private final HolderTransactions transactions = new HolderTransactions(lanes);
  private final ShownVersions shown = new ShownVersions();
  private final NearestHolder nearest = new NearestHolder();

  /** Who is at the other end, of those that are up. */
  private final Map<String, ReplicaId> replicas = new HashMap<>();

  /** By keyspace, who was asked last. */
  private final Map<String, String> present = new HashMap<>();

  /** By keyspace, who held it when something was asked last. */
  private final Map<String, ForwardingHost.Held> holders = new HashMap<>();

  /**
   * @param shownBefore what was shown of a keyspace's partition while it was held here
   */
  HolderChoice(String self, BiFunction<String, Integer, VersionVector> shownBefore) {
    this.self = self;
    this.shownBefore = shownBefore;
  }

  // ---------------------------------------------------------------- asking

  /**
   * Chooses the holder that gets a request.
   *
   * @param up the holders that can be asked
   * @param lane of the connection that asks
   */
  Choice choose(
      Request request,
      String keyspace,
      ForwardingHost.Held held,
      List<String> up,
      Object lane,
      long now) {
    ForwardingHost.Held before = holders.get(keyspace);
    if (before != null && !held.creation().equals(before.creation())) {
      forget(keyspace); // what was shown is of the former one
    }
    holders.put(keyspace, held);
    Request.Transact step = Forwardable.step(request);
    HolderTransactions.Home home = step == null ? null : transactions.home(step);
    if (home != null) {
      return up.contains(home.dc())
          ? new Chosen(home.dc(), home.asked(request))
          : new Refused(Refusals.homeUnreachable(self, home.dc()));
    }
    if (step != null && (step.step() > 1 || request instanceof Request.Repeat)) {
      return new Refused(Refusals.notOpen(self, request));
    }
    String at = lanes.at(lane, keyspace);
    String dc = at != null && up.contains(at) ? at : nearest.choose(up, present.get(keyspace), now);
    if (dc == null) {
      return new Refused(Refusals.unreachable(self, keyspace, held));
    }
    present.put(keyspace, dc);
    Optional<ReplicaId> by = Optional.ofNullable(replicas.get(dc));
    VersionVector shownHere =
        Forwardable.partition(request, held.partitioning())
            .map(partition -> shownBefore.apply(keyspace, partition))
            .orElse(VersionVector.EMPTY);
    Request asked = Forwardable.behind(request, shownHere, MOVE_MILLIS);
    return new Chosen(dc, behind(asked, keyspace, held.partitioning(), lane, by));
  }

  /** Returns the request with what its connection was shown by other holders than this one. */
  private Request behind(
      Request request,
      String keyspace,
      Partitioning partitioning,
      Object lane,
      Optional<ReplicaId> by) {
    Optional<Integer> partition = Forwardable.partition(request, partitioning);
    boolean moved = lanes.hasSeenMore(lane, keyspace, by);
    VersionVector seen =
        moved && partition.isPresent() ? shown.of(keyspace, partition.get()) : VersionVector.EMPTY;
    return Forwardable.behind(request, seen, MOVE_MILLIS);
  }

  /**
   * Returns a request for a keyspace that this datacenter holds by now, of a connection whose
   * earlier requests were executed elsewhere: it asks for what they have shown.
   *
   * @return null if it must go to the holder where requests of the connection are in flight
   */
  @Nullable Request here(Request request, String keyspace, Partitioning partitioning, Object lane) {
    Request.Transact step = Forwardable.step(request);
    boolean isAway =
        lanes.at(lane, keyspace) != null || (step != null && transactions.home(step) != null);
    return isAway ? null : behind(request, keyspace, partitioning, lane, Optional.empty());
  }

  /** Who of these is asked at present, by who has nothing under way; empty if none is up. */
  Optional<String> present(String keyspace, List<String> up, long now) {
    return Optional.ofNullable(nearest.choose(up, present.get(keyspace), now));
  }

  /** By what number others know a connection. */
  long number(Object lane) {
    return lanes.number(lane);
  }

  /** Why a step cannot be asked for; null if it can. */
  Reply.@Nullable Failure tooManyOpen(Asks.Ask ask) {
    Request.Transact step = Forwardable.step(ask.request());
    return step == null || transactions.hasRoom(step, ask.dc()) ? null : Refusals.tooManyOpen(self);
  }

  void begins(Asks.Ask ask, String keyspace) {
    if (isInOrder(ask.request())) {
      lanes.begins(ask.lane(), keyspace, ask.dc());
    }
    Request.Transact step = Forwardable.step(ask.request());
    if (step != null) {
      VersionVector seen = shown.of(keyspace, 0);
      ReplicaId life = replicas.get(ask.dc());
      ReplicaId at = life == null ? null : HolderTerms.latest(seen, life);
      long known = at == null ? 0 : seen.get(at);
      transactions.asked(step, at, known, ask.lane(), ask.sinceNanos());
    }
  }

  /** Notes that a request is no longer in flight. */
  void ends(Asks.Ask ask) {
    Forwardable.keyspace(ask.request())
        .filter(name -> isInOrder(ask.request()))
        .ifPresent(name -> lanes.ends(ask.lane(), name));
  }

  /**
   * Returns whether later requests must follow this one to its holder; not so for a watcher, which
   * may wait there for ever.
   */
  private static boolean isInOrder(Request request) {
    return Forwardable.kind(request) != Forwardable.Kind.WATCH;
  }

  // ---------------------------------------------------------------- answers

  /** The holder does not answer a request; returns what its client is told instead. */
  Reply failed(Asks.Ask ask, Reply.Failure why) {
    transactions.answered(ask.request(), ask.lane(), why);
    return why;
  }

  /** A holder has answered; returns what the client is told. */
  Reply answered(ReplicaId peer, Asks.Ask ask, Reply reply, long now) {
    transactions.answered(ask.request(), ask.lane(), reply);
    if (reply instanceof Reply.Failure f) {
      if (f.code() == ErrorCode.SESSION_LOST) {
        lost(ask.request());
      }
      boolean goes = f.code() == ErrorCode.SHUTTING_DOWN;
      if (goes || f.code() == ErrorCode.UNAVAILABLE) {
        nearest.avoid(peer.dc(), now + AVOID_NANOS);
      }
      return goes ? new Reply.Failure(ErrorCode.UNAVAILABLE, peer.dc() + ": " + f.message()) : f;
    }
    Forwardable.keyspace(ask.request())
        .ifPresent(
            keyspace -> {
              shown.answered(ask.request(), ask.partition(), reply);
              lanes.answered(ask.lane(), keyspace, peer);
            });
    return reply;
  }

  /** Something that was shown of what a request is about is lost. */
  void lost(Request request) {
    String keyspace = Forwardable.keyspace(request).orElse("");
    ForwardingHost.Held of = holders.get(keyspace);
    if (of != null) {
      Forwardable.partition(request, of.partitioning())
          .ifPresent(p -> shown.lost(keyspace, p, replicas.values(), of.dcs()));
    }
  }

  // ---------------------------------------------------------------- what is shown here

  /** Returns what was shown by other holders, and here while the keyspace was held here. */
  VersionVector shown(String keyspace, int partition) {
    return shown.of(keyspace, partition).join(shownBefore.apply(keyspace, partition));
  }

  void shows(String keyspace, int partition, VersionVector seen) {
    shown.saw(keyspace, partition, seen);
  }

  /** Notes that a connection is shown what a datacenter has told. */
  void shows(Object lane, String keyspace, String dc) {
    ReplicaId by = replicas.get(dc);
    // The next incarnation of a datacenter that has just gone may not have what it told.
    lanes.answered(lane, keyspace, by == null ? new ReplicaId(dc, Long.MAX_VALUE) : by);
  }

  double roundTripNanos(String dc, long now) {
    return nearest.roundTripNanos(dc, now);
  }

  // ---------------------------------------------------------------- holders

  /** One can be asked from now on. */
  void up(ReplicaId peer) {
    replicas.put(peer.dc(), peer);
  }

  /** One cannot be asked any more. */
  void down(String dc) {
    replicas.remove(dc);
    nearest.down(dc);
    transactions.down(dc);
  }

  /** The measurement of a way begins; false if one is under way. */
  boolean measures(String dc, long now) {
    return nearest.begins(dc, now);
  }

  /** It has ended, whatever was answered. */
  void measured(String dc, long nanos) {
    if (replicas.containsKey(dc)) {
      nearest.measured(dc, nanos);
    }
  }

  /** There is no such keyspace any more. */
  void forget(String keyspace) {
    shown.forget(keyspace);
    present.remove(keyspace);
    holders.remove(keyspace);
  }

  /** Ends what has been open for too long. */
  void expire(long now) {
    transactions.expire(now);
  }

  /** Whether no transaction is open. */
  boolean isIdle() {
    return transactions.isEmpty();
  }
}
