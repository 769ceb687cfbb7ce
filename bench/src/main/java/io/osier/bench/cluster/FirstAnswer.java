package io.osier.bench.cluster;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.proxy.OsierClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** How long a datacenter's process takes from its start until it serves a client. */
public final class FirstAnswer {
  private static final long SECONDS_MAX = 120;
  private static final long POLL_NANOS = 1_000_000;

  private FirstAnswer() {}

  /**
   * Waits until a process that has just been started has answered an update of a counter.
   *
   * @param port on which it listens for clients
   * @param beganNanos when it was started, by System.nanoTime()
   * @param log its output, which is told if it does not start
   * @return seconds since it was started
   * @throws OsierException UNAVAILABLE if it does not start within two minutes
   */
  public static double seconds(
      Process process, String dc, int port, String keyspace, long beganNanos, Path log)
      throws IOException {
    InetSocketAddress at = new InetSocketAddress("127.0.0.1", port);
    long deadline = beganNanos + TimeUnit.SECONDS.toNanos(SECONDS_MAX);
    while (!isOpen(at)) { // so that no pause between a client's attempts is measured
      if (!process.isAlive() || System.nanoTime() > deadline) {
        throw new OsierException(
            ErrorCode.UNAVAILABLE, "it does not start: " + Files.readString(log));
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    try (OsierClient client =
        OsierClient.builder().name("start").endpoint(dc, "127.0.0.1:" + port).build()) {
      client.awaitConnected(Duration.ofSeconds(SECONDS_MAX));
      client.session().keyspace(keyspace).counter("starts").increment(1);
      return (System.nanoTime() - beganNanos) / 1e9;
    }
  }

  private static boolean isOpen(InetSocketAddress at) {
    try (Socket socket = new Socket()) {
      socket.connect(at, 1_000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
