package io.osier.datacenter.control.execution;

import java.net.InetSocketAddress;
import java.util.Map;

/**
 * The links to the other datacenters, and what is said there. Called by the control plane's thread.
 */
public interface PeerLinks {
  /** From now on these are the other datacenters, and where they are dialled. */
  void setPeers(Map<String, InetSocketAddress> peers, Map<String, Long> incarnationsMin);

  /** Whether frames can be sent to a datacenter. */
  boolean isConnected(String name);

  /** Whether one is in reach of which it is not decided yet whether it lets this one in. */
  boolean isHeld();

  /** The newest version of the peer protocol that another one speaks, as far as is known. */
  int protocol(String name);

  /** By name, the newest version of the peer protocol that datacenters say that they speak. */
  void setProtocols(Map<String, Integer> protocols);

  /** How others reach this datacenter's port for clients; empty while there is none. */
  String clients();

  /** By name, how the ports for clients are reached of the datacenters that have said so. */
  void setClients(Map<String, String> clients);

  /** How many bytes have come from the others since the start. */
  long receivedBytes();

  /** Sends a note to another one, if it can. */
  void note(String dc, byte[] content);

  /** This datacenter is none of the cluster any more. */
  void end(String why);
}
