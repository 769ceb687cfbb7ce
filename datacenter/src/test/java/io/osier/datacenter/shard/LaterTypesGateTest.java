package io.osier.datacenter.shard;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Request;
import io.osier.testing.Refused;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who does not know a type would end the connection at the first frame with one. */
final class LaterTypesGateTest {
  private static final Operation ASSIGN = new Operation.Assign(Value.of(1));
  private final AtomicInteger version = new AtomicInteger(10);

  /** It has no partition: what is let through fails there. */
  private final KeyspaceShard shard =
      new KeyspaceShard(
          KeyspacePolicy.session("shop", Duration.ofMillis(400)),
          List.of("us"),
          List.of(),
          Runnable::run,
          new UpdateGate("eu", "shop", List.of("us"), Optional.empty(), dc -> version.get()),
          new KeyspaceFeed(
              new ReplicaId("eu", 1),
              Partitioning.byKey(2),
              1 << 20,
              Runnable::run,
              System::nanoTime,
              () -> 1,
              () -> {}));

  private void write(CrdtType type, Operation operation) {
    Request.Write write = Requests.write("shop", Key.of("k"), type, operation);
    shard.write(write, new OrderedQueue(), reply -> {});
  }

  private void refused(CrdtType type, Operation operation, String name) {
    assertThatThrownBy(() -> write(type, operation))
        .hasMessageContainingAll("'us'", "version 10", "objects of type " + name, "version 11")
        .is(Refused.with(ErrorCode.UNAVAILABLE));
  }

  private static Operation field(CrdtType type, Operation operation) {
    return new Operation.UpdateFields(new FieldId("f", type), operation);
  }

  @Test
  void laterType_isRefused_alsoOfAFieldAtAnyDepth_untilAllKnowIt() {
    refused(CrdtType.STRING, ASSIGN, "string");
    refused(CrdtType.OR_MAP, field(CrdtType.MAX_REGISTER, ASSIGN), "max");
    Operation nested = field(CrdtType.OR_MAP, field(CrdtType.MIN_REGISTER, ASSIGN));
    Operation.Expire deadline = new Operation.Expire(5, true);
    refused(CrdtType.OR_MAP, nested, "min");
    refused(CrdtType.OR_MAP, new Operation.WithDeadline(nested, deadline), "min");
    refused(CrdtType.OR_MAP, new Operation.WithPartDeadlines(nested, deadline), "min");
    assertThatThrownBy(() -> write(CrdtType.LWW_REGISTER, ASSIGN))
        .as("let through")
        .isNotInstanceOf(OsierException.class);
    version.set(11);
    assertThatThrownBy(() -> write(CrdtType.STRING, ASSIGN))
        .as("let through")
        .isNotInstanceOf(OsierException.class);
  }

  @Test
  void firstValueOfABoundedCounter_isRefused_untilAllKnowIt() {
    Operation first = new Operation.Bound(0, 9, List.of("eu"), 5);
    assertThatThrownBy(() -> write(CrdtType.BOUNDED_COUNTER, first))
        .hasMessageContainingAll("'us'", "version 10", "with a first value", "version 11")
        .is(Refused.with(ErrorCode.UNAVAILABLE));
    assertThatThrownBy(
            () -> write(CrdtType.BOUNDED_COUNTER, new Operation.Bound(0, 9, List.of("eu"))))
        .as("let through")
        .isNotInstanceOf(OsierException.class);
    version.set(11);
    assertThatThrownBy(() -> write(CrdtType.BOUNDED_COUNTER, first))
        .as("let through")
        .isNotInstanceOf(OsierException.class);
  }
}
