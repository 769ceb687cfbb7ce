package io.osier.proxy.session;

import io.osier.core.HolderTerms;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import java.util.List;

/**
 * What one request carries of what its session has seen, and what its answer adds to that. All
 * methods are called with the lock of the {@link SessionContext} held.
 */
public final class RequestContext {
  private final SessionContext past;
  private final KeyspaceClocks keyspace;

  /** The partition that the request is for; -1 if it is for no single partition. */
  private final int partition;

  /** The process to which the request is sent. */
  private final ReplicaId replica;

  private final boolean update;

  /**
   * Whether that process forwards the request to a holder, which need not be the same each time.
   */
  private final boolean forwarded;

  private final PartitionClock clock;
  private final long epoch;
  private final VersionVector after;
  private final boolean ordered;

  public RequestContext(
      SessionContext past,
      String keyspace,
      int partition,
      ReplicaId replica,
      boolean update,
      boolean forwarded) {
    this.past = past;
    this.keyspace = past.clocks(keyspace);
    this.partition = partition;
    this.replica = replica;
    this.update = update;
    this.forwarded = forwarded;
    this.clock = this.keyspace.get(partition);
    this.epoch = this.keyspace.epoch();
    this.after = clock.attachedIn == epoch && !forwarded ? VersionVector.EMPTY : clock.seen();
    this.ordered = clock.writesUnderWay > 0;
    if (update) {
      clock.writesUnderWay++;
    }
  }

  /** Returns what the session has seen of the partition and the datacenter may lack. */
  public VersionVector after() {
    return after;
  }

  /** Returns whether the session has updates of the partition under way, which a read must see. */
  public boolean isOrdered() {
    return ordered;
  }

  /** Makes the request that repeats a transaction's step whose answer was lost. */
  public Request.Repeat again(Request.Transact step) {
    ReplicaId to = HolderTerms.latest(clock.seen(), replica);
    return new Request.Repeat(to, past.known(clock, to), step);
  }

  /** Notes that the request was answered or has failed. */
  public void ended() {
    if (update) {
      clock.writesUnderWay--;
    }
  }

  /**
   * Adds what an answer shows to what the session has seen.
   *
   * @param waited whether the datacenter answered only after it covered what the request carried
   * @param showsOthersPast whether the answer may show updates that the datacenter itself lacks
   */
  public void saw(Reply reply, boolean waited, boolean showsOthersPast) {
    if (!add(reply)) {
      return;
    }
    if (!keyspace.isAt(replica) || showsOthersPast || forwarded) {
      keyspace.sawStranger();
    } else if (epoch == keyspace.epoch() && waited) {
      clock.attachedIn = epoch;
    }
  }

  /** Returns whether the answer came from the partition. */
  private boolean add(Reply reply) {
    switch (reply) {
      case Reply.Done d -> {
        d.answer().ifPresent(a -> clock.saw(a.seen()));
        clock.saw(d.dot());
      }
      case Reply.Answer a -> clock.saw(a.seen());
      case Reply.Transacted t -> clock.saw(t.clock());
      case Reply.Evaluated e -> {
        e.dot().ifPresent(clock::saw);
        e.parts().forEach(this::add);
      }
      case Reply.All all -> {
        boolean any = false; // perhaps no part reached the partition
        for (Reply part : all.parts()) {
          any |= add(part);
        }
        return any;
      }
      case Reply.Page p -> keyspace.saw(p.seen());
      case Reply.Counted c -> keyspace.saw(c.seen());
      case Reply.Changes c -> {
        List<VersionVector> seen = c.places().stream().map(WatchRequest.Place::seen).toList();
        if (partition >= 0) {
          clock.saw(seen.getFirst());
        } else {
          keyspace.saw(seen);
        }
      }
      default -> {
        return false;
      }
    }
    return true;
  }
}
