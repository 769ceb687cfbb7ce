package io.osier.bench.cluster;

import io.osier.bench.wan.WanQuality;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * The settings of a cluster to start: {@code new ClusterSettings(directory,
 * keyspaces).seed(7).start()}. Not thread-safe.
 */
public final class ClusterSettings {
  final Path directory;
  final String keyspaces;
  List<String> dcs = Topology.DCS;
  List<String> later = List.of();
  String store = "durability = sync";
  String settings = "";
  String heap = "-Xmx512m";
  List<String> javaOptions = List.of();
  BiFunction<String, String, WanQuality> links = Topology::quality;
  long seed = 1;
  boolean admin;
  Optional<Path> former = Optional.empty();

  /**
   * Three datacenters that write everything to their disks before it is acknowledged.
   *
   * @param directory where configurations and logs go, and the data in a directory of its own
   * @param keyspaces the content of osier.keyspaces
   */
  public ClusterSettings(Path directory, String keyspaces) {
    this.directory = directory;
    this.keyspaces = keyspaces;
  }

  /** Replaces the three datacenters by others of {@link Topology#names}. */
  public ClusterSettings dcs(List<String> names) {
    dcs = List.copyOf(names);
    return this;
  }

  /**
   * Adds datacenters that are not started and are not in the others' configurations; their own
   * configurations name the first datacenter alone.
   */
  public ClusterSettings later(List<String> names) {
    later = List.copyOf(names);
    return this;
  }

  /** Sets the content of osier.store, except for the directory. */
  public ClusterSettings store(String lines) {
    store = lines;
    return this;
  }

  /** Adds lines to osier's configuration. */
  public ClusterSettings settings(String lines) {
    settings = lines;
    return this;
  }

  /** Sets the limit of each process's heap, as an option of Java. */
  public ClusterSettings heap(String option) {
    heap = option;
    return this;
  }

  public ClusterSettings javaOptions(List<String> options) {
    javaOptions = List.copyOf(options);
    return this;
  }

  /** Gives all links one quality, instead of those of {@link Topology}. */
  public ClusterSettings links(WanQuality quality) {
    links = (from, to) -> quality;
    return this;
  }

  /** Sets the seed of the links' jitter. */
  public ClusterSettings seed(long jitter) {
    seed = jitter;
    return this;
  }

  /** Opens each datacenter's admin port, which serves metrics and the dashboard. */
  public ClusterSettings admin() {
    admin = true;
    return this;
  }

  /**
   * Starts each datacenter from another distribution the first time, and from this build when it is
   * started again.
   *
   * @param distribution the directory of an unpacked distribution
   */
  public ClusterSettings former(Path distribution) {
    former = Optional.of(distribution);
    return this;
  }

  public LocalCluster start() {
    return LocalCluster.start(this);
  }
}
