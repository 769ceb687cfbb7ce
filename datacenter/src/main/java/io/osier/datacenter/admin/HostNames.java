package io.osier.datacenter.admin;

import io.netty.util.NetUtil;
import java.util.Locale;
import java.util.Set;

/**
 * Under which names a server on a private address may be asked for. A page of a stranger can have
 * its own name resolved to 127.0.0.1 once it is loaded, and the browser then takes this server for
 * a part of that page (DNS rebinding). It still says which name it asks for, and the stranger's is
 * none of ours. An address cannot be rebound. Immutable.
 */
final class HostNames {
  private final Set<String> names;

  /**
   * These names, localhost, and every address.
   *
   * @param names in lower case
   */
  HostNames(Set<String> names) {
    this.names = Set.copyOf(names);
  }

  /**
   * Whether a request that names this host is meant for this server.
   *
   * @param host as in the field Host, without the port
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
