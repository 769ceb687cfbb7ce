package io.osier.proxy;

import io.osier.core.KeyspacePolicy;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A keyspace as the datacenters know it.
 *
 * @param settings its settings, by their names in the configuration file: {@code sla} to {@code
 *     500ms}
 * @param isActive whether it takes updates
 * @param awaited the datacenters that have not opened it yet; none once it is active
 * @param fromFile whether it comes from configuration files rather than a command
 * @param changedBy the user who created or altered it last; empty if nobody did, or there are no
 *     users
 * @param changedAt when it was created or altered last; empty if it never was
 */
public record KeyspaceStatus(
    String name,
    SortedMap<String, String> settings,
    boolean isActive,
    List<String> awaited,
    boolean fromFile,
    Optional<String> changedBy,
    Optional<Instant> changedAt) {
  public KeyspaceStatus {
    settings = Collections.unmodifiableSortedMap(new TreeMap<>(settings));
    awaited = List.copyOf(awaited);
  }

  /** Returns whether the keyspace has transactions: {@link KeyspacePolicy.Consistency#CAUSAL}. */
  public boolean isCausal() {
    return "causal".equals(settings.get("consistency"));
  }
}
