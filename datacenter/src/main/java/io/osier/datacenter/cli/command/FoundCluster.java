package io.osier.datacenter.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.typesafe.config.ConfigUtil;
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
 * What a newcomer's configuration takes from the cluster that it joins. Immutable.
 *
 * @param peers where each datacenter is dialled by the others, by name
 * @param keyspaces their staleness and the settings that are not the defaults, of the keyspaces
 *     that the files of the datacenters name; it has all others when it has joined
 */
record FoundCluster(
    SortedMap<String, String> peers, SortedMap<String, SortedMap<String, String>> keyspaces) {
  private static final Set<String> MEMBERS = Set.of("active", "joining");
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  /**
   * Asks a datacenter.
   *
   * @param newcomer is not among the peers, also if it is a member already
   * @param at where clients reach it. Where it does not say at which address others dial it, its
   *     peer port is taken to be the next one, as by default
   * @param builder has the endpoint, and who logs in
   * @throws OsierException as it says itself, or UNAVAILABLE if it cannot be reached
   */
  static FoundCluster ask(String newcomer, HostPort at, OsierClient.Builder builder) {
    try (OsierClient client = builder.build()) {
      client.awaitConnected(PATIENCE);
      String asked = client.status().getFirst().name();
      JsonNode datacenters =
          CliAdmin.answer(client.admin().listDatacentersAsync()).get("datacenters");
      JsonNode keyspaces = CliAdmin.answer(client.admin().listKeyspacesAsync()).get("keyspaces");
      return of(newcomer, at, asked, datacenters, keyspaces);
    }
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
      } // of the others one is enough
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

  /** The keyspaces as a configuration file has them, a line each. */
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
