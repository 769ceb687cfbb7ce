package io.osier.datacenter.config;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Requires TLS and users before other machines may connect, so that a datacenter started in a hurry
 * is not open to everybody.
 */
public final class ProtectedMode {
  private static final String BYTE = "(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])";
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(\\." + BYTE + "){3}|::1|(0{1,4}:){7}0{0,3}1");

  private ProtectedMode() {}

  /**
   * Returns, in words, which settings let other machines in without protection; empty if none do.
   *
   * @param config the configuration; its {@code insecure} is ignored
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
   * Returns whether only this machine reaches an address: a loopback address, or localhost, which
   * is bound to loopback only. Other names are not looked up, and may lead anywhere.
   */
  public static boolean isLoopback(String host) {
    return LOOPBACK.matcher(host.toLowerCase(Locale.ROOT)).matches();
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
              + " (docs/SECURITY.md), or listen on 127.0.0.1, or, where nobody"
              + " else reaches it, set osier.insecure = true (OSIER_INSECURE=true)");
    }
  }
}
