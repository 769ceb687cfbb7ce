package io.osier.datacenter.metrics;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.memory.Budget;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.store.DamagedRanges;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoreStatistics;
import io.osier.propagation.host.DelayHistogram;
import io.osier.propagation.host.Timeliness;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/**
 * The metrics of a datacenter at the time when its partitions published them. Counts are since the
 * start of the process. Immutable by convention: readers must not change its collections and
 * histograms. For any thread.
 *
 * @param self the datacenter
 * @param version the program's version
 * @param startMillis when the datacenter started, by the wall clock
 * @param atMillis when this snapshot was made, by the wall clock
 * @param obstacles what keeps the datacenter from serving, in words
 * @param warnings what does not work although the datacenter serves, in words
 * @param joining its progress if it is joining the cluster
 * @param certificates the expiry of each certificate in use, by subject, in seconds since 1970
 * @param clients the metrics of the port for clients
 * @param droppedUpdates updates that no other datacenter was known to have when their keyspace was
 *     dropped
 * @param auditLost how many lines of the audit log were not written, by reason
 * @param failedAttempts how often attempts failed that are repeated automatically, by kind
 * @param links the connections with each peer, by its name
 * @param store empty if everything is in memory only
 * @param traces empty if no update is traced
 * @param keyspaces in the order of their names
 */
