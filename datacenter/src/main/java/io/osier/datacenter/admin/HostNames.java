package io.osier.datacenter.admin;

import io.netty.util.NetUtil;
import java.util.Locale;
import java.util.Set;

/**
 * The host names that requests to a server on a private address may use. This guards against DNS
 * rebinding: a hostile page can have its own name resolved to 127.0.0.1 after it is loaded, and the
 * browser then takes this server for a part of that page. The request still contains the hostile
 * name, which is not among these. IP addresses are always allowed, as they cannot be rebound.
 * Immutable.
 */
final class HostNames {
  private final Set<String> names;

  /**
   * Allows these names, localhost, and every IP address.
   *
   * @param names in lower case
   */
  HostNames(Set<String> names) {
    this.names = Set.copyOf(names);
  }

  /**
   * Returns whether a request that names this host is meant for this server.
   *
   * @param host the value of the Host field, without the port
   */
  boolean admit(String host) {
    String name = host.toLowerCase(Locale.ROOT);
    if (name.startsWith("[") && name.endsWith("]")) {
      return NetUtil.isValidIpV6Address(name.substring(1, name.length() - 1));
    }
    if (name.endsWith(".")) {
      name = name.substring(0, name.length() - 1); // the same name, written in full
    }
    return NetUtil.isValidIpV4Address(name)
        || name.equals("localhost")
        || name.endsWith(".localhost")
        || names.contains(name);
  }
}
