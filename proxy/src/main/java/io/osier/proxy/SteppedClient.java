package io.osier.proxy;

import io.osier.core.net.Network;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.client.ClientSettings;
import io.osier.proxy.connection.Datacenters;
import io.osier.proxy.connection.InProcessConnection;
import io.osier.proxy.connection.RemoteConnection;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Function;

/**
 * Makes clients that a test drives step by step in virtual time: the test provides time, random
 * numbers and connections, and the client starts no thread and opens no socket. Sessions, retries
 * and the handling of lost answers are those of production. Use the calls whose names end in Async,
 * since only the test's own thread delivers answers.
 */
public final class SteppedClient {
  private SteppedClient() {}

  /**
   * Makes a client of given connections. The client opens them at once; pinging them is up to the
   * test.
   *
   * @param settings the client's settings, without endpoints
   * @param timers closed with the client
   * @param connections makes the connections, at least one, to datacenters with different names;
   *     its argument must be run whenever a connection has come up or gone down, or its round trip
   *     has changed
   */
  public static OsierClient of(
      OsierClient.Builder settings,
      Timers timers,
      Function<Runnable, List<? extends Connection>> connections) {
    ClientSettings all = settings.settings();
    Datacenters datacenters = new Datacenters(all.endpoints(), all.preferred());
    connections.apply(datacenters::changed).forEach(datacenters::add);
    datacenters.open();
    return new OsierClient(new ClientCore(all, timers, datacenters, () -> {}));
  }

  /**
   * Makes a connection as in production, over a network of the test's: requests and replies are
   * encoded as bytes.
   *
   * @param dc the datacenter's name, which is also the host that the network is asked to dial
   * @param settings the client's settings
   * @param timers the client's timers
   * @param changed the argument of {@link #of}'s {@code connections}
   */
  public static Connection remote(
      String dc, OsierClient.Builder settings, Timers timers, Network network, Runnable changed) {
    InetSocketAddress address = InetSocketAddress.createUnresolved(dc, 1);
    ClientSettings all = settings.settings();
    return new RemoteConnection(
        dc, address, all.dialling(), all.metrics(), timers, network, changed);
  }

  /**
   * Makes a connection, as in production, to a datacenter in the client's own process.
   *
   * @param settings the client's settings
   * @param timers the client's timers
   */
  public static Connection local(
      InProcess datacenter, OsierClient.Builder settings, Timers timers) {
    return new InProcessConnection(
        datacenter,
        settings.settings().metrics(),
        timers,
        (millis, action) -> {
          timers.later(action, millis);
          return () -> {}; // nothing to cancel: a late action has no effect
        });
  }
}
