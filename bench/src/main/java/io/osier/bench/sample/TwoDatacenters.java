package io.osier.bench.sample;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.osier.core.net.Ports;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.Session;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.LoggerFactory;

/** Two datacenters in this process, eu and us, which replicate over TCP as any others. */
final class TwoDatacenters implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final EmbeddedDatacenter eu;
  private final EmbeddedDatacenter us;

  /**
   * Starts the datacenters and waits until they serve.
   *
   * @param keyspaces the content of osier.keyspaces
   */
  TwoDatacenters(String keyspaces, Values values) {
    ((Logger) LoggerFactory.getLogger("io.osier")).setLevel(Level.ERROR); // the story is enough
    int euPort = Ports.free();
    int usPort = Ports.free();
    eu = start("eu", euPort, "us", usPort, keyspaces, values);
    us = start("us", usPort, "eu", euPort, keyspaces, values);
    eu.awaitReady(PATIENCE);
    us.awaitReady(PATIENCE);
  }

  private static EmbeddedDatacenter start(
      String dc, int port, String peer, int peerPort, String keyspaces, Values values) {
    return EmbeddedDatacenter.start(
        String.format(
            Locale.ROOT,
            "osier { dc = %s, listen { client-port = 0, peer-port = %d },"
                + " peers { %s = \"127.0.0.1:%d\" }, store { dir = \"\" }, keyspaces { %s } }",
            dc,
            port,
            peer,
            peerPort,
            keyspaces),
        values);
  }

  Session eu() {
    return eu.session();
  }

  Session us() {
    return us.session();
  }

  /** Waits until a condition holds, and prints what it means. */
  static void until(String what, BooleanSupplier holds) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("not within " + PATIENCE + ": " + what);
      }
      LockSupport.parkNanos(5_000_000);
    }
    System.out.println("  " + what);
  }

  @Override
  public void close() {
    eu.close();
    us.close();
  }
}
