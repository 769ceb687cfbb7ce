package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A system that is put under load: its processes or nodes run until it is closed. */
public interface Target extends AutoCloseable {
  int nodes();

  /** Their names, by which a load says where it calls; empty if they have none. */
  default List<String> names() {
    return List.of();
  }

  /**
   * Opens what calls go through. Where it is not safe for several threads, each opens its own.
   *
   * @param node from 0
   */
  Calls calls(int node, Config load) throws IOException;

  /** Processor time of its processes so far; zero if it runs in this one. */
  default Duration cpu() {
    return Duration.ZERO;
  }

  /** Bytes between its nodes so far. */
  default long linkBytes() {
    return 0;
  }

  /** Bytes of the traces that came so far. */
  default long traceBytes() {
    return 0;
  }

  /** What its data takes in memory, after a collection, at the first node. */
  default OptionalLong memoryBytes() {
    return OptionalLong.empty();
  }

  /** What a reader of the figures must know. */
  default String notes() {
    return "";
  }

  /** The datacenter processes, if it is made of such and they tell their figures. */
  default Optional<LocalCluster> cluster() {
    return Optional.empty();
  }

  @Override
  void close();
}
