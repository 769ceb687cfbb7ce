package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class WaitConnectionTest {
  private final ClientService handler =
      new ServedClients.Handler() {
        @Override
        public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
          assertThat(request).isInstanceOf(ProgressRequest.Spread.class);
          reply.accept(new Reply.Spread(7, Set.of("us")));
        }
      };

  /** As they are each time they are looked at after a while. */
  @Test
  void wait_isAnswered_whenThePortLooksAtItsKeyspacesAnew() throws IOException {
    AtomicLong millis = new AtomicLong();
    try (ClientServer server =
        ServedClients.start(PortLimits.DEFAULT, UserLimits.NONE, () -> Users.OPEN, handler)) {
      RedisPort redis =
          new RedisPort(
              Map.of(),
              handler,
              new ServerState.Around(
                  ServedClients.EU,
                  "test",
                  () -> millis.addAndGet(1_000),
                  new Random(1),
                  Runnable::run,
                  Runnable::run,
                  ServedClients.pushes(),
                  true));
      int port = server.listen(ServedClients.anyPort(), redis).address().getPort();
      try (RawRedis client = new RawRedis(port)) {
        assertThat(client.ask("WAIT 1 0")).isEqualTo(":1");
        assertThat(client.ask("WAITAOF 1 1 0")).isEqualTo("[:1, :1]");
      }
    }
  }

  /** What others have shown here, and lost, would be waited for in vain. */
  @Test
  void wait_asksForWhatOthersHaveShown_onlyWhereTheConnectionHasAskedThem() throws IOException {
    VersionVector shown = VersionVector.of(new ReplicaId("us", 1), 5);
    AtomicBoolean held = new AtomicBoolean(true);
    List<VersionVector> asked = new CopyOnWriteArrayList<>();
    ClientService serving =
        new ServedClients.Handler() {
          @Override
          public boolean holds(String keyspace) {
            return held.get();
          }

          @Override
          public VersionVector shown(String keyspace, int partition) {
            return shown;
          }

          @Override
          public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
            if (request instanceof ProgressRequest.Spread spread) {
              asked.add(spread.seen());
              reply.accept(new Reply.Spread(7, Set.of("us")));
            } else {
              lane.goesElsewhere("shop");
              reply.accept(
                  new Reply.Answer(Optional.empty(), Optional.empty(), false, VersionVector.EMPTY));
            }
          }
        };
    try (ClientServer server =
        ServedClients.start(PortLimits.DEFAULT, UserLimits.NONE, () -> Users.OPEN, serving)) {
      RedisPort redis =
          new RedisPort(Map.of(), serving, ServedClients.around(ServedClients.pushes()));
      int port = server.listen(ServedClients.anyPort(), redis).address().getPort();
      try (RawRedis client = new RawRedis(port)) {
        assertThat(client.ask("WAIT 1 1000")).isEqualTo(":1");
        held.set(false);
        assertThat(client.ask("WAIT 1 1000")).isEqualTo(":1");
        held.set(true);
        assertThat(client.askAll("GET a", "WAIT 1 1000").getLast()).isEqualTo(":1");
      }
    }
    assertThat(asked).containsExactly(VersionVector.EMPTY, shown, shown);
  }

  /** As when somebody has set it right. */
  @Test
  void clockThatIsSetBack_hidesNoKeyspace() {
    AtomicLong millis = new AtomicLong(1_000_000);
    List<Reply.KeyspaceInfo> served = new ArrayList<>();
    ClientService serving =
        new ServedClients.Handler() {
          @Override
          public List<Reply.KeyspaceInfo> keyspaces() {
            return List.copyOf(served);
          }

          @Override
          public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
            throw new AssertionError("nothing is asked");
          }
        };
    ServerState state =
        new ServerState(
            Map.of(),
            serving,
            new ServerState.Around(
                ServedClients.EU,
                "test",
                millis::get,
                new Random(1),
                Runnable::run,
                Runnable::run,
                ServedClients.pushes(),
                true));
    assertThat(state.keyspaces()).isEmpty();
    served.add(new Reply.KeyspaceInfo("shop", 500, 1, false));
    assertThat(state.keyspaces()).as("as it was a moment ago").isEmpty();
    millis.set(1_000);
    assertThat(state.keyspaces()).hasSize(1);
  }
}
