package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Which keyspace database 0 is where nothing names it: FLUSHDB must not hit another one. */
final class FirstDatabaseTest {
  private static final Reply.KeyspaceInfo SHOP = new Reply.KeyspaceInfo("shop", 500, 1, false);
  private static final Reply.KeyspaceInfo USUAL = new Reply.KeyspaceInfo("default", 500, 1, false);

  private static String database0(List<Reply.KeyspaceInfo> told, List<Reply.KeyspaceInfo> settled) {
    ServedClients.Handler handler =
        new ServedClients.Handler() {
          @Override
          public List<Reply.KeyspaceInfo> keyspaces() {
            return told;
          }

          @Override
          public List<Reply.KeyspaceInfo> settled() {
            return settled;
          }

          @Override
          public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
            throw new AssertionError(request);
          }
        };
    return new ServerState(Map.of(), handler, ServedClients.around(ServedClients.pushes()))
        .database(0)
        .keyspace();
  }

  @Test
  void keyspaceThatFollowsTheLoad_takes0FromNobody_whereverItIs() {
    assertThat(database0(List.of(SHOP), List.of(SHOP))).isEqualTo("shop");
    assertThat(database0(List.of(SHOP, USUAL), List.of(SHOP))).isEqualTo("shop");
  }

  @Test
  void whereNothingElseIs_itIs0_ifItIsTheOnlyOne_orTheUsualOne() {
    assertThat(database0(List.of(SHOP), List.of())).isEqualTo("shop");
    assertThat(database0(List.of(SHOP, USUAL), List.of())).isEqualTo("default");
  }
}
