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
   * @param ticket names the asker to the shell; echoed in the effects
   */
  record Command(long ticket, Request request) implements Input {}

  /** A frame from another datacenter. Frames of one sender come in the order they were sent. */
  record FromPeer(ReplicaId peer, Frame frame) implements Input {}

  /** Frames can be sent to this datacenter from now on. */
  record PeerUp(ReplicaId peer) implements Input {}

  /** Frames can no longer be sent to this datacenter; frames in flight may be lost. */
  record PeerDown(String dc) implements Input {}

  /**
   * A partition that is not ready waits for its peers from now on, as from its start: they are
   * dialled now, or one of them can be reached and has not let this datacenter in yet.
   */
  record Await() implements Input {}

  /** Time has passed; due no later than {@link Partition#nextTickNanos}. */
  record Tick() implements Input {}

  /**
   * Asks for a {@link PartitionReport}.
   *
   * @param ticket echoed in the effects
   * @param hotLimit the most hot objects in the report
   * @param about single objects whose waiting updates are reported
   */
  record Inspect(long ticket, int hotLimit, List<ObjectId> about) implements Input {
    public Inspect {
      about = List.copyOf(about);
    }

    /** Asks about no single object. */
    public Inspect(long ticket, int hotLimit) {
      this(ticket, hotLimit, List.of());
    }
  }

  /**
   * Objects found in the store after a start that may only remember their removal. Each is dropped
   * when every datacenter has the removal.
   */
  record Removed(List<ObjectId> objects) implements Input {}

  /**
   * Updates that were acknowledged in front of the partition and joined there, so they must not
   * fail any more. Only in a {@code session} keyspace whose objects are only in memory.
   */
  record Absorbed(List<Update> updates) implements Input {
    /**
     * Updates of one object.
     *
     * @param operation the updates as one: their sum, or all their elements
     * @param count how many they are
     * @param sinceNanos when the first of them was acknowledged, as {@link Now#nanos}
     */
    public record Update(ObjectId object, Operation operation, int count, long sinceNanos) {}
  }

  /**
   * The keyspace has another policy from now on, and other bounds in the heap.
   *
   * @param policy of the same keyspace: consistency, partitions and replicas stay
   */
  record Configured(
      KeyspacePolicy policy, StreamSettings.Memory streams, PartitionConfig.Memory memory)
      implements Input {}

  /**
   * Names the other holders of the keyspace from now on. The partition finds out anew whether it
   * has what they have.
   *
   * @param sharers these and this datacenter, except those that leave: new bounded counters share
   *     their rights among them
   * @param number of this input: {@link Machine#isComplete} refers to it
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
   * The keyspace is given up here. From now on the partition tells what it can have shown ({@link
   * Machine#shown}) to the datacenters that go on; after {@link Retire} it shows nothing new.
   */
  record Cease() implements Input {}

  /** The keyspace is not given up after all: ends {@link Cease}. */
  record Resume() implements Input {}

  /** Refuse clients' updates from now on, those that wait included: this datacenter leaves. */
  record Retire() implements Input {}

  /** Take clients' updates again: this datacenter is the last one, and stays. */
  record Stay() implements Input {}

  /** Give all rights of these bounded counters to another datacenter. */
  record GiveAway(List<ObjectId> counters, String heir) implements Input {
    public GiveAway {
      counters = List.copyOf(counters);
    }
  }

  /**
   * From now on this datacenter takes over the rights of a datacenter that was given up, until that
   * is a peer: of the bounded counters named here, and of others when they change. All updates of
   * it that any datacenter has are here.
   *
   * @param counters the counters of which it may have rights; empty in the first such input. If it
   *     has become a peer since, counters that an unfinished walk still names are ignored
   */
  record Inherit(String from, List<ObjectId> counters) implements Input {
    public Inherit {
      counters = List.copyOf(counters);
    }
  }

  /**
   * Somebody watches what becomes visible from now on, or nobody does any more.
   *
   * @param life numbers this period of watching, echoed in the effects; 0 if nobody watches
   */
  record Watched(long life) implements Input {}

  /**
   * The reads of a transaction's step could not be sent: the client takes the transaction for
   * ended.
   */
  record Untold(TransactionId transaction, int step) implements Input {}

  /** Ship everything dirty now: the datacenter is shutting down. */
  record Flush() implements Input {}
}
