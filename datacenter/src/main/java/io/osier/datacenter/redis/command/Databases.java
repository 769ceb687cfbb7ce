package io.osier.datacenter.redis.command;

import io.osier.core.Homes;
import io.osier.protocol.Reply;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which keyspace a database's number stands for. Immutable.
 *
 * @param named the configured keyspaces by number; empty if nothing is configured: then number 0
 *     stands for the only keyspace, or for the keyspace named default
 */
public record Databases(Map<Integer, String> named) {
  private static final String DEFAULT = "default";

  public Databases {
    named = Map.copyOf(named);
  }

  /**
   * Returns the keyspace of a number, if there is one. A keyspace with homes counts as one
   * keyspace, whichever datacenters hold the homes.
   *
   * @param here the keyspaces that this datacenter holds; they are searched first, so that a
   *     keyspace of other holders never changes what 0 means here
   * @param all all keyspaces, with those that only others hold
   */
  public Optional<Reply.KeyspaceInfo> find(
      int number, List<Reply.KeyspaceInfo> here, List<Reply.KeyspaceInfo> all) {
    return name(number, here)
        .or(() -> name(number, all))
        .flatMap(
            name ->
                Stream.concat(here.stream(), all.stream())
                    .filter(k -> k.name().equals(name))
                    .findFirst());
  }

  private Optional<String> name(int number, List<Reply.KeyspaceInfo> keyspaces) {
    if (!named.isEmpty() || number != 0) {
      return Optional.ofNullable(named.get(number));
    }
    Set<String> names = new HashSet<>();
    keyspaces.forEach(k -> names.add(Homes.base(k.name())));
    return names.size() == 1
        ? Optional.of(names.iterator().next())
        : Optional.of(DEFAULT).filter(names::contains);
  }

  /** Returns the highest number plus one; at least 1. */
  public int count() {
    return named.keySet().stream().mapToInt(n -> n + 1).max().orElse(1);
  }
}
