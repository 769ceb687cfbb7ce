package io.osier.datacenter.server;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.HostPort;
import io.osier.core.net.ListenAddress;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.function.Function;

/** Opens ports; an error names the setting and the likely reason. */
final class PortBinding {
  private PortBinding() {}

  /**
   * Opens a port.
   *
   * @param setting the setting that names the port
   * @throws OsierException CONFIGURATION if it cannot be bound
   */
  static <T> T bind(String setting, String host, int port, Function<InetSocketAddress, T> binder) {
    String why = "";
    try {
      InetSocketAddress at = ListenAddress.of(host, port);
      why =
          ListenAddress.isOurs(at.getAddress())
              ? "; another process may use it"
              : "; this machine has no such address";
      return binder.apply(at);
    } catch (Exception e) { // Netty throws the checked BindException without declaring it
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          setting
              + ": cannot listen on "
              + new HostPort(host, port)
              + " ("
              + e.getMessage()
              + ")"
              + (e instanceof BindException ? why : ""),
          e);
    }
  }
}
