package io.osier.datacenter.redis.command;

import io.osier.protocol.Reply;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which keyspace a database's number stands for. Immutable.
 *
 * @param named by number; none where nothing is set: then 0 is the only keyspace, or the one that
 *     is called default
 */
public record Databases(Map<Integer, String> named) {
  private static final String DEFAULT = "default";

  public Databases {
    named = Map.copyOf(named);
  }

  /** The keyspace of a number, if there is one among these. */
  public Optional<Reply.KeyspaceInfo> find(int number, List<Reply.KeyspaceInfo> keyspaces) {
    if (named.isEmpty() && number == 0 && keyspaces.size() == 1) {
      return Optional.of(keyspaces.getFirst());
    }
    String name = named.isEmpty() ? (number == 0 ? DEFAULT : null) : named.get(number);
    return keyspaces.stream().filter(k -> k.name().equals(name)).findFirst();
  }

  /** One more than the highest number; at least 1. */
  public int count() {
    return named.keySet().stream().mapToInt(n -> n + 1).max().orElse(1);
  }
}
