package io.osier.datacenter.forward;

import java.net.SocketAddress;

/** A datacenter's address in the audit log. Immutable. */
public final class PeerAddress extends SocketAddress {
  private static final long serialVersionUID = 1;
  private final String dc;

  public PeerAddress(String dc) {
    this.dc = dc;
  }

  @Override
  public String toString() {
    return "datacenter " + dc;
  }
}
