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
 * What a datacenter was doing when its partitions published it: a copy, for any thread, that nobody
 * may change. Counts are since the start of the process.
 *
 * @param version of the program
 * @param startMillis when it started, by the wall clock
 * @param atMillis when this was put together, by the wall clock
 * @param obstacles what keeps it from serving, in words
 * @param warnings what does not work although it serves, in words
 * @param joining how far it is if it joins
 * @param certificates by subject, until when each that was read is valid, in seconds since 1970
 * @param droppedUpdates updates that no other datacenter is known to have had when their keyspace
 *     was dropped
 * @param auditLost by reason, how many lines of the audit log were not written
 * @param failedAttempts by what was tried, how often something failed that is tried again by itself
 * @param links what the connections with each peer have carried
 * @param store empty if everything is in memory only
 * @param traces empty if no update is followed
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

  /** The keyspaces of which all partitions have published something. */
  public List<Keyspace> published() {
    return keyspaces.stream().filter(k -> k.partitions.size() == k.policy.partitions()).toList();
  }

  /**
   * How far a datacenter is that joins.
   *
   * @param complete so many of its partitions have what the others have
   * @param partitions so many it has
   * @param objects that it holds
   * @param objectsThere that the others hold, if they have said so
   * @param bytes that have come since its start
   * @param secondsLeft an estimate, where there is one
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
   * @param connections that are open
   * @param requests by kind, how long they took from their arrival to their answer
   * @param failures by reason, how many were refused or failed
   * @param malformed how many could not be read
   * @param limited by limit of a user, how often something was refused because of it
   * @param users what some users have of the port, those with most first
   * @param messages of channels
   * @param elsewhere what became of requests for keyspaces that others hold
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
    /** While there is no port yet. */
    public static final Clients NONE =
        new Clients(0, Map.of(), Map.of(), 0, Map.of(), List.of(), Messages.NONE, Elsewhere.NONE);

    /** The same with other figures of messages, and of what others hold. */
    public Clients with(Messages other, Elsewhere of) {
      return new Clients(connections, requests, failures, malformed, limited, users, other, of);
    }

    public long answered() {
      return requests.values().stream().mapToLong(DelayHistogram::total).sum();
    }
  }

  /**
   * What clients of the Redis protocol publish and subscribe to.
   *
   * @param subscribers connections that subscribe to something
   * @param published messages of clients here
   * @param received messages that other datacenters have sent
   * @param dropped by who was not sent them, how many
   */
  public record Messages(
      long subscribers, long published, long received, Map<String, Long> dropped) {
    public static final Messages NONE = new Messages(0, 0, 0, Map.of());
  }

  /** What became of requests for keyspaces that others hold. */
  public record Elsewhere(List<Forwarded> forwarded, Copies copies, List<Demand> demands) {
    /** Nothing was asked. */
    public static final Elsewhere NONE =
        new Elsewhere(List.of(), new Copies(0, 0, 0, 0, Map.of(), Map.of(), 0, 0), List.of());
  }

  /**
   * What clients here ask of a keyspace whose holders follow that.
   *
   * @param moves of its holders that were decided here
   */
  public record Demand(String keyspace, long reads, long updates, long moves) {}

  /**
   * Copies of objects that others hold.
   *
   * @param objects that are followed at present
   * @param bytes of the heap that these take, about
   * @param hits reads that were answered from them
   * @param versions how often a holder has told what one has become
   * @param misses by why, how many reads of followed objects were forwarded all the same
   * @param dropped by why, how many copies are no more
   * @param staleObjects of which there is a copy that is told no more, and may answer at an age
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
      long staleReads) {}

  /**
   * Requests that were forwarded.
   *
   * @param to the datacenter that was asked
   * @param kind read, update, scan, watch or transact
   * @param times from when one was sent until its answer came
   */
  public record Forwarded(
      String keyspace, String to, String kind, long count, DelayHistogram times) {}

  /**
   * What a user has of the port for clients.
   *
   * @param connections that are open
   * @param requests that are not answered
   * @param bytes of those, and of requests that are still coming
   */
  public record UserLoad(String user, int connections, int requests, long bytes) {}

  /**
   * The connections with a peer.
   *
   * @param connected whether frames can be sent to it
   * @param sentBytes with their framing
   * @param receivedBytes with their framing
   * @param savedBytes so many less were sent because they were compressed
   * @param protocol the version of the peer protocol in which it is spoken to; 0 if it is not
   */
  public record Link(
      boolean connected, long sentBytes, long receivedBytes, long savedBytes, int protocol) {}

  /**
   * The store on the disk.
   *
   * @param durability how durable an acknowledged update is
   * @param full whether updates are refused because the disk is full
   * @param damaged what cannot be read, as far as somebody has met it
   * @param failedReads reads that have failed because of damage
   * @param writes to the disk
   * @param groups of partitions' batches in them
   * @param versionsDropped old versions dropped
   * @param writeMicros how long writes took, fsync included, in microseconds
   * @param database what the database tells of itself
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
   * @param sent spans that the receiver has taken
   * @param dropped by reason, how many spans were not sent, or updates not followed to their end
   */
  public record Traces(long sent, Map<String, Long> dropped) {}

  /**
   * Watchers of a keyspace.
   *
   * @param watchers how many wait for changes
   * @param told how often one was told of some
   * @param cutOff how many were cut off, because they were too slow or came back too late
   * @param keptBytes what the changes that are kept for them take of the heap
   */
  public record Watching(int watchers, long told, long cutOff, long keptBytes) {}

  /**
   * A keyspace.
   *
   * @param refusedBy by peer, why it does not take the keyspace's updates
   * @param ready how many of its partitions serve
   * @param partitions those that have published something yet
   * @param watching what its watchers are told
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

    /** The staleness bound in milliseconds. */
    public long slaMillis() {
      return policy.sla().toMillis();
    }

    /** A figure of all partitions together. */
    public long sum(ToLongFunction<PartitionReport> of) {
      return partitions.stream().mapToLong(p -> of.applyAsLong(p.report)).sum();
    }

    /** The largest of the partitions' figures; 0 if there is none. */
    public double max(ToDoubleFunction<PartitionReport> of) {
      return partitions.stream().mapToDouble(p -> of.applyAsDouble(p.report)).max().orElse(0);
    }

    /** A figure of the partitions' stores together. */
    public long stored(ToLongFunction<ObjectStore.Figures> of) {
      return partitions.stream().mapToLong(p -> of.applyAsLong(p.store)).sum();
    }

    /** Commands that wait. */
    public long queued() {
      return partitions.stream().mapToLong(p -> p.queued).sum();
    }

    /** Commands that were refused because a queue was full, or took too much memory. */
    public long overloads() {
      return partitions.stream().mapToLong(p -> p.overloads).sum();
    }

    /**
     * The age of what was published longest ago, in milliseconds: more than 1 s or 2 is strange.
     */
    public long ageMillis(long nowMillis) {
      return partitions.stream().mapToLong(p -> nowMillis - p.atMillis).max().orElse(0);
    }

    /** Its peers as its partitions see them, by name. */
    public Map<String, List<PartitionReport.Peer>> peers() {
      Map<String, List<PartitionReport.Peer>> peers = new TreeMap<>();
      for (Partition p : partitions) {
        for (PartitionReport.Peer peer : p.report.peers()) {
          peers.computeIfAbsent(peer.dc(), dc -> new ArrayList<>()).add(peer);
        }
      }
      return peers;
    }

    /** Whether its peers get what is committed here in time, all together. */
    public Timeliness timeliness() {
      return partitions.stream()
          .flatMap(p -> p.report.peers().stream())
          .map(p -> p.to().timeliness())
          .reduce(Timeliness.NONE, Timeliness::plus);
    }

    /** How long all peers' shipments took until they were visible here, in microseconds. */
    public Histogram visibilityMicros() {
      Histogram all = new Histogram(3_600_000_000L, 2);
      partitions.forEach(p -> all.add(p.report.arrived().visibilityMicros()));
      return all;
    }

    /** What its partitions use of each budget, together. */
    public Map<String, Budget.Usage> memory() {
      Map<String, Budget.Usage> sums = new LinkedHashMap<>();
      for (Partition p : partitions) {
        sums.merge("commands", p.commands, Budget.Usage::plus);
        p.report.memory().forEach(u -> sums.merge(u.name(), u, Budget.Usage::plus));
      }
      return sums;
    }

    /** The hottest objects of all partitions, hottest first. */
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
   * @param atMillis when it published this, by the wall clock
   * @param queued commands that wait
   * @param overloads commands that were refused because too many waited, or took too much
   * @param commands what they use of their budget
   */
  public record Partition(
      PartitionReport report,
      long atMillis,
      ObjectStore.Figures store,
      int queued,
      int overloads,
      Budget.Usage commands) {}
}
