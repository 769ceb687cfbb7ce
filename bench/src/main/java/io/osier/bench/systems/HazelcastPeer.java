package io.osier.bench.systems;

import com.hazelcast.config.Config;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.crdt.pncounter.PNCounter;
import java.util.ArrayList;
import java.util.List;

/**
 * Three Hazelcast members and their PN counters. A member sends its states to both others every 100
 * ms (the defaults are one member and 1 s). The API's calls block, and a member with a replica
 * executes them on the calling thread. The counters' statistics stay on, since version 5.5.0 fails
 * without them by a NullPointerException. Hazelcast has no set that is a CRDT.
 */
final class HazelcastPeer extends PeerTarget {
  private static final String SETTINGS =
      "Hazelcast 5.5.0: PN counters, CRDT replication period 100 ms, 2 targets at a time, "
          + "statistics on, TCP-IP join, blocking calls, default threads";

  private static final int PERIOD_MILLIS = 100;

  private final List<HazelcastInstance> members = new ArrayList<>();

  HazelcastPeer() {
    super(SETTINGS);
    for (int node = 0; node < NODES; node++) {
      members.add(Hazelcast.newHazelcastInstance(config(node)));
    }
    await(() -> members.stream().allMatch(m -> m.getCluster().getMembers().size() == NODES));
  }

  private Config config(int node) {
    Config config = new Config();
    config.setClusterName("peers-" + announced(0));
    config.setProperty("hazelcast.logging.type", "slf4j");
    // Hazelcast would report its use to its vendor.
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    config.setProperty("hazelcast.socket.bind.any", "false");
    config.setProperty("hazelcast.wait.seconds.before.join", "1");
    config.getJetConfig().setEnabled(false);
    config
        .getCRDTReplicationConfig()
        .setReplicationPeriodMillis(PERIOD_MILLIS)
        .setMaxConcurrentReplicationTargets(NODES - 1);
    NetworkConfig network = config.getNetworkConfig();
    network
        .setPort(listen(node))
        .setPortAutoIncrement(false)
        .setPublicAddress("127.0.0.1:" + announced(node));
    network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    network.getJoin().getAutoDetectionConfig().setEnabled(false);
    network.getJoin().getMulticastConfig().setEnabled(false);
    network.getJoin().getTcpIpConfig().setEnabled(true);
    for (int i = 0; i < NODES; i++) {
      network.getJoin().getTcpIpConfig().addMember("127.0.0.1:" + announced(i));
    }
    return config;
  }

  @Override
  public Calls calls(int node, com.typesafe.config.Config load) {
    List<PNCounter> counters = new ArrayList<>();
    return new PeerCalls(load) {
      private PNCounter counter(int counter) {
        return made(counters, counter, n -> members.get(node).getPNCounter("c" + n));
      }

      @Override
      void increment(int counter) {
        counter(counter).incrementAndGet();
      }

      @Override
      public long count(int counter) {
        return counter(counter).get();
      }
    };
  }

  @Override
  void closeNodes() {
    // Not shutdown(): a member that leaves in good order first waits for the others.
    members.forEach(m -> m.getLifecycleService().terminate());
  }
}
