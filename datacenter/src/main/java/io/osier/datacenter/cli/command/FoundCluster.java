package io.osier.datacenter.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.typesafe.config.ConfigUtil;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.HostPort;
import io.osier.datacenter.cli.session.CliAdmin;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.proxy.OsierClient;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The facts about a cluster for the configuration of a datacenter that joins it. Immutable.
 *
 * @param peers the address at which each datacenter is dialled by the others, by name
 * @param keyspaces the keyspaces that the datacenters' configuration files name, with their
 *     staleness bound and their settings other than the defaults; the joining datacenter learns all
 *     other keyspaces from the cluster
 */
record FoundCluster(
    SortedMap<String, String> peers, SortedMap<String, SortedMap<String, String>> keyspaces) {
  private static final Set<String> MEMBERS = Set.of("active", "joining");

  /** The name of the asked datacenter until it has told its own. */
  static final String ENDPOINT = "joined";

  private static final Duration PATIENCE = Duration.ofSeconds(15);

  /**
   * Asks a datacenter of the cluster.
   *
   * @param newcomer the joining datacenter, which is left out of the peers even if it is a member
   *     already
   * @param at the asked datacenter's client address. If it does not tell at which address others
   *     dial it, its peer port is assumed to be the next port, as by default
   * @param builder has the endpoint and the login
   * @throws OsierException the datacenter's error, or UNAVAILABLE if it cannot be reached
   */
  static FoundCluster ask(String newcomer, HostPort at, OsierClient.Builder builder) {
    try (OsierClient client = builder.build()) {
      connect(client, at);
      String asked = client.status().getFirst().name();
      JsonNode datacenters =
          CliAdmin.answer(client.admin().listDatacentersAsync()).get("datacenters");
      JsonNode keyspaces = CliAdmin.answer(client.admin().listKeyspacesAsync()).get("keyspaces");
      return of(newcomer, at, asked, datacenters, keyspaces);
    }
  }

  private static void connect(OsierClient client, HostPort at) {
    try {
      client.awaitConnected(PATIENCE);
    } catch (OsierException e) {
      throw silent(at, e);
    }
  }

  /**
   * Returns the error in the words of the command: the asked datacenter's name is not known yet.
   */
  static OsierException silent(HostPort at, OsierException why) {
    String reason = why.reason().replace(ENDPOINT + " at ", "");
    return new OsierException(
        why.code(),
        why.code() != ErrorCode.UNAVAILABLE
            ? "--join " + at + ": " + reason
            : ("--join %s: %s. The datacenter that is joined must run: start it first; the first of"
                    + " a cluster is made without --join, or with --peers, which asks nobody")
                .formatted(at, reason));
  }

  /**
   * Reads the answers.
   *
   * @param asked the name of the datacenter that gave them
   */
  static FoundCluster of(
      String newcomer, HostPort at, String asked, JsonNode datacenters, JsonNode keyspaces) {
    SortedMap<String, String> peers = new TreeMap<>();
    for (JsonNode dc : datacenters) {
      String name = dc.get("name").asText();
      String address = dc.get("address").asText();
      if (name.equals(newcomer) || !MEMBERS.contains(dc.get("state").asText())) {
        continue;
      }
      if (HostPort.parse(address).isPresent()) {
        peers.put(name, address);
      } else if (name.equals(asked)) {
        peers.put(name, new HostPort(at.host(), at.port() + 1).toString());
      } // one of the others is enough
    }
    SortedMap<String, SortedMap<String, String>> named = new TreeMap<>();
    for (JsonNode keyspace : keyspaces) {
      if (keyspace.get("from").asText().equals("file")) {
        String name = keyspace.get("name").asText();
        SortedMap<String, String> settings = new TreeMap<>();
        KeyspaceSettings.of(KeyspaceSettings.read(name, Map.of(), peers.keySet()))
            .forEach(
                (key, usual) -> {
                  String value = keyspace.path(key).asText(usual);
                  if (key.equals("sla") || !value.equals(usual)) {
                    settings.put(key, value);
                  }
                });
        named.put(name, settings);
      }
    }
    return new FoundCluster(peers, named);
  }

  /** Renders the keyspaces for a configuration file, one line each. */
  String keyspaceLines(String indent) {
    StringBuilder lines = new StringBuilder();
    keyspaces.forEach(
        (name, settings) -> {
          lines.append(indent).append(ConfigUtil.quoteString(name)).append(" {");
          String between = " ";
          for (Map.Entry<String, String> e : settings.entrySet()) {
            lines.append(between).append(e.getKey()).append(" = ").append(value(e));
            between = ", ";
          }
          lines.append(" }\n");
        });
    return lines.toString();
  }

  private static String value(Map.Entry<String, String> setting) {
    return setting.getKey().equals("replicas")
        ? "[" + setting.getValue() + "]"
        : ConfigUtil.quoteString(setting.getValue());
  }
}
