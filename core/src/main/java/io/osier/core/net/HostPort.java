package io.osier.core.net;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address at which a server listens, as people write it: a name, an IPv4 address, or an IPv6
 * address in brackets; a colon, and a port. Surrounding blanks are ignored.
 *
 * @param host without brackets; not resolved; names may have the letters of any language
 * @param port from 1 to 65535
 */
public record HostPort(String host, int port) {
  /** The allowed form, for errors; its port is nobody's, since clients and peers have their own. */
  public static final String ALLOWED =
      "host:port, with a port from 1 to 65535 and an IPv6 address in brackets, for example"
          + " eu.example:1234 or [2001:db8::1]:1234";

  private static final int PORT_MAX = 65_535;
  private static final Pattern FORM =
      Pattern.compile("(?:([^\\[\\]:]+)|\\[([^\\[\\]]+)]):(\\d{1,5})");
  private static final Pattern NAME =
      Pattern.compile("[\\p{L}\\p{M}\\p{N}_-]+(\\.[\\p{L}\\p{M}\\p{N}_-]+)*\\.?");
  private static final Pattern IPV6 =
      Pattern.compile("[\\p{XDigit}:.]*:[\\p{XDigit}.]*:[\\p{XDigit}:.]*(?:%[\\p{Alnum}._-]+)?");

  /**
   * Returns where a program on the same machine reaches a server that listens on a host, 0.0.0.0 or
   * ::.
   */
  public static HostPort bound(String host, int port) {
    return new HostPort(host.equals("0.0.0.0") || host.equals("::") ? "localhost" : host, port);
  }

  /** Parses a text; empty if it is no address. */
  public static Optional<HostPort> parse(String text) {
    Matcher parts = FORM.matcher(text.strip());
    if (!parts.matches()) {
      return Optional.empty();
    }
    int port = Integer.parseInt(parts.group(3));
    if (port < 1 || port > PORT_MAX) {
      return Optional.empty();
    }
    return (parts.group(1) != null
            ? name(parts.group(1))
            : Optional.of(parts.group(2)).filter(h -> IPV6.matcher(h).matches()))
        .map(host -> new HostPort(host, port));
  }

  /**
   * Parses a host without a port, and returns it without brackets, which an IPv6 address may have.
   * Empty if it is no host.
   */
  public static Optional<String> host(String text) {
    String host = text.strip();
    boolean hasBrackets = host.startsWith("[") && host.endsWith("]");
    String address = hasBrackets ? host.substring(1, host.length() - 1) : host;
    return IPV6.matcher(address).matches() ? Optional.of(address) : name(host);
  }

  private static Optional<String> name(String text) {
    return Optional.of(text).filter(n -> NAME.matcher(n).matches());
  }

  @Override
  public String toString() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }
}
