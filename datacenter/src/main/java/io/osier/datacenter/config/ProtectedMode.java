package io.osier.datacenter.config;

import io.netty.util.NetUtil;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What must be there before other machines may come in: TLS, and users. A datacenter that was
 * started in a hurry must not be everybody's.
 */
public final class ProtectedMode {
  private static final String LOCALHOST = "localhost";

  private ProtectedMode() {}

  /**
   * What lets other machines in without protection, in words; empty if nothing does.
   *
   * @param config whose {@code insecure} is not looked at
   */
  public static Optional<String> openTo(DatacenterConfig config) {
    boolean tls = config.tls().filter(TlsSettings::required).isPresent();
    boolean users = !config.users().isEmpty();
    if (!isLoopback(config.host()) && !(tls && users)) {
      return Optional.of("osier.listen.host = " + config.host() + lacking(config, tls, users));
    }
    if (config.admin().isEmpty() || isLoopback(config.admin().get().host())) {
      return Optional.empty();
    }
    boolean encrypted = tls && config.tls().filter(TlsSettings::admin).isPresent();
    if (encrypted && users) {
      return Optional.empty();
    }
    return Optional.of(
        "osier.admin.host = "
            + config.admin().get().host()
            + (tls && !encrypted ? " while osier.tls.admin = false" : lacking(config, tls, users)));
  }

  private static String lacking(DatacenterConfig config, boolean tls, boolean users) {
    List<String> lacking = new ArrayList<>();
    if (!tls) {
      lacking.add(config.tls().isPresent() ? "osier.tls.required" : "osier.tls");
    }
    if (!users) {
      lacking.add("osier.users");
    }
    return " without " + String.join(" and ", lacking);
  }

  /**
   * Whether nobody but this machine reaches an address: one of loopback, or localhost, of which
   * nothing but loopback is listened on. Other names are not looked up, and may lead anywhere.
   */
  public static boolean isLoopback(String host) {
    return host.equalsIgnoreCase(LOCALHOST) || isLoopbackAddress(host);
  }

  private static boolean isLoopbackAddress(String host) {
    InetAddress address = NetUtil.createInetAddressFromIpAddressString(host);
    return address != null && address.isLoopbackAddress();
  }

  /**
   * Refuses a configuration that lets other machines in without protection, unless it says that
   * this is meant.
   *
   * @throws OsierException CONFIGURATION
   */
  static void check(String source, DatacenterConfig config) {
    Optional<String> open = config.insecure() ? Optional.empty() : openTo(config);
    if (open.isPresent()) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          source
              + ": "
              + open.get()
              + ": whoever reaches this machine could read and change everything. Set them"
              + " (docs/OPERATIONS.md, Encrypt and Users), or listen on 127.0.0.1, or, where nobody"
              + " else reaches it, set osier.insecure = true (OSIER_INSECURE=true)");
    }
  }
}
