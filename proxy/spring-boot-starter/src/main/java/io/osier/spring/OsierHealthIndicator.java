package io.osier.spring;

import io.osier.proxy.OsierClient;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports the client as up while any datacenter is connected, since the client goes on at another
 * one when one is lost; the details have the state of each connection. Does not block. Thread-safe.
 */
public final class OsierHealthIndicator extends AbstractHealthIndicator {
  private final OsierClient client;

  /** Makes the indicator of a client. */
  public OsierHealthIndicator(OsierClient client) {
    super("the state of the client's connections cannot be read");
    this.client = client;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    if (client.isConnected()) {
      builder.up();
    } else {
      builder.down();
    }
    client.nearest().ifPresent(dc -> builder.withDetail("nearest", dc));
    for (OsierClient.Status status : client.status()) {
      builder.withDetail(status.dc(), details(status));
    }
  }

  private static Map<String, Object> details(OsierClient.Status status) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("address", status.address());
    details.put("connected", status.connected());
    if (!Double.isNaN(status.roundTripMillis())) {
      details.put("roundTripMillis", status.roundTripMillis());
    }
    status.trouble().ifPresent(trouble -> details.put("trouble", trouble));
    return details;
  }
}
