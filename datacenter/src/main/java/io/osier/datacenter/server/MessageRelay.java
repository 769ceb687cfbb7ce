package io.osier.datacenter.server;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.pubsub.PublishNote;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Sends published messages to the other datacenters that hold their keyspace, or a home of it.
 * Thread-safe.
 */
final class MessageRelay implements PubSub.Peers {
  /** Sends a note to a datacenter. */
  @FunctionalInterface
  interface Notes {
    /** Returns whether the note was sent. */
    boolean send(String dc, byte[] note);
  }

  private final Supplier<Set<String>> peers;
  private final Function<String, List<KeyspacePolicy>> policies;
  private final Notes notes;

  /**
   * Makes a relay.
   *
   * @param peers returns the other datacenters
   * @param policies returns the policies of a keyspace's homes, which may be the keyspace alone;
   *     none if this datacenter holds none of them
   */
  MessageRelay(
      Supplier<Set<String>> peers, Function<String, List<KeyspacePolicy>> policies, Notes notes) {
    this.peers = peers;
    this.policies = policies;
    this.notes = notes;
  }

  @Override
  public int send(PublishNote note) {
    Set<String> others = peers.get();
    List<KeyspacePolicy> homes = others.isEmpty() ? List.of() : policies.apply(note.keyspace());
    if (homes.isEmpty()) {
      return 0;
    }
    byte[] content = note.encode();
    int dropped = 0;
    for (String dc : others) {
      if (homes.stream().anyMatch(home -> home.heldBy(dc)) && !notes.send(dc, content)) {
        dropped++;
      }
    }
    return dropped;
  }
}
