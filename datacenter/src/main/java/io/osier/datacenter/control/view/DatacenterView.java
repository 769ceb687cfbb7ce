package io.osier.datacenter.control.view;

import java.util.List;
import java.util.Optional;

/**
 * A datacenter as an operator sees it.
 *
 * @param address where its peers dial it; empty if that is not known here
 * @param state joining, active, leaving, left or removed
 * @param fromFile whether the configuration file names it, and nobody has changed datacenters yet
 * @param awaited what it waits for, in words
 * @param catchUp its progress if it joins; only it knows that
 * @param by who changed it last; empty if nobody has
 * @param atMillis when; 0 if it never was
 */
public record DatacenterView(
    String name,
    String address,
    String state,
    boolean fromFile,
    List<String> awaited,
    Optional<CatchUp> catchUp,
    String by,
    long atMillis) {
  public DatacenterView {
    awaited = List.copyOf(awaited);
  }
}