public record Snapshot(
    ReplicaId self,
    String version,
    long startMillis,
    long atMillis,
    List<String> obstacles,
    List<String> warnings,
    Optional<Joining> joining,
    Map<String, Long> certificates,
    Clients clients,
    long droppedUpdates,
    Map<String, Long> auditLost,
    Map<String, Long> failedAttempts,
    Map<String, Link> links,
    Optional<Store> store,
    Optional<Traces> traces,
    List<Keyspace> keyspaces) {

  /** Returns the keyspaces all of whose partitions have published something. */
  public List<Keyspace> published() {
    return keyspaces.stream().filter(k -> k.partitions.size() == k.policy.partitions()).toList();
  }

  /**
   * The progress of a datacenter that is joining the cluster.
   *
   * @param complete how many of its partitions have caught up
   * @param partitions how many partitions it has
   * @param objects how many objects it holds
   * @param objectsThere how many objects the others hold, if they have told
   * @param bytes how many bytes it has received since its start
   * @param secondsLeft the estimated time left, if there is an estimate
   */
  public record Joining(
      int complete,
      int partitions,
      long objects,
      OptionalLong objectsThere,
      long bytes,
      OptionalLong secondsLeft) {}

  /**
   * The port for clients.
   *
   * @param connections the number of open connections
   * @param requests the times of requests from their arrival to their answer, by kind
   * @param failures how many requests were refused or failed, by reason
   * @param malformed how many requests could not be decoded
   * @param limited how often something was refused because of a user's limit, by limit
   * @param users the load of some users on the port, the largest first
   * @param messages the messages of Redis channels
   * @param elsewhere the requests for keyspaces that others hold
   */
  public record Clients(
      int connections,
      Map<String, DelayHistogram> requests,
      Map<ErrorCode, Long> failures,
      long malformed,
      Map<String, Long> limited,
      List<UserLoad> users,
      Messages messages,
      Elsewhere elsewhere) {
    /** The value before the port is opened. */
    public static final Clients NONE =
        new Clients(0, Map.of(), Map.of(), 0, Map.of(), List.of(), Messages.NONE, Elsewhere.NONE);

    /** Returns this with other messages and requests for keyspaces that others hold. */
    public Clients with(Messages other, Elsewhere of) {
      return new Clients(connections, requests, failures, malformed, limited, users, other, of);
    }

    public long answered() {
      return requests.values().stream().mapToLong(DelayHistogram::total).sum();
    }
  }

  /**
   * Messages that clients of the Redis protocol publish and subscribe to.
   *
   * @param subscribers the number of connections with a subscription
   * @param published messages published by clients here
   * @param received messages received from other datacenters
   * @param dropped messages that were not sent, by the kind of receiver
   */
  public record Messages(
      long subscribers, long published, long received, Map<String, Long> dropped) {
    public static final Messages NONE = new Messages(0, 0, 0, Map.of());
  }

  /**
   * Requests for keyspaces that others hold.
   *
   * @param followed what other datacenters copy of the objects that are held here
   */
  public record Elsewhere(
      List<Forwarded> forwarded, Copies copies, Followed followed, List<Demand> demands) {
    /** No such requests. */
    public static final Elsewhere NONE =
        new Elsewhere(List.of(), Copies.NONE, new Followed(0, 0, 0, 0), List.of());
  }

  /**
   * The requests of clients here for a keyspace whose holders follow the load.
   *
   * @param moves changes of its holders that were decided here
   */
  public record Demand(String keyspace, long reads, long updates, long moves) {}

  /**
   * Copies of objects that others hold.
   *
   * @param objects the number of copies at present
   * @param bytes the bytes of the heap that the copies take, about
   * @param hits reads that were answered from a copy
   * @param versions how often a holder has told a new value of a copied object
   * @param misses reads of copied objects that were forwarded all the same, by reason
   * @param dropped copies that were dropped, by reason
   * @param staleObjects copies whose subscription is lost, and which may answer with their age
   * @param staleReads reads that were answered from those
   */
  public record Copies(
      int objects,
      long bytes,
      long hits,
      long versions,
      Map<String, Long> misses,
      Map<String, Long> dropped,
      int staleObjects,
      long staleReads) {
    public static final Copies NONE = new Copies(0, 0, 0, 0, Map.of(), Map.of(), 0, 0);
  }

  /**
   * Objects that are held here and copied by others.
   *
   * @param objects the number of subscriptions: of each object one for each datacenter that copies
   *     it
   * @param states the states that were sent to followers
   * @param bytes the bytes of these states
   * @param untoldMillis for how long the oldest change that followers have not been sent has
   *     waited; 0 if there is none
   */
  public record Followed(long objects, long states, long bytes, long untoldMillis) {}

  /**
   * Requests that were forwarded.
   *
   * @param to the datacenter to which they were forwarded
   * @param kind read, update, scan, watch or transact
   * @param times the times from sending a request until its answer came
   */
  public record Forwarded(
      String keyspace, String to, String kind, long count, DelayHistogram times) {}

  /**
   * A user's load on the port for clients.
   *
   * @param connections the number of open connections
   * @param requests the number of unanswered requests
   * @param bytes the bytes of those requests, and of requests that are still arriving
   */
  public record UserLoad(String user, int connections, int requests, long bytes) {}

  /**
   * The connections with a peer.
   *
   * @param connected whether frames can be sent to the peer
   * @param sentBytes the bytes sent, with framing
   * @param receivedBytes the bytes received, with framing
   * @param savedBytes how many bytes compression has saved
   * @param protocol the version of the peer protocol used with the peer; 0 if it is not connected
   */
  public record Link(
      boolean connected, long sentBytes, long receivedBytes, long savedBytes, int protocol) {}

  /**
   * The store on the disk.
   *
   * @param durability how durable an acknowledged update is
   * @param full whether updates are refused because the disk is full
   * @param damaged the ranges that cannot be read, as far as reads have found them
   * @param failedReads reads that have failed because of damage
   * @param writes the number of writes to the disk
   * @param groups the number of partitions' groups in these writes
   * @param versionsDropped old versions dropped
   * @param writeMicros how long writes took, fsync included, in microseconds
   * @param database the database's own statistics
   */
  public record Store(
      String durability,
      boolean full,
      List<DamagedRanges.Range> damaged,
      long failedReads,
      long writes,
      long groups,
      long versionsDropped,
      Histogram writeMicros,
      StoreStatistics database) {}

  /**
   * Traces of single updates.
   *
   * @param sent spans that the receiver has accepted
   * @param dropped spans that were not sent, and updates not traced to their end, by reason
   */
  public record Traces(long sent, Map<String, Long> dropped) {}

  /**
   * Watchers of a keyspace.
   *
   * @param watchers how many watchers wait for changes
   * @param told how often a watcher was told of changes
   * @param cutOff how many watchers were cut off because they were too slow, or came back too late
   * @param keptBytes the bytes of the heap that the changes kept for them take
   */
  public record Watching(int watchers, long told, long cutOff, long keptBytes) {}

  /**
   * A keyspace.
   *
   * @param policy its policy
   * @param refusedBy why peers do not take the keyspace's updates, by peer
   * @param ready how many of its partitions serve
   * @param partitions the partitions that have published something
   * @param watching its watchers
   */
  public record Keyspace(
      KeyspacePolicy policy,
      Map<String, String> refusedBy,
      int ready,
      List<Partition> partitions,
      Watching watching) {

    public String name() {
      return policy.name();
    }

    /** Returns the staleness bound in milliseconds. */
    public long slaMillis() {
      return policy.sla().toMillis();
    }

    /** Returns the sum of a value over all partitions. */
    public long sum(ToLongFunction<PartitionReport> of) {
      return partitions.stream().mapToLong(p -> of.applyAsLong(p.report)).sum();
    }

    /** Returns the largest value of the partitions; 0 if there is none. */
    public double max(ToDoubleFunction<PartitionReport> of) {
      return partitions.stream().mapToDouble(p -> of.applyAsDouble(p.report)).max().orElse(0);
    }

    /** Returns the sum of a value over the partitions' stores. */
    public long stored(ToLongFunction<ObjectStore.Figures> of) {
      return partitions.stream().mapToLong(p -> of.applyAsLong(p.store)).sum();
    }

    /** Returns the number of commands that wait. */
    public long queued() {
      return partitions.stream().mapToLong(p -> p.queued).sum();
    }

    /** Returns how many commands were refused because a queue was full, or took too much memory. */
    public long overloads() {
      return partitions.stream().mapToLong(p -> p.overloads).sum();
    }

    /**
     * Returns the age of the oldest partition's values, in milliseconds; normally at most 1 or 2 s.
     */
    public long ageMillis(long nowMillis) {
      return partitions.stream().mapToLong(p -> nowMillis - p.atMillis).max().orElse(0);
    }

    /** Returns the partitions' reports of each peer, by the peer's name. */
    public Map<String, List<PartitionReport.Peer>> peers() {
      Map<String, List<PartitionReport.Peer>> peers = new TreeMap<>();
      for (Partition p : partitions) {
        for (PartitionReport.Peer peer : p.report.peers()) {
          peers.computeIfAbsent(peer.dc(), dc -> new ArrayList<>()).add(peer);
        }
      }
      return peers;
    }

    /** Returns whether updates committed here reach the peers in time, all peers together. */
    public Timeliness timeliness() {
      return partitions.stream()
          .flatMap(p -> p.report.peers().stream())
          .map(p -> p.to().timeliness())
          .reduce(Timeliness.NONE, Timeliness::plus);
    }

    /** Returns the delays until shipments of all peers were visible here, in microseconds. */
    public Histogram visibilityMicros() {
      Histogram all = new Histogram(3_600_000_000L, 2);
      partitions.forEach(p -> all.add(p.report.arrived().visibilityMicros()));
      return all;
    }

    /** Returns the use of each memory budget, summed over the partitions. */
    public Map<String, Budget.Usage> memory() {
      Map<String, Budget.Usage> sums = new LinkedHashMap<>();
      for (Partition p : partitions) {
        sums.merge("commands", p.commands, Budget.Usage::plus);
        p.report.memory().forEach(u -> sums.merge(u.name(), u, Budget.Usage::plus));
      }
      return sums;
    }

    /** Returns the hottest objects of all partitions, hottest first. */
    public List<PartitionReport.Hot> hot(int limit) {
      return partitions.stream()
          .flatMap(p -> p.report.modes().hot().stream())
          .sorted(Comparator.comparingDouble(PartitionReport.Hot::updatesPerSecond).reversed())
          .limit(limit)
          .toList();
    }
  }

  /**
   * A partition of a keyspace.
   *
   * @param report its report
   * @param atMillis when it published the report, by the wall clock
   * @param store the values of its store
   * @param queued the number of commands that wait
   * @param overloads how many commands were refused because too many waited, or took too much
   *     memory
   * @param commands the use of the commands' memory budget
   */
  public record Partition(
      PartitionReport report,
      long atMillis,
      ObjectStore.Figures store,
      int queued,
      int overloads,
      Budget.Usage commands) {}
}
