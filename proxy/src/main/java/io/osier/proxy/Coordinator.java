package io.osier.proxy;

import io.osier.core.ReplicaId;

/** The datacenter's process where a transaction lives, and the connection to it. */
record Coordinator(Connection connection, ReplicaId replica) {
  String dc() {
    return replica.dc();
  }
}
