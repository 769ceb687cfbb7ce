package io.osier.bench.systems;

import com.typesafe.config.Config;
import io.osier.bench.cluster.Jvm;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.Ports;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** A plain echo in a process of its own: frames of the sizes that a datacenter's calls have. */
final class EchoTarget implements Target {
  private static final int TRIES = 300;

  private final Path log = Files.createTempFile("osier-echo", ".log");
  private final Process process;
  private final int port = Ports.free();

  EchoTarget() throws IOException {
    process = Jvm.start(log, "-Xmx512m", "bench", "echo", "--port=" + port);
  }

  @Override
  public int nodes() {
    return 1;
  }

  @Override
  public Calls calls(int node, Config load) throws IOException {
    EchoClient client = connect();
    String keyspace = load.getString("keyspace");
    return new Calls() {
      @Override
      public Call call(String operation) {
        int[] bytes = bytes(keyspace, operation);
        return (key, number) -> client.call(bytes[0], bytes[1]);
      }

      @Override
      public void fill(String operation, int keys) {
        // It keeps nothing.
      }

      @Override
      public void close() {
        client.close();
      }
    };
  }

  private EchoClient connect() throws IOException {
    for (int i = 0; ; i++) {
      try {
        return new EchoClient(port);
      } catch (IOException e) {
        if (i == TRIES) {
          throw e;
        }
        LockSupport.parkNanos(100_000_000); // it is starting
      }
    }
  }

  /** Of a request and its reply, as they are on the way. */
  private static int[] bytes(String keyspace, String operation) {
    long id = 1_000_000;
    Key key = Key.of("c555");
    Optional<CrdtType> type = Optional.of(CrdtType.PN_COUNTER);
    Dot dot = new Dot(new ReplicaId("eu", System.currentTimeMillis()), 1_000_000);
    VersionVector seen = VersionVector.of(dot.replica(), dot.number());
    Reply.Answer answer = new Reply.Answer(type, Optional.of(new Reading.Count(1_000)), true, seen);
    Request read =
        new Request.Read(keyspace, key, type, new Query.Whole(), VersionVector.EMPTY, false, 5_000);
    Operation one = new Operation.Increment(1);
    Request write =
        new Request.Write(keyspace, key, CrdtType.PN_COUNTER, one, VersionVector.EMPTY, 5_000);
    Request asking =
        new Request.Write(
            keyspace,
            key,
            CrdtType.PN_COUNTER,
            one,
            VersionVector.EMPTY,
            5_000,
            Optional.of(new Request.Ask(false, new Query.Whole())));
    return switch (operation) {
      case "get" -> sizes(id, read, answer);
      case "increment" -> sizes(id, write, new Reply.Done(dot));
      case "increment-get" -> sizes(id, asking, new Reply.Done(dot, Optional.of(answer)));
      default -> throw Calls.unsupported("the operation " + operation);
    };
  }

  private static int[] sizes(long id, Request request, Reply reply) {
    return new int[] {
      ProtocolCodec.encode(id, request).length, ProtocolCodec.encode(id, reply).length
    };
  }

  @Override
  public Duration cpu() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  @Override
  public void close() {
    RedisProcess.stop(process);
    try {
      Files.delete(log);
    } catch (IOException e) {
      System.err.println("cannot delete " + log + ": " + e);
    }
  }
}
