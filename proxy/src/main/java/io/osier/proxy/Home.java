package io.osier.proxy;

import io.osier.core.ReplicaId;

/** Where a transaction lives. */
record Home(Connection connection, ReplicaId replica) {
  String dc() {
    return replica.dc();
  }
}
