package io.osier.datacenter.control.execution;

import io.osier.core.net.HostPort;
import java.net.InetSocketAddress;
import java.util.Map;

/**
 * The links to the other datacenters, and the announcements made there. Called by the control
 * plane's thread.
 */
public interface PeerLinks {
  /** Sets the other datacenters and the addresses at which they are dialled. */
  void setPeers(Map<String, InetSocketAddress> peers, Map<String, Long> incarnationsMin);

  /** Returns whether frames can be sent to a datacenter. */
  boolean isConnected(String name);

  /**
   * Returns whether a datacenter can be reached that has not decided yet whether to let this one
   * in.
   */
  boolean isHeld();

  /** Returns the newest version of the peer protocol that a datacenter is known to speak. */
  int protocol(String name);

  /** Sets the newest version of the peer protocol that each datacenter says it speaks, by name. */
  void setProtocols(Map<String, Integer> protocols);

  /**
   * Returns the address at which others reach this datacenter's port for clients; empty if there is
   * none.
   */
  String clients();

  /** Sets the addresses of the ports for clients that datacenters have announced, by name. */
  void setClients(Map<String, String> clients);

  /** Returns how many bytes have come from the others since the start. */
  long receivedBytes();

  /** Sends a note to a datacenter, if it is connected. */
  void note(String dc, byte[] content);

  /** Ends this datacenter, which is no longer a member of the cluster. */
  void end(String why);

  /** Returns an address that was announced, to be dialled. */
  static InetSocketAddress address(String text) {
    // Former versions took texts for addresses that cannot be dialled; the other datacenter may
    // dial.
    return HostPort.parse(text)
        .map(a -> InetSocketAddress.createUnresolved(a.host(), a.port()))
        .orElseGet(() -> InetSocketAddress.createUnresolved(text, 0));
  }
}
