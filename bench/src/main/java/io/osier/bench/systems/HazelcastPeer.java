package io.osier.bench.systems;

import com.hazelcast.config.Config;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.crdt.pncounter.PNCounter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Three Hazelcast members and their PN counters. Their states are replicated every 100 ms to both
 * other members at once (the defaults are 1 s and one member). Calls block, as the API has them; a
 * member that holds a replica runs them on the calling thread. The counters' statistics stay on:
 * without them version 5.5.0 fails with a NullPointerException. Hazelcast has no set that is a
 * CRDT.
 */
final class HazelcastPeer implements Peer {
  /** What a reader of the figures must know. */
  static final String SETTINGS =
      "Hazelcast 5.5.0: PN counters, CRDT replication period 100 ms, 2 targets at a time, "
          + "statistics on, TCP-IP join, blocking calls, default threads";

  private static final int PERIOD_MILLIS = 100;

  private final Forwarders forwarders = new Forwarders();
  private final List<HazelcastInstance> members = new ArrayList<>();

  HazelcastPeer() {
    for (int node = 0; node < NODES; node++) {
      members.add(Hazelcast.newHazelcastInstance(config(node)));
    }
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (members.stream().anyMatch(m -> m.getCluster().getMembers().size() < NODES)) {
      if (System.nanoTime() > deadline) {
        close();
        throw new IllegalStateException("the Hazelcast members did not find each other in 60 s");
      }
      LockSupport.parkNanos(10_000_000);
    }
  }

  private Config config(int node) {
    Config config = new Config();
    config.setClusterName("peers-" + forwarders.announced(0));
    config.setProperty("hazelcast.logging.type", "slf4j");
    // It would tell its makers that it runs.
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
        .setPort(forwarders.listen(node))
        .setPortAutoIncrement(false)
        .setPublicAddress("127.0.0.1:" + forwarders.announced(node));
    network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    network.getJoin().getAutoDetectionConfig().setEnabled(false);
    network.getJoin().getMulticastConfig().setEnabled(false);
    network.getJoin().getTcpIpConfig().setEnabled(true);
    for (int i = 0; i < NODES; i++) {
      network.getJoin().getTcpIpConfig().addMember("127.0.0.1:" + forwarders.announced(i));
    }
    return config;
  }

  @Override
  public Caller caller(int node) {
    return new HazelcastCaller(members.get(node));
  }

  @Override
  public long bytes() {
    return forwarders.bytes();
  }

  @Override
  public void close() {
    // Not shutdown(): a member that leaves in good order first waits for the others.
    members.forEach(m -> m.getLifecycleService().terminate());
    forwarders.close();
  }

  private static final class HazelcastCaller implements Caller {
    private final HazelcastInstance member;
    private final List<PNCounter> counters = new ArrayList<>();

    HazelcastCaller(HazelcastInstance member) {
      this.member = member;
    }

    private PNCounter counter(int counter) {
      while (counters.size() <= counter) {
        counters.add(member.getPNCounter("c" + counters.size()));
      }
      return counters.get(counter);
    }

    @Override
    public void increment(int counter) {
      counter(counter).incrementAndGet();
    }

    @Override
    public void add(int set, int element) {
      throw noSets();
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
      throw noSets();
    }

    private static UnsupportedOperationException noSets() {
      return new UnsupportedOperationException("Hazelcast has no set that is a CRDT");
    }
  }
}
