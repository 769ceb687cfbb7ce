package io.osier.core.net;

import java.net.IDN;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/** Chooses the address of a host at which a server listens. Thread-safe. */
public final class ListenAddress {
  private static final String LOCALHOST = "localhost";

  private ListenAddress() {}

  /**
   * Returns the first of a host's addresses that this machine has; for localhost the first loopback
   * address. If the host has a single address, it is that one: the system may let it be bound
   * before the machine has it. Looks the name up, which may block.
   *
   * @throws UnknownHostException if there is none; its message says why
   */
  public static InetSocketAddress of(String host, int port) throws UnknownHostException {
    return new InetSocketAddress(of(host, InetAddress::getAllByName), port);
  }

  static InetAddress of(String host, Dial.Lookup lookup) throws UnknownHostException {
    List<InetAddress> all;
    try {
      all = Arrays.asList(lookup.all(IDN.toASCII(host)));
    } catch (UnknownHostException e) {
      throw cause("this host name cannot be resolved here", e);
    }
    boolean isLocalhost = host.equalsIgnoreCase(LOCALHOST);
    if (all.size() == 1 && !isLocalhost) {
      return all.getFirst();
    }
    return all.stream()
        .filter(a -> isLocalhost ? a.isLoopbackAddress() : isOurs(a))
        .findFirst()
        .orElseThrow(
            () ->
                new UnknownHostException(
                    isLocalhost
                        ? "it leads to " + all + ", which is not this machine's loopback"
                        : "it leads to " + all + ", and this machine has no such address"));
  }

  private static UnknownHostException cause(String words, UnknownHostException e) {
    UnknownHostException told = new UnknownHostException(words);
    told.initCause(e);
    return told;
  }

  /** Returns this machine's name; localhost if it is unknown. */
  public static String machine() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return LOCALHOST; // its name has no address, so it would help nobody
    }
  }

  /** Whether this machine has an address, as far as is known. */
  public static boolean isOurs(InetAddress address) {
    try {
      return address.isAnyLocalAddress()
          || address.isLoopbackAddress()
          || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return true; // unknown here: binding will show it
    }
  }
}
