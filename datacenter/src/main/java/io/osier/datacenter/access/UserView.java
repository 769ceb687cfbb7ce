package io.osier.datacenter.access;

import io.osier.core.Grant;
import java.util.List;

/**
 * A user as an operator sees it.
 *
 * @param hasPassword whether a password lets in
 * @param fromFile whether the configuration file names it, and nobody has changed users yet
 * @param by who made it; empty if the file does
 * @param atMillis when; 0 if the file does
 */
public record UserView(
    String name,
    boolean hasPassword,
    List<Grant> grants,
    boolean fromFile,
    String by,
    long atMillis) {
  public UserView {
    grants = List.copyOf(grants);
  }
}
