package io.osier.datacenter.control.view;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A keyspace as an operator sees it.
 *
 * @param settings by their names, as the configuration file has them; and {@link #ADDING} if homes
 *     are being added, or were not when that was tried last
 * @param holders its holders, those included that are still joining, in the order of their names
 * @param awaited the datacenters that must open it before it takes updates
 * @param fromFile whether the configuration files name it
 * @param by who changed it last; empty if nobody has
 * @param atMillis when; 0 if it never was
 */
public record KeyspaceView(
    String name,
    SortedMap<String, String> settings,
    List<Holder> holders,
    List<String> awaited,
    boolean fromFile,
    String by,
    long atMillis) {
  /** Names, among the settings, how far the addition of homes has come, or why it has failed. */
  public static final String ADDING = "adding";

  /**
   * A holder.
   *
   * @param state what is known of it here, in words
   */
  public record Holder(String dc, String state) {
    public static final String HOLDS = "holds";
  }

  public KeyspaceView {
    holders = List.copyOf(holders);
    settings = new TreeMap<>(settings);
    awaited = List.copyOf(awaited);
  }
}
