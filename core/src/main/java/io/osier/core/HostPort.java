package io.osier.core;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where somebody listens, as people write it: a name, an IPv4 address, or an IPv6 address in
 * brackets; a colon, and a port.
 *
 * @param host without brackets; not resolved
 * @param port from 1 to 65535
 */
public record HostPort(String host, int port) {
  /** What is allowed, for errors. */
  public static final String ALLOWED =
      "host:port, with a port from 1 to 65535 and an IPv6 address in brackets, for example"
          + " eu.example:7401 or [2001:db8::1]:7401";

  private static final int PORT_MAX = 65_535;
  private static final Pattern FORM =
      Pattern.compile(
          "(?:([\\p{Alnum}._-]+)|\\[([\\p{XDigit}:.]*:[\\p{XDigit}:.]*(?:%[\\p{Alnum}._-]+)?)]):(\\d{1,5})");

  /** Reads a text; empty if it is no address. */
  public static Optional<HostPort> parse(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    int port = Integer.parseInt(parts.group(3));
    if (port < 1 || port > PORT_MAX) {
      return Optional.empty();
    }
    String name = parts.group(1);
    return Optional.of(new HostPort(name != null ? name : parts.group(2), port));
  }

  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
