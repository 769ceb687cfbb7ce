package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Partitioning;
import io.osier.datacenter.redis.command.Database;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Which keyspace database 0 is where nothing names it: FLUSHDB must not hit another one. */
final class FirstDatabaseTest {
  private static final Reply.KeyspaceInfo SHOP = new Reply.KeyspaceInfo("shop", 500, 1, false);
  private static final Reply.KeyspaceInfo USUAL = new Reply.KeyspaceInfo("default", 500, 1, false);

  private static String database0(List<Reply.KeyspaceInfo> told, List<Reply.KeyspaceInfo> settled) {
    return server(told, settled, true)
        .databases()
        .getOrDefault(0, new Database("", Partitioning.byKey(1)))
        .keyspace();
  }

  private static ServerState server(
      List<Reply.KeyspaceInfo> told, List<Reply.KeyspaceInfo> settled, boolean all) {
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
          public Optional<Reply.Failure> mayLackKeyspaces() {
            return all
                ? Optional.empty()
                : Optional.of(new Reply.Failure(ErrorCode.UNAVAILABLE, "it waits for us"));
          }

          @Override
          public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
            throw new AssertionError(request);
          }
        };
    return new ServerState(Map.of(), handler, ServedClients.around(ServedClients.pushes()));
  }

  /** A client gives up what is out of range, and tries again what is being loaded. */
  @Test
  void databaseWhoseKeyspaceMayStillCome_isLoading_andNotOutOfRange() {
    ServerState starts = server(List.of(), List.of(), false);
    assertThatThrownBy(() -> starts.checkDatabase(1)).satisfies(FirstDatabaseTest::isLoading);
    assertThatThrownBy(() -> starts.database(0)).satisfies(FirstDatabaseTest::isLoading);
    ServerState knows = server(List.of(), List.of(), true);
    assertThatThrownBy(() -> knows.checkDatabase(1)).hasMessageContaining("out of range");
  }

  private static void isLoading(Throwable said) {
    assertThat(RedisErrors.of((RuntimeException) said).text())
        .startsWith("LOADING ")
        .contains("it waits for us");
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

  /** FLUSHDB of one home, or none, would depend on which of them are held where. */
  @Test
  void keyspaceWithHomes_is0AsAWhole_howeverManyOfThemAreHere() {
    Reply.KeyspaceInfo carts = home("carts");
    Reply.KeyspaceInfo eu = home("carts@eu");
    Reply.KeyspaceInfo ap = home("carts@ap");
    List<Reply.KeyspaceInfo> all = List.of(carts, eu, ap);
    for (List<Reply.KeyspaceInfo> here :
        List.of(List.of(eu), List.of(eu, ap), all, List.<Reply.KeyspaceInfo>of())) {
      assertThat(database0(all, here)).as("with %s here", here).isEqualTo("carts");
    }
    assertThat(database0(List.of(eu, SHOP, carts), List.of(eu, SHOP)))
        .as("and none where another one is, too")
        .isEmpty();
  }

  private static Reply.KeyspaceInfo home(String name) {
    return new Reply.KeyspaceInfo(name, 500, 1, false);
  }
}
