package io.osier.datacenter.admin;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Parses the head of an HTTP/1.1 request, as far as it matters here. Pure. It is strict, because
 * requests can be smuggled past one of two programs that read a head in different ways.
 *
 * @param path the path without the query
 * @param query the text after the question mark; empty if there is none
 * @param host the client's name for this server, without the port; empty only with HTTP/1.0
 * @param authorization the Authorization field, perhaps with a password: {@link #toString} does not
 *     show it
 */
record RequestHead(
    String method,
    String path,
    Optional<String> query,
    Optional<String> host,
    Optional<String> authorization) {
  private static final Pattern LONE_RETURN = Pattern.compile("\\r(?!\\n)");

  /** Refuses a request, with a status and a message. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;
    private final int status;

    /**
     * Makes the refusal.
     *
     * @param status an HTTP status 4xx
     * @param words the message for the client
     */
    Refused(int status, String words) {
      super(words, null, false, false);
      this.status = status;
    }

    int status() {
      return status;
    }
  }

  /**
   * Reads a head.
   *
   * @param text the request line and the fields, one in each line, which ends with \n or \r\n
   * @throws Refused with 400 if the text is no request
   */
  static RequestHead parse(String text) throws Refused {
    if (LONE_RETURN.matcher(text).find()) {
      throw new Refused(400, "a line ends with \\r alone");
    }
    List<String> lines = text.lines().takeWhile(line -> !line.isEmpty()).toList();
    String[] parts = lines.isEmpty() ? new String[0] : lines.getFirst().split(" ", -1);
    if (parts.length != 3 || !(parts[2].equals("HTTP/1.1") || parts[2].equals("HTTP/1.0"))) {
      throw new Refused(
          400, "the first line is not that of an HTTP/1.1 request, such as: GET /metrics HTTP/1.1");
    }
    String target = parts[1];
    if (!target.startsWith("/") || !isPlain(target)) {
      throw new Refused(400, "a request names a path, such as /metrics, in plain characters");
    }
    Optional<String> host = Optional.empty();
    Optional<String> authorization = Optional.empty();
    for (String line : lines.subList(1, lines.size())) {
      int colon = line.indexOf(':');
      if (colon < 1 || !isPlain(line.substring(0, colon))) {
        throw new Refused(400, "a header line is not of the form name: value");
      }
      if (line.substring(0, colon).equalsIgnoreCase("host")) {
        if (host.isPresent()) {
          throw new Refused(400, "there are two Host headers");
        }
        host = Optional.of(withoutPort(line.substring(colon + 1).strip()));
      } else if (line.substring(0, colon).equalsIgnoreCase("authorization")) {
        if (authorization.isPresent()) {
          throw new Refused(400, "there are two Authorization headers");
        }
        authorization = Optional.of(line.substring(colon + 1).strip());
      }
    }
    if (host.isEmpty() && parts[2].equals("HTTP/1.1")) {
      throw new Refused(400, "an HTTP/1.1 request needs a Host header");
    }
    int query = target.indexOf('?');
    return new RequestHead(
        parts[0],
        query < 0 ? target : target.substring(0, query),
        Optional.of(query < 0 ? "" : target.substring(query + 1)).filter(q -> !q.isEmpty()),
        host,
        authorization);
  }

  @Override
  public String toString() {
    return method + " " + path;
  }

  private static boolean isPlain(String text) {
    return text.chars().allMatch(c -> c > ' ' && c < 0x7f);
  }

  private static String withoutPort(String authority) throws Refused {
    int end = authority.indexOf(']');
    int colon = authority.indexOf(':', Math.max(0, end));
    if (colon < 0) {
      return authority;
    }
    if (!authority.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9')) {
      throw new Refused(
          400, "the Host header must be a name or an address, with or without a port");
    }
    return authority.substring(0, colon);
  }
}
