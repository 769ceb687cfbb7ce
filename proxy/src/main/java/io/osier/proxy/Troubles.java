package io.osier.proxy;

import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;

/** Says why an address cannot be reached, or is no more. */
final class Troubles {
  private Troubles() {}

  static String inWords(Throwable cause) {
    return switch (cause) {
      case ConnectTimeoutException e -> "no answer to the attempt to connect";
      case UnknownHostException e -> "the host's name is unknown";
      case UnresolvedAddressException e -> "the host's name is unknown";
      case NoRouteToHostException e -> "there is no route to the host";
      case ClosedChannelException e -> "it was lost with requests that were not sent yet";
      case ConnectException e -> "the connection was refused (nothing listens there)";
      default -> cause.getMessage() == null ? cause.toString() : cause.getMessage();
    };
  }
}
