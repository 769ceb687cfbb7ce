package io.osier.proxy;

import io.osier.proxy.values.Values;
import io.osier.testing.Patience;

/**
 * Clients that take no datacenter for dead, and no call for lost, that is only slow: what a test
 * uses that looks at something else than a client's own time limits.
 */
public final class PatientClients {
  private PatientClients() {}

  /** A builder with {@link Patience#LIMIT} wherever a client has a limit of its own. */
  public static OsierClient.Builder builder() {
    return OsierClient.builder()
        .timeout(Patience.LIMIT)
        .connectTimeout(Patience.LIMIT)
        .pingInterval(Patience.LIMIT.dividedBy(4)); // after four of them a connection is dead
  }

  /** As {@link #builder}, of a datacenter on this machine. */
  public static OsierClient.Builder of(String dc, int clientPort) {
    return builder().endpoint(dc, "127.0.0.1:" + clientPort);
  }

  public static OsierClient inProcess(InProcess datacenter) {
    return inProcess(datacenter, Values.plain());
  }

  /** As {@link #inProcess(InProcess)}, with typed handles that keep objects so. */
  public static OsierClient inProcess(InProcess datacenter, Values values) {
    return inProcess(datacenter, builder().values(values));
  }

  /** As {@link #inProcess(InProcess)}, with the settings of a builder that has no endpoint. */
  public static OsierClient inProcess(InProcess datacenter, OsierClient.Builder settings) {
    return OsierClient.inProcess(datacenter, settings);
  }
}
