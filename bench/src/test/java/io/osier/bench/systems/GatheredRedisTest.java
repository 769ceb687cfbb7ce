package io.osier.bench.systems;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.testing.Patience;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Beside a server that knows one command. */
@Timeout(2 * Patience.SECONDS)
final class GatheredRedisTest {
  private static final int COMMANDS = 50;

  /** Answers INCR when so many have come, all at once, and counts how many it read at once. */
  private static final class Server implements AutoCloseable {
    private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private volatile int readAtOnce;

    Server() throws IOException {
      Thread.ofPlatform().daemon(true).start(this::serve);
    }

    int port() {
      return listening.getLocalPort();
    }

    private void serve() {
      try (Socket socket = listening.accept()) {
        byte[] buffer = new byte[1 << 16];
        int waiting = 0;
        for (int n; (n = socket.getInputStream().read(buffer)) > 0; ) {
          String commands = new String(buffer, 0, n, StandardCharsets.US_ASCII);
          int increments = commands.split("INCR", -1).length - 1;
          readAtOnce = increments;
          waiting += increments;
          StringBuilder answers = new StringBuilder();
          if (increments == 0) {
            // A client's greetings: that it is alive is all that it must know.
            for (int i = commands.split("\\*", -1).length - 1; i > 0; i--) {
              answers.append(commands.contains("PING") ? "+PONG\r\n" : "-ERR unknown command\r\n");
            }
          } else if (waiting == COMMANDS) {
            waiting = 0;
            answers.append(":1\r\n".repeat(COMMANDS));
          }
          socket.getOutputStream().write(answers.toString().getBytes(StandardCharsets.US_ASCII));
        }
      } catch (IOException e) {
        // The client has gone.
      }
    }

    @Override
    public void close() throws IOException {
      listening.close();
    }
  }

  @Test
  void send_byThoseWhoHearAnswers_goesOutTogether() throws Exception {
    try (Server server = new Server();
        GatheredRedis redis = new GatheredRedis(server.port())) {
      List<CompletableFuture<?>> second = new ArrayList<>();
      for (int i = 0; i < COMMANDS; i++) {
        second.add(
            redis
                .send(commands -> commands.incr("k"))
                .thenCompose(value -> redis.send(commands -> commands.incr("k")))
                .toCompletableFuture());
      }
      CompletableFuture.allOf(second.toArray(CompletableFuture<?>[]::new))
          .get(Patience.SECONDS, TimeUnit.SECONDS);
      assertThat(server.readAtOnce).isEqualTo(COMMANDS);
    }
  }

  @Test
  void send_byAnotherThread_goesOutThoughNothingIsRead() throws Exception {
    try (Server server = new Server();
        GatheredRedis redis = new GatheredRedis(server.port())) {
      for (int round = 0; round < 3; round++) { // the first may be helped by what greeted
        List<CompletableFuture<?>> sent = new ArrayList<>();
        for (int i = 0; i < COMMANDS; i++) {
          sent.add(redis.send(commands -> commands.incr("k")).toCompletableFuture());
        }
        for (CompletableFuture<?> each : sent) {
          assertThat(each.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(1L);
        }
      }
    }
  }
}
