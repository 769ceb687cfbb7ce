package io.osier.bench.peers;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The systems that are compared. */
enum PeerSystem {
  /** Osier's embedded form. */
  OSIER(OsierPeer.SETTINGS, true),
  /** Pekko Distributed Data. */
  PEKKO(PekkoPeer.SETTINGS, true),
  /** Hazelcast. */
  HAZELCAST(HazelcastPeer.SETTINGS, false);

  private final String settings;
  private final boolean sets;

  PeerSystem(String settings, boolean sets) {
    this.settings = settings;
    this.sets = sets;
  }

  /** How it is set up, for a reader of the figures. */
  String settings() {
    return settings;
  }

  /** Whether it has sets that are CRDTs. */
  boolean hasSets() {
    return sets;
  }

  /**
   * Starts three nodes and waits until they know each other.
   *
   * @param sla Osier's staleness bound; the others have none
   */
  Peer start(Duration sla) {
    return switch (this) {
      case OSIER -> new OsierPeer(sla);
      case PEKKO -> new PekkoPeer();
      case HAZELCAST -> new HazelcastPeer();
    };
  }

  /** Options of Java that the system's documentation asks for. */
  List<String> javaOptions() {
    if (this != HAZELCAST) {
      return List.of();
    }
    return List.of(
        "--add-modules=java.se",
        "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        "--add-opens=java.management/sun.management=ALL-UNNAMED",
        "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED");
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
