package io.osier.bench.systems;

import io.osier.core.Value;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.CounterHandle;
import io.osier.proxy.Keyspace;
import io.osier.proxy.SetHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Three embedded datacenters with one keyspace in memory only, as the other systems have it. Each
 * caller has a session; calls block.
 */
final class OsierPeer implements Peer {
  /** What a reader of the figures must know. */
  static final String SETTINGS =
      "Osier: embedded datacenters, a keyspace in memory only, session consistency, adaptive, SLA 100 "
          + "ms for counters and 300 ms for sets unless another is named, blocking calls";

  private static final List<String> NAMES = List.of("eu", "us", "ap");

  private final Forwarders forwarders = new Forwarders();
  private final List<EmbeddedDatacenter> datacenters = new ArrayList<>();

  OsierPeer(Duration sla) {
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
            .append(forwarders.announced(other))
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
        .formatted(NAMES.get(node), forwarders.listen(node), peers, sla.toMillis());
  }

  @Override
  public Caller caller(int node) {
    return new OsierCaller(datacenters.get(node).session().keyspace("load"));
  }

  @Override
  public long bytes() {
    return forwarders.bytes();
  }

  @Override
  public void close() {
    datacenters.forEach(EmbeddedDatacenter::close);
    forwarders.close();
  }

  private static final class OsierCaller implements Caller {
    private final Keyspace keyspace;
    private final List<CounterHandle> counters = new ArrayList<>();
    private final List<SetHandle> sets = new ArrayList<>();
    private final List<List<Value>> elements = new ArrayList<>();

    OsierCaller(Keyspace keyspace) {
      this.keyspace = keyspace;
    }

    private CounterHandle counter(int counter) {
      while (counters.size() <= counter) {
        counters.add(keyspace.counter("c" + counters.size()));
      }
      return counters.get(counter);
    }

    private SetHandle set(int set) {
      while (sets.size() <= set) {
        sets.add(keyspace.set("s" + sets.size()));
      }
      return sets.get(set);
    }

    private List<Value> element(int element) {
      while (elements.size() <= element) {
        elements.add(List.of(Value.of("e" + elements.size())));
      }
      return elements.get(element);
    }

    @Override
    public void increment(int counter) {
      counter(counter).increment(1);
    }

    @Override
    public void add(int set, int element) {
      set(set).add(element(element));
    }

    @Override
    public void finish() {
      // A call returns when it is done.
    }

    @Override
    public long count(int counter) {
      return counter(counter).get();
    }

    @Override
    public boolean contains(int set, int element) {
      return set(set).contains(element(element).getFirst());
    }
  }
}
