package io.osier.proxy.connection;

import io.netty.channel.ConnectTimeoutException;
import io.osier.core.tls.TlsTrouble;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.util.Optional;

/** Says in words why an address cannot be reached, or why a connection was lost. */
final class ConnectionErrors {
  private ConnectionErrors() {}

  static String inWords(Throwable cause) {
    Optional<String> tls = TlsTrouble.inWords(cause);
    if (tls.isPresent()) {
      return tls.get();
    }
    return switch (cause) {
      case ConnectTimeoutException e -> "no answer to the attempt to connect";
      case UnknownHostException e -> "the host's name is unknown";
      case UnresolvedAddressException e -> "the host's name is unknown";
      case NoRouteToHostException e -> "there is no route to the host";
      case ClosedChannelException e -> "the connection was closed before the request was sent";
      case ConnectException e -> "the connection was refused (nothing listens there)";
      default -> cause.getMessage() == null ? cause.toString() : cause.getMessage();
    };
  }
}
