package io.osier.datacenter.partition.machine;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.Partition;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.List;

/** Everything that can happen to a {@link Partition}. */
public sealed interface Input {
  /**
   * A client's request for this partition's objects; others are refused.
   *
   * @param ticket by which the shell knows whom to answer; echoed in the effects
   */
  record Command(long ticket, Request request) implements Input {}

  /** A frame from another datacenter. Frames of one sender come in the order they were sent. */
  record FromPeer(ReplicaId peer, Frame frame) implements Input {}

  /** Frames can be sent to this datacenter from now on. */
  record PeerUp(ReplicaId peer) implements Input {}

  /** Frames can no longer be sent to this datacenter; those under way may be lost. */
  record PeerDown(String dc) implements Input {}

  /**
   * A partition that is not ready waits for the peers from now on, as from its start: they are
   * dialled now, or one of them is in reach and has not let this datacenter in yet.
   */
  record Await() implements Input {}

  /** Time has come on; due no later than {@link Partition#nextTickNanos}. */
  record Tick() implements Input {}

  /**
   * Asks for a {@link PartitionReport}.
   *
   * @param ticket echoed in the effects
   * @param hotLimit at most so many hot objects
   * @param about objects of which it is told what waits of them, if anything does
   */
  record Inspect(long ticket, int hotLimit, List<ObjectId> about) implements Input {
    public Inspect {
      about = List.copyOf(about);
    }

    /** About no object. */
    public Inspect(long ticket, int hotLimit) {
      this(ticket, hotLimit, List.of());
    }
  }

  /**
   * Objects that may only remember their removal: found in the store after a start. They are
   * dropped when every datacenter has all of them.
   */
  record Removed(List<ObjectId> objects) implements Input {}

  /**
   * Updates that were acknowledged in front of the partition and joined there: they must not fail
   * any more. Only in a {@code session} keyspace whose objects are in memory only.
   */
  record Absorbed(List<Update> updates) implements Input {
    /**
     * The updates of one object.
     *
     * @param operation what they amount to together: their sum, or all their elements
     * @param count how many they are
     * @param sinceNanos when the first of them was acknowledged, as {@link Now#nanos}
     */
    public record Update(ObjectId object, Operation operation, int count, long sinceNanos) {}
  }

  /**
   * The keyspace behaves so from now on, and so much of the heap may be taken.
   *
   * @param policy of the same keyspace: consistency, partitions and replicas stay
   */
  record Configured(
      KeyspacePolicy policy, StreamSettings.Memory streams, PartitionConfig.Memory memory)
      implements Input {}

  /**
   * From now on these are the other datacenters that hold the keyspace. Whether this one has what
   * they have is found out anew.
   *
   * @param sharers those, and this one, but for who leaves: bounded counters that are made from now
   *     on give their rights to these
   * @param number of this telling: whether it is complete is asked for one of them
   * @param joins whether this one is about to join, so that it did not know them before
   * @param rank of this one's clock, see {@link io.osier.core.time.HybridClock#HybridClock(int)}
   */
  record Peers(long number, List<String> peers, List<String> sharers, boolean joins, int rank)
      implements Input {
    public Peers {
      peers = List.copyOf(peers);
      sharers = List.copyOf(sharers);
    }
  }

  /**
   * The keyspace is given up here: what is shown is told ({@link Machine#shown}), for those that go
   * on elsewhere; until {@link Retire}, after which nothing is shown.
   */
  record Cease() implements Input {}

  /** The keyspace is not given up after all: what is shown is told no more. */
  record Resume() implements Input {}

  /** Take no updates of clients any more, also none that wait: this datacenter leaves. */
  record Retire() implements Input {}

  /** Take updates again: it is the last one, and stays. */
  record Stay() implements Input {}

  /** Give all rights of these bounded counters to another datacenter. */
  record GiveAway(List<ObjectId> counters, String heir) implements Input {
    public GiveAway {
      counters = List.copyOf(counters);
    }
  }

  /**
   * From now on this datacenter takes over the rights of a datacenter that was given up, until that
   * is a peer: of bounded counters that are named, and when they change. Everything that anybody
   * has of it is here.
   *
   * @param counters those of which it may have some; none to begin. If it has been a peer since
   *     that, those that a walk names which has not ended are not taken
   */
  record Inherit(String from, List<ObjectId> counters) implements Input {
    public Inherit {
      counters = List.copyOf(counters);
    }
  }

  /**
   * Somebody wants to know what becomes visible from now on, or nobody does any more.
   *
   * @param life names this time of watching, echoed in the effects; 0 if nobody does
   */
  record Watched(long life) implements Input {}

  /**
   * What a step of a transaction reads could not be told: whoever asked takes the transaction for
   * ended.
   */
  record Untold(TransactionId transaction, int step) implements Input {}

  /** Ship everything dirty now: the datacenter is shutting down. */
  record Flush() implements Input {}
}
