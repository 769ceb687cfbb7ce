package io.osier.datacenter.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class UpdateGateTest {
  private final Map<String, Integer> versions = new HashMap<>(Map.of("eu", 10));
  private final UpdateGate gate =
      new UpdateGate(
          "me", "shop", List.of("eu", "us"), Optional.empty(), dc -> versions.getOrDefault(dc, 0));

  /** Who cannot read it would end the connection. */
  @Test
  void whatOneWhoHoldsTheKeyspaceDoesNotKnow_isRefused_untilThatOneIsUpgraded() {
    versions.put("us", 9);
    assertThatCode(() -> gate.require(9, () -> "sets")).doesNotThrowAnyException();
    assertThatThrownBy(() -> gate.require(10, () -> "new things"))
        .hasMessageContainingAll("'us'", "version 9", "new things need version 10")
        .extracting(e -> ((OsierException) e).code().retryable())
        .isEqualTo(true);
    versions.put("us", 10);
    assertThatCode(() -> gate.require(10, () -> "new things")).doesNotThrowAnyException();
    gate.setPeers(List.of("eu", "us", "ap"));
    assertThatThrownBy(() -> gate.require(10, () -> "new things")).hasMessageContaining("'ap'");
  }

  /** What it says, and is said of it, has its name in it. */
  @Test
  void besideALongName_noUpdateIsTaken_untilAllCanReadIt() {
    String name = "northamerica-northeast1";
    assertThatCode(gate::check).doesNotThrowAnyException();
    gate.setPeers(List.of("eu", "us", name));
    versions.put(name, 10);
    versions.put("us", 9);
    assertThat(gate.isClosed()).as("nothing is acknowledged in front of it").isTrue();
    assertThatThrownBy(gate::check).hasMessageContainingAll("'us'", "version 9", name);
    UpdateGate own =
        new UpdateGate(
            name, "shop", List.of("us"), Optional.empty(), dc -> versions.getOrDefault(dc, 9));
    assertThatThrownBy(own::check).hasMessageContainingAll("'us'", name);
    versions.put("us", 10);
    assertThatCode(gate::check).doesNotThrowAnyException();
    assertThatCode(own::check).doesNotThrowAnyException();
  }

  /** It was added before it was started, say, and may never come; is it too old, it is refused. */
  @Test
  void besideALongName_whoWasNeverHeard_closesNoGate() {
    String name = "northamerica-northeast1";
    gate.setPeers(List.of("eu", name, "ap"));
    assertThatCode(gate::check).doesNotThrowAnyException();
    assertThatThrownBy(() -> gate.require(10, () -> "new things"))
        .as("what is new may wait for it")
        .hasMessageContainingAll(
            "'ap' was never heard here, so its version may be too old to read new things",
            "(peer protocol 10)",
            "Start it, or see 'osier cli why ap'; once it was heard, it may be away")
        .hasMessageNotContaining("upgrade");
    versions.put("ap", 9);
    assertThatThrownBy(gate::check).hasMessageContainingAll("'ap'", "version 9", name);
  }

  /** It has dropped the keyspace, and this one has not heard that it is no holder any more. */
  @Test
  void oneThatGivesTheKeyspaceUp_closesNoGate() {
    gate.setPeers(List.of("eu"));
    gate.compared("eu", Optional.of("it is not there"));
    assertThat(gate.isClosed()).isTrue();
    gate.setLeaving(List.of("eu"));
    assertThat(gate.isClosed()).isFalse();
    gate.setPeers(List.of("eu", "us"));
    gate.compared("us", Optional.of("it is another one"));
    assertThat(gate.isClosed()).as("nobody who stays has it").isTrue();
  }

  /** A connection from it may be lost without a word here. */
  @Test
  void oneWhoAgrees_countsOnlyWhileUpdatesCanBeSentToIt() {
    gate.refused("eu", new OsierException(ErrorCode.NOT_A_MEMBER, "it was removed"));
    gate.compared("us", Optional.empty());
    assertThat(gate.isStranger()).as("nothing can be sent to it").isTrue();
    gate.up("us");
    assertThat(gate.isStranger()).isFalse();
    gate.compared("us", Optional.of("it differs"));
    assertThat(gate.isStranger()).isTrue();
    gate.compared("us", Optional.empty());
    assertThat(gate.isStranger()).isFalse();
    gate.parted("us");
    gate.compared("us", Optional.empty());
    assertThat(gate.isStranger()).isTrue();
    gate.up("us");
    gate.setPeers(List.of("eu"));
    assertThat(gate.isStranger()).as("it does not hold the keyspace").isTrue();
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
    gate.welcomed("us");
    gate.up("us");
    assertThat(gate.isStranger()).isFalse();
  }

  /** Whoever has added this one again dials it, and refuses it when it dials itself. */
  @Test
  void oneThatDialsHere_opensNothing_beforeItLetsThisOneIn() {
    for (ErrorCode code : List.of(ErrorCode.NOT_A_MEMBER, ErrorCode.CONFIGURATION)) {
      gate.refused("eu", new OsierException(code, "no"));
      gate.refused("us", new OsierException(code, "no"));
      for (Optional<String> difference :
          List.<Optional<String>>of(Optional.of("it differs"), Optional.empty())) {
        gate.compared("eu", difference);
        gate.compared("us", difference);
        assertThat(gate.isStranger()).isEqualTo(code == ErrorCode.NOT_A_MEMBER);
        assertThatThrownBy(gate::check).hasMessageContaining("eu=" + code + ": no");
      }
      gate.welcomed("eu");
      gate.up("eu");
      assertThatCode(gate::check).doesNotThrowAnyException();
      assertThatCode(gate::checkRead).doesNotThrowAnyException();
      gate.parted("eu");
    }
  }

  /** Of a keyspace in which they differ it is not said that it is up. */
  @Test
  void oneThatLetsThisOneIn_isNoReasonAgainstReads_whereTheyDiffer() {
    gate.refused("eu", new OsierException(ErrorCode.NOT_A_MEMBER, "no"));
    gate.compared("eu", Optional.of("it differs"));
    gate.welcomed("eu");
    assertThatCode(gate::checkRead).doesNotThrowAnyException();
    assertThat(gate.refusals()).containsExactly(Map.entry("eu", "it differs"));
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
    gate.up("us"); // eu may be old itself
    assertThatCode(gate::check).doesNotThrowAnyException();
    gate.parted("us"); // and us has not heard of it, perhaps
    assertThatThrownBy(gate::check).hasMessageContaining("it was removed");
    gate.welcomed("eu");
    assertThatCode(gate::check).doesNotThrowAnyException();
    assertThatCode(gate::checkRead).doesNotThrowAnyException();
  }
}
