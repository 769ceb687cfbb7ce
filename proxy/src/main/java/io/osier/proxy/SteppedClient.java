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
 * Makes clients that do nothing by themselves, for tests in virtual time: what they know of time,
 * chance and datacenters comes from outside, they start no thread and open no connection. All else
 * is the client as it runs in production: sessions, tries, what becomes of lost answers. Use the
 * forms of calls that end in Async: nobody but the test brings the answers.
 */
public final class SteppedClient {
  private SteppedClient() {}

  /**
   * A client of given connections. They are opened at once, and pinged only by who made them.
   *
   * @param settings without endpoints: those are the connections'
   * @param timers ends with the client
   * @param connections makes the ways to the datacenters, of which each has another name, at least
   *     one; it is given what must be run whenever one of them has come up or gone down, or has
   *     become nearer or farther
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
   * The way to one datacenter as in production, over a network of the test's: what it sends and
   * hears travels as bytes.
   *
   * @param dc the datacenter's name, which is also what the network is asked to dial
   * @param settings of the client
   * @param timers of the client
   * @param changed what {@link #of} gives who makes connections
   */
  public static Connection remote(
      String dc, OsierClient.Builder settings, Timers timers, Network network, Runnable changed) {
    InetSocketAddress address = InetSocketAddress.createUnresolved(dc, 1);
    ClientSettings all = settings.settings();
    return new RemoteConnection(
        dc, address, all.dialling(), all.metrics(), timers, network, changed);
  }

  /**
   * The way to a datacenter in the client's own process, as in production.
   *
   * @param settings of the client
   * @param timers of the client
   */
  public static Connection local(
      InProcess datacenter, OsierClient.Builder settings, Timers timers) {
    return new InProcessConnection(
        datacenter,
        settings.settings().metrics(),
        timers,
        (millis, action) -> {
          timers.later(action, millis);
          return () -> {}; // what need not be done any more does nothing
        });
  }
}
