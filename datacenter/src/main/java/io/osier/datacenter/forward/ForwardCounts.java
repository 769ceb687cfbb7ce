package io.osier.datacenter.forward;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** How many requests were forwarded. Thread-safe. */
final class ForwardCounts {
  private record By(String keyspace, String to, Forwardable.Kind kind) {}

  private final Map<By, LongAdder> counts = new ConcurrentHashMap<>();

  void count(String keyspace, String to, Forwardable.Kind kind) {
    counts.computeIfAbsent(new By(keyspace, to, kind), by -> new LongAdder()).increment();
  }

  /** By keyspace, datacenter and kind. */
  Map<Forwarder.Way, Long> all() {
    Map<Forwarder.Way, Long> all = new TreeMap<>();
    counts.forEach(
        (by, n) -> all.put(new Forwarder.Way(by.keyspace, by.to, by.kind.label()), n.sum()));
    return all;
  }
}
