package io.osier.datacenter.placement;

import io.osier.core.OsierException;
import java.util.SortedMap;

/** The holders of keyspaces, as an operator sees and alters them. */
public interface HolderCommands {
  /**
   * Alters them, as an operator does.
   *
   * @param replicas their names, with commas
   * @throws OsierException as of an operator's command
   */
  void alter(String keyspace, String replicas);

  /** By name, what is known of each, in words. */
  SortedMap<String, String> states(String keyspace);
}
