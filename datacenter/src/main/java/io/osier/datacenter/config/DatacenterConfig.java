package io.osier.datacenter.config;

import io.osier.adaptation.AdaptationSettings;
import io.osier.core.KeyspacePolicy;
import io.osier.core.net.HostPort;
import io.osier.datacenter.placement.PlacementSettings;
import io.osier.datacenter.store.StoreSettings;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.net.link.PortLimits;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings of a datacenter, checked. osier-reference.conf explains each.
 *
 * @param announced how others reach the port for clients; its port is 0 for the one that is bound
 * @param clients limits of the port for clients
 * @param userLimits what each user may have of that port
 * @param peerPortLimits limits of the port for the other datacenters
 * @param admin empty if metrics are not served
 * @param redis empty if the Redis protocol is not spoken
 * @param peers the other datacenters' peer addresses, by name
 * @param keyspaces those that it names and holds
 * @param elsewhere those that it names and others hold
 * @param withHomes those that it names and that have homes, each with its homes, held here or
 *     elsewhere: they are created once, as by an operator
 * @param compressed so many bytes a second are compressed of what each peer is told; 0 for none
 * @param slowRequests requests that take longer are named in the log; 0 for none
 * @param trace which updates are followed by traces
 * @param tls empty if nothing is encrypted
 * @param users none if everybody may do everything
 * @param insecure whether other machines may come in without TLS and users
 * @param auditFile where is noted who logged in and what was administered; empty for nowhere
 * @param memory what may be taken of the heap for which purpose
 * @param forwardedBytes the same for requests that are forwarded, half of it each way
 * @param copies of objects that others hold
 * @param placement how holders follow the load
 * @param written what is set otherwise than by default, as an operator writes it, without secrets
 */
public record DatacenterConfig(
    String dc,
    String cluster,
    long incarnationMin,
    String host,
    int clientPort,
    int peerPort,
    HostPort announced,
    PortLimits clients,
    UserLimits userLimits,
    PortLimits peerPortLimits,
    Optional<AdminSettings> admin,
    Optional<RedisSettings> redis,
    Map<String, InetSocketAddress> peers,
    List<KeyspacePolicy> keyspaces,
    List<KeyspacePolicy> elsewhere,
    List<KeyspacePolicy> withHomes,
    StreamSettings streams,
    int compressed,
    AdaptationSettings adaptation,
    StoreSettings store,
    MemoryShares memory,
    long forwardedBytes,
    CopySettings copies,
    PlacementSettings placement,
    int queue,
    Duration shutdownTimeout,
    Duration slowRequests,
    TraceSettings trace,
    Optional<TlsSettings> tls,
    List<UserSettings> users,
    boolean insecure,
    Optional<Path> auditFile,
    String written) {
  public DatacenterConfig {
    peers = Map.copyOf(peers);
    keyspaces = List.copyOf(keyspaces);
    elsewhere = List.copyOf(elsewhere);
    withHomes = List.copyOf(withHomes);
    users = List.copyOf(users);
  }

  /** Returns how many partitions all keyspaces have; at least 1. */
  public int partitions() {
    return Math.max(1, keyspaces.stream().mapToInt(KeyspacePolicy::partitions).sum());
  }

  /** Returns how many of them belong to causal keyspaces; at least 1. */
  public int causalPartitions() {
    return Math.max(
        1,
        keyspaces.stream()
            .filter(k -> k.consistency() == KeyspacePolicy.Consistency.CAUSAL)
            .mapToInt(KeyspacePolicy::partitions)
            .sum());
  }

  /** Returns the settings for the log. */
  @Override
  public String toString() {
    return written;
  }
}
