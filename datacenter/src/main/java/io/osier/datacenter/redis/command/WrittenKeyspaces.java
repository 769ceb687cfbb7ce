package io.osier.datacenter.redis.command;

import io.osier.protocol.Request;
import java.util.HashSet;
import java.util.Set;

/** The keyspaces to which a connection has written. Not thread-safe. */
public final class WrittenKeyspaces {
  /** The keyspace of the last update: nearly always that of the next one, too. */
  private String last = "";

  private final Set<String> all = new HashSet<>(2);

  public void note(Request update) {
    String keyspace =
        switch (update) {
          case Request.Write w -> w.keyspace();
          case Request.WriteAll w -> w.keyspace();
          case Request.Transact t -> t.keyspace();
          case Request.Evaluate e -> e.isUpdate() ? e.keyspace() : last;
          default -> last;
        };
    if (!keyspace.equals(last)) {
      last = keyspace;
      all.add(keyspace);
    }
  }

  public Set<String> all() {
    return Set.copyOf(all);
  }
}
