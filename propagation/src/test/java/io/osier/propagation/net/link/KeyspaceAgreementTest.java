package io.osier.propagation.net.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class KeyspaceAgreementTest {
  @Test
  void keyspacesThatAreSeenAlike_areAgreedOn_andEveryOtherIsNamedWithItsDifference() {
    KeyspaceAgreement agreement =
        KeyspaceAgreement.of(
            "eu",
            List.of("a{x=1}", "b{x=1, y=[1, 2]}", "mine{x=1}"),
            "us",
            List.of("b{x=2, y=[1, 2]}", "a{x=1}", "yours{x=1}"));
    assertThat(agreement.agreed()).containsExactly("a");
    assertThat(agreement.differing())
        .isEqualTo(
            Map.of(
                "b", "x is 1 at eu and 2 at us",
                "mine", "not configured at us for eu",
                "yours", "not configured at eu for us"));
  }

  /** A fingerprint omits the hash if it is by key, since former programs know no other. */
  @Test
  void otherHash_isNamedAsItIsSet() {
    KeyspaceAgreement agreement =
        KeyspaceAgreement.of("eu", List.of("a{x=1}"), "us", List.of("a{x=1, hash=TAG}"));
    assertThat(agreement.differing()).isEqualTo(Map.of("a", "hash is KEY at eu and TAG at us"));
  }

  @Test
  void unknownKeyspaces_areToldOfUpToANumber() {
    List<String> many = IntStream.range(0, 1_000).mapToObj(i -> "k" + i + "{}").toList();
    assertThat(KeyspaceAgreement.of("eu", List.of(), "us", many).differing()).hasSize(100);
  }
}
