package io.osier.bench.demo;

import io.osier.bench.cluster.Figures;
import io.osier.bench.cluster.LocalCluster;
import java.time.Duration;

/**
 * What was counted up to a moment.
 *
 * @param datacenterCpu the processor time of the datacenters' processes
 */
record Sample(Figures figures, long wanBytes, Duration datacenterCpu, long nanos) {
  static Sample of(LocalCluster cluster) {
    return new Sample(Figures.of(cluster), cluster.wanBytes(), cluster.cpu(), System.nanoTime());
  }
}
