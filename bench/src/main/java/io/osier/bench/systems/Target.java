package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.osier.bench.cluster.LocalCluster;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A system under load, whose processes or nodes run until it is closed. */
public interface Target extends AutoCloseable {
  int nodes();

  /** Returns the nodes' names, which load.at can name; empty if they have none. */
  default List<String> names() {
    return List.of();
  }

  /**
   * Opens a client of a node. If it is not thread-safe, each thread opens its own.
   *
   * @param node the node's number, from 0
   */
  Calls calls(int node, Config load) throws IOException;

  /**
   * Returns the processor time of the system's processes so far; zero if it runs in this process.
   */
  default Duration cpu() {
    return Duration.ZERO;
  }

  /** Returns the bytes between the nodes so far. */
  default long linkBytes() {
    return 0;
  }

  /** Returns the bytes of traces received so far. */
  default long traceBytes() {
    return 0;
  }

  /** Returns the bytes of the first node's data in memory, after a collection; empty if unknown. */
  default OptionalLong memoryBytes() {
    return OptionalLong.empty();
  }

  /** Returns what a reader of the figures must know; may be empty. */
  default String notes() {
    return "";
  }

  /** Returns the datacenter processes; empty if there are none or their reports cannot be read. */
  default Optional<LocalCluster> cluster() {
    return Optional.empty();
  }

  @Override
  void close();
}
