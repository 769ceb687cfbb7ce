package io.osier.bench.cluster;

import io.osier.bench.wan.WanQuality;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * What a cluster is to be like: {@code new ClusterSettings(directory, keyspaces).seed(7).start()}.
 * Not thread-safe.
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

  /** Other datacenters, of those that {@link Topology#names} gives. */
  public ClusterSettings dcs(List<String> names) {
    dcs = List.copyOf(names);
    return this;
  }

  /**
   * Further datacenters, which are not started, and which the others do not know; their files know
   * the first one alone.
   */
  public ClusterSettings later(List<String> names) {
    later = List.copyOf(names);
    return this;
  }

  /** The content of osier.store, the directory excepted. */
  public ClusterSettings store(String lines) {
    store = lines;
    return this;
  }

  /** Further lines of osier's configuration. */
  public ClusterSettings settings(String lines) {
    settings = lines;
    return this;
  }

  /** The limit of each process's heap, as an option of Java. */
  public ClusterSettings heap(String option) {
    heap = option;
    return this;
  }

  public ClusterSettings javaOptions(List<String> options) {
    javaOptions = List.copyOf(options);
    return this;
  }

  /** All links of one quality, instead of what {@link Topology} says. */
  public ClusterSettings links(WanQuality quality) {
    links = (from, to) -> quality;
    return this;
  }

  /** The seed of the links' jitter. */
  public ClusterSettings seed(long jitter) {
    seed = jitter;
    return this;
  }

  /** With an admin port for each, where metrics and the dashboard are. */
  public ClusterSettings admin() {
    admin = true;
    return this;
  }

  /**
   * Each process is that of another distribution the first time, and this build's when it is
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
