package io.osier.datacenter.control.view;

import java.util.List;

/**
 * The keyspaces of the configuration file that do not exist yet, in words, with the reason.
 *
 * @param awaited those that wait for other datacenters
 * @param refused those that cannot be created, or not yet, for another reason
 */
public record MissingKeyspaces(List<String> awaited, List<String> refused) {
  public static final MissingKeyspaces NOTHING = new MissingKeyspaces(List.of(), List.of());

  public MissingKeyspaces {
    awaited = List.copyOf(awaited);
    refused = List.copyOf(refused);
  }
}
