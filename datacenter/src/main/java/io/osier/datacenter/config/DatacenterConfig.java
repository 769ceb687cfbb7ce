package io.osier.datacenter.config;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.store.StoreSettings;
import io.osier.propagation.StreamSettings;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The settings of a datacenter, checked. osier-reference.conf explains each.
 *
 * @param dc its name
 * @param adminPort empty if metrics are not served
 * @param peers the other datacenters' peer addresses, by name
 */
public record DatacenterConfig(
    String dc,
    String cluster,
    long incarnationMin,
    String host,
    int clientPort,
    int peerPort,
    OptionalInt adminPort,
    Map<String, InetSocketAddress> peers,
    List<KeyspacePolicy> keyspaces,
    StreamSettings streams,
    AdaptationSettings adaptation,
    StoreSettings store,
    int queue,
    Duration shutdownTimeout) {
  public DatacenterConfig {
    peers = Map.copyOf(peers);
    keyspaces = List.copyOf(keyspaces);
  }
}
