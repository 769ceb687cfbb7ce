package io.osier.datacenter.server;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.pubsub.PublishNote;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends published messages to the other datacenters that hold their keyspace. Thread-safe. */
final class MessageRelay implements PubSub.Peers {
  /** Sends a note to a datacenter. */
  @FunctionalInterface
  interface Notes {
    /** Whether it is sent. */
    boolean send(String dc, byte[] note);
  }

  private final Supplier<Set<String>> peers;
  private final Function<String, @Nullable KeyspacePolicy> policies;
  private final Notes notes;

  /**
   * @param peers the other datacenters
   * @param policies how a keyspace behaves; null if there is none of a name
   */
  MessageRelay(
      Supplier<Set<String>> peers,
      Function<String, @Nullable KeyspacePolicy> policies,
      Notes notes) {
    this.peers = peers;
    this.policies = policies;
    this.notes = notes;
  }

  @Override
  public int send(PublishNote note) {
    Set<String> others = peers.get();
    KeyspacePolicy policy = others.isEmpty() ? null : policies.apply(note.keyspace());
    if (policy == null) {
      return 0;
    }
    byte[] content = note.encode();
    int dropped = 0;
    for (String dc : others) {
      if (policy.heldBy(dc) && !notes.send(dc, content)) {
        dropped++;
      }
    }
    return dropped;
  }
}
