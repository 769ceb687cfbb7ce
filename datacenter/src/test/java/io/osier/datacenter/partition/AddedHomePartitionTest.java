package io.osier.datacenter.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.Cluster.Dc;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.testing.Failed;
import io.osier.propagation.host.StreamSettings;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A partition while a home is being added that would take some of its keys. */
final class AddedHomePartitionTest extends ProgramsFixture {
  private static final KeyspacePolicy BEFORE = with(List.of());
  private static final KeyspacePolicy ADDING = with(List.of("sa"));

  private final Dc eu = cluster.dc("eu");

  private static KeyspacePolicy with(List<String> adding) {
    return SESSION.with(
        new Partitioning(1, Partitioning.Hash.KEY, new Homes(List.of("us"), 0, adding)));
  }

  private void configure(KeyspacePolicy policy) {
    cluster.input(
        eu,
        new Input.Configured(
            policy, StreamSettings.Memory.DEFAULT, PartitionConfig.Memory.DEFAULT));
  }

  private static boolean isRefused(Reply reply) {
    return Failed.with(ErrorCode.UNAVAILABLE, "home 'sa' is being added").matches(reply);
  }

  @Test
  void updatesOfItsKeys_areRefused_howeverTheyCome() {
    configure(BEFORE);
    assertThat(eu.write("sa:old", CrdtType.PN_COUNTER, new Operation.Increment(1)))
        .isInstanceOf(Reply.Done.class);
    configure(ADDING);
    for (String key : List.of("sa:old", "sa:new", "x{sa}")) {
      assertThat(isRefused(eu.write(key, CrdtType.PN_COUNTER, new Operation.Increment(1))))
          .isTrue();
      Call update = update(key, CrdtType.PN_COUNTER, new Operation.Increment(1));
      assertThat(isRefused(run(eu, update).parts().getFirst())).as("alone").isTrue();
      Reply.Evaluated both = run(eu, assign("us", "x"), update);
      assertThat(both.held() && !both.parts().stream().anyMatch(AddedHomePartitionTest::isRefused))
          .as("with others")
          .isFalse();
      Reply.All parts =
          (Reply.All)
              reply(
                  eu,
                  new Request.WriteAll(
                      "k",
                      List.of(
                          new Request.Update(
                              key(key), CrdtType.PN_COUNTER, new Operation.Increment(2)),
                          new Request.Update(
                              key("other"), CrdtType.PN_COUNTER, new Operation.Increment(1))),
                      VersionVector.EMPTY,
                      0));
      assertThat(isRefused(parts.parts().getFirst())).isTrue();
      assertThat(parts.parts().get(1)).isInstanceOf(Reply.Done.class);
    }
    assertThat(reply(eu, program(List.of(), read("sa:old")))).isInstanceOf(Reply.Evaluated.class);
    assertThat(eu.write("sa:old", Operation.ANY_TYPE, new Operation.Delete()))
        .as("so that it can be added")
        .isInstanceOf(Reply.Done.class);
    configure(BEFORE);
    assertThat(eu.write("sa:new", CrdtType.PN_COUNTER, new Operation.Increment(1)))
        .isInstanceOf(Reply.Done.class);
  }
}
