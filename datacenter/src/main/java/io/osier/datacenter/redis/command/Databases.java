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
 * @param named by number; none where nothing is set: then 0 is the only keyspace, or the one that
 *     is called default
 */
public record Databases(Map<Integer, String> named) {
  private static final String DEFAULT = "default";

  public Databases {
    named = Map.copyOf(named);
  }

  /**
   * The keyspace of a number, if there is one. A keyspace with homes is one, however many of its
   * homes are where.
   *
   * @param here among which it is looked for first, so that what others hold takes 0 from none
   * @param all with those that others hold
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

  /** One more than the highest number; at least 1. */
  public int count() {
    return named.keySet().stream().mapToInt(n -> n + 1).max().orElse(1);
  }
}
