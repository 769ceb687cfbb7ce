package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.osier.core.Value;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.CounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.SetHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Three embedded datacenters with a keyspace in memory only, as with the other systems. Each caller
 * has a session of its own, and its calls block.
 */
final class OsierPeer extends PeerTarget {
  private static final String SETTINGS =
      "Osier: embedded datacenters, a keyspace in memory only, session consistency, adaptive, SLA"
          + " 100 ms for counters and 300 ms for sets unless another is named, blocking calls";

  private static final List<String> NAMES = List.of("eu", "us", "ap");

  private final List<EmbeddedDatacenter> datacenters = new ArrayList<>();

  OsierPeer(Duration sla) {
    super(SETTINGS);
    for (int node = 0; node < NODES; node++) {
      datacenters.add(EmbeddedDatacenter.start(config(node, sla)));
    }
    datacenters.forEach(datacenter -> datacenter.awaitReady(Duration.ofSeconds(60)));
  }

  private String config(int node, Duration sla) {
    StringBuilder peers = new StringBuilder();
    for (int other = 0; other < NODES; other++) {
      if (other != node) {
        peers
            .append(NAMES.get(other))
            .append(" = \"127.0.0.1:")
            .append(announced(other))
            .append("\"\n");
      }
    }
    return """
    osier {
      dc = %s
      cluster = peers
      listen { client-port = 0, peer-port = %d }
      store { dir = "" }
      peers {
        %s
      }
      keyspaces {
        load { sla = %dms }
      }
    }
    """
        .formatted(NAMES.get(node), listen(node), peers, sla.toMillis());
  }

  @Override
  public Calls calls(int node, Config load) {
    Keyspace keyspace = datacenters.get(node).session().keyspace("load");
    List<CounterHandle> counters = new ArrayList<>();
    List<SetHandle> sets = new ArrayList<>();
    List<List<Value>> elements = new ArrayList<>();
    return new PeerCalls(load) {
      private CounterHandle counter(int counter) {
        return made(counters, counter, n -> keyspace.counter("c" + n));
      }

      private SetHandle set(int set) {
        return made(sets, set, n -> keyspace.set("s" + n));
      }

      private List<Value> element(int element) {
        return made(elements, element, n -> List.of(Value.of("e" + n)));
      }

      @Override
      void increment(int counter) {
        counter(counter).increment(1);
      }

      @Override
      void add(int set, int element) {
        set(set).add(element(element));
      }

      @Override
      public long count(int counter) {
        return counter(counter).get();
      }

      @Override
      public boolean has(int set, int element) {
        return set(set).contains(element(element).getFirst());
      }
    };
  }

  @Override
  void closeNodes() {
    datacenters.forEach(EmbeddedDatacenter::close);
  }
}
