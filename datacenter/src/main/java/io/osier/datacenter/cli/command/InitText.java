package io.osier.datacenter.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.typesafe.config.ConfigUtil;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Fills the known settings into the distribution's example configuration. Not thread-safe. */
final class InitText {
  private static final String EXAMPLE = "/osier-example.conf";

  /** The example's lines in the place of the peers. */
  private static final String PEERS =
      """
          # us = "us.example:7401"
          # ap = "ap.example:7401"
      """;

  private final String dc;
  private String text;

  /** Fills in the basic settings; the keyspace is {@code default} if none is given. */
  InitText(String dc, String cluster, int port, @Nullable String keyspace) throws IOException {
    this.dc = dc;
    try (InputStream in = requireNonNull(InitText.class.getResourceAsStream(EXAMPLE))) {
      text = new String(in.readAllBytes(), UTF_8);
    }
    put("dc = eu\n", "dc = " + dc + '\n');
    put("cluster = osier\n", "cluster = " + ConfigUtil.quoteString(cluster) + '\n');
    put("client-port = 7400", "client-port = " + port);
    put("peer-port = 7401", "peer-port = " + (port + 1));
    put("port = 7402", "port = " + (port + 2));
    put("shop { sla", ConfigUtil.quoteString(keyspace == null ? "default" : keyspace) + " { sla");
    text = text.replace("/etc/osier/eu.", "/etc/osier/" + dc + '.');
  }

  private void put(String place, String value) {
    if (!text.contains(place)) {
      throw new IllegalStateException("the example has no '" + place + "'");
    }
    text = text.replace(place, value);
  }

  /** Replaces the text from one of the example's lines to the end of another. */
  private void putBlock(String first, String last, String value) {
    int from = text.indexOf(first);
    int to = text.indexOf(last, from);
    if (from < 0 || to < 0) {
      throw new IllegalStateException("the example has no '" + first + "'");
    }
    text = text.substring(0, from) + value + text.substring(to + last.length());
  }

  /**
   * Fills in TLS and one user.
   *
   * @param isReached whether other machines can reach the datacenter
   * @param credential the credential of the user's password
   */
  InitText secure(ClusterSecrets secrets, boolean isReached, String user, String credential) {
    if (isReached) {
      put("host = \"127.0.0.1\"", "host = \"0.0.0.0\"");
    }
    put(
        "    enabled = true\n",
        """
            enabled = true
            # Only this machine reaches it: it is without TLS (tls.admin) and logins.
            host = "127.0.0.1"
        """);
    putBlock(
        "  # tls {",
        "}\n",
        """
          tls {
            certificate = %s
            key = %s
            authorities = %s
            admin = false
          }
        """
            .formatted(
                ConfigUtil.quoteString(secrets.certificate(dc).toString()),
                ConfigUtil.quoteString(secrets.key(dc).toString()),
                ConfigUtil.quoteString(secrets.authority().toString())));
    putBlock(
        "  # users {",
        "  # }\n",
        """
          # More are made while it runs: osier cli --user %3$s user create cart read shop
          users {
            %1$s {
              credential = %2$s
              rights = ["admin *", "read *", "write *"]
            }
          }
        """
            .formatted(ConfigUtil.quoteString(user), ConfigUtil.quoteString(credential), user));
    return this;
  }

  InitText peers(Map<String, String> peers) {
    if (!peers.isEmpty()) {
      StringBuilder lines = new StringBuilder();
      peers.forEach(
          (name, address) ->
              lines
                  .append("    ")
                  .append(ConfigUtil.quoteString(name))
                  .append(" = ")
                  .append(ConfigUtil.quoteString(address))
                  .append('\n'));
      put(PEERS, lines.toString());
    }
    return this;
  }

  InitText joins(FoundCluster found) {
    putBlock("    # An update is visible", "{ sla = 2s }\n", found.keyspaceLines("    "));
    return peers(found.peers());
  }

  String text() {
    return text;
  }
}
