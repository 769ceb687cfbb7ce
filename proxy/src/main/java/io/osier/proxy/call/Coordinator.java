package io.osier.proxy.call;

import io.osier.core.ReplicaId;
import io.osier.proxy.Connection;

/** The process that coordinates a transaction, and the connection to it. */
public record Coordinator(Connection connection, ReplicaId replica) {
  public String dc() {
    return replica.dc();
  }
}
