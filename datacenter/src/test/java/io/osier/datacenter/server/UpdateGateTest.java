package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.propagation.transport.PeerTransport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class UpdateGateTest {
  private final Map<String, Integer> versions = new HashMap<>(Map.of("ap", 3));
  private final UpdateGate gate =
      new UpdateGate(
          "shop",
          List.of("eu", "us"),
          Optional.empty(),
          dc -> versions.getOrDefault(dc, PeerTransport.PART_DEADLINES_VERSION));

  /** Who cannot read what has a deadline would end the connection. */
  @Test
  void deadlines_areRefusedWhileOneWhoHoldsTheKeyspaceKnowsNone() {
    Operation expire = new Operation.Expire(1_000, true);
    assertThatCode(() -> gate.check(expire)).doesNotThrowAnyException();
    versions.put("us", PeerTransport.DEADLINES_VERSION - 1);
    assertThatThrownBy(() -> gate.check(expire))
        .hasMessageContaining("'us'")
        .extracting(e -> ((OsierException) e).code())
        .isEqualTo(ErrorCode.VERSION_MISMATCH);
    Operation.Expire deadline = new Operation.Expire(1_000, true);
    Operation both = new Operation.WithDeadline(new Operation.Increment(1), deadline);
    assertThatThrownBy(() -> gate.check(both)).hasMessageContaining("'us'");
    assertThatCode(() -> gate.check(new Operation.Delete())).doesNotThrowAnyException();
    assertThatCode(() -> gate.check(new Operation.Increment(1))).doesNotThrowAnyException();
    gate.setPeers(List.of("eu"));
    assertThatCode(() -> gate.check(expire)).doesNotThrowAnyException();
  }

  /** Otherwise one that was removed would serve something old now and then. */
  @Test
  void refusalThatIsRepeated_neverOpensTheGate() throws InterruptedException {
    OsierException removed = new OsierException(ErrorCode.NOT_A_MEMBER, "it was removed");
    gate.refused("eu", removed);
    gate.refused("us", removed);
    AtomicInteger opened = new AtomicInteger();
    Thread reader =
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!Thread.currentThread().isInterrupted()) {
                    opened.addAndGet(gate.isStranger() ? 0 : 1);
                  }
                });
    for (int i = 0; i < 200_000; i++) {
      gate.refused("us", removed);
    }
    reader.interrupt();
    reader.join();
    assertThat(opened).hasValue(0);
    gate.heard("us", Optional.empty());
    assertThat(gate.isStranger()).isFalse();
  }

  /** The others may be dead; what it acknowledged would be nowhere. */
  @Test
  void oneWhoSaysThatThisOneWasRemoved_closesTheGate_unlessAnotherIsConnectedAndAgrees() {
    OsierException removed = new OsierException(ErrorCode.NOT_A_MEMBER, "it was removed");
    gate.refused("eu", new OsierException(ErrorCode.CONFIGURATION, "it was not added"));
    assertThatCode(gate::check).doesNotThrowAnyException();
    gate.refused("eu", removed);
    assertThatThrownBy(gate::check).hasMessageContaining("it was removed");
    assertThatThrownBy(gate::checkRead).hasMessageContaining("it was removed");
    gate.heard("us", Optional.empty()); // eu may be old itself
    assertThatCode(gate::check).doesNotThrowAnyException();
    gate.parted("us"); // and us has not heard of it, perhaps
    assertThatThrownBy(gate::check).hasMessageContaining("it was removed");
    gate.heard("eu", Optional.empty());
    assertThatCode(gate::check).doesNotThrowAnyException();
    assertThatCode(gate::checkRead).doesNotThrowAnyException();
  }

  @Test
  void deadlinesOfParts_areRefusedWhileOneKnowsOnlyThoseOfObjects() {
    versions.put("us", PeerTransport.DEADLINES_VERSION);
    Operation.Expire deadline = new Operation.Expire(1_000, true);
    assertThatCode(() -> gate.check(deadline)).doesNotThrowAnyException();
    List<Part> parts = List.of(new Part.Field("f"));
    for (Operation operation :
        List.of(
            new Operation.ExpireParts(parts, deadline),
            new Operation.PersistParts(parts),
            new Operation.WithPartDeadlines(new Operation.Add(Value.of("a")), deadline))) {
      assertThatThrownBy(() -> gate.check(operation)).hasMessageContaining("elements and fields");
    }
  }
}
