package io.osier.datacenter.redis.command;

import io.osier.protocol.Request;
import java.util.HashSet;
import java.util.Set;

/** The keyspaces to which a connection has written. Not thread-safe. */
public final class WrittenKeyspaces {
  /** The keyspace of the last update: nearly always that of the next one, too. */
  private String last = "";

  private final Set<String> all = new HashSet<>(2);

  /** Notes the keyspace of a request, if that may change an object. */
  public void note(Request request) {
    if (request instanceof Request.OfKeyspace of && of.isUpdate() && !of.keyspace().equals(last)) {
      last = of.keyspace();
      all.add(last);
    }
  }

  public Set<String> all() {
    return Set.copyOf(all);
  }
}
