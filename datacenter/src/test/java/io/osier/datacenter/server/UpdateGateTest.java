package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class UpdateGateTest {
  private final Set<String> old = new HashSet<>(List.of("ap"));
  private final UpdateGate gate =
      new UpdateGate("shop", List.of("eu", "us"), Optional.empty(), dc -> !old.contains(dc));

  /** Who cannot read what has a deadline would end the connection. */
  @Test
  void deadlines_areRefusedWhileOneWhoHoldsTheKeyspaceKnowsNone() {
    Operation expire = new Operation.Expire(1_000, true);
    assertThatCode(() -> gate.check(expire)).doesNotThrowAnyException();
    old.add("us");
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
}
