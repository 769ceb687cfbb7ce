package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.net.Disagreements.Compared;
import io.osier.propagation.net.Disagreements.Difference;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A keyspace that moves differs for a moment, and one that is misconfigured for good. */
final class DisagreementsTest {
  private final Disagreements all = new Disagreements();

  private List<Difference> found(Map<String, String> differing) {
    Compared compared = all.compared("us", differing);
    assertThat(compared.isMended()).isFalse();
    return compared.found();
  }

  private List<String> lasting(List<Difference> found) {
    return all.lasting("us", found).stream().map(d -> d.keyspace() + ": " + d.what()).toList();
  }

  @Test
  void differenceThatIsOverBefore_isNotSaid_norThatBothAgree() {
    List<Difference> moves = found(Map.of("carts", "not configured"));
    assertThat(found(Map.of())).isEmpty();
    assertThat(lasting(moves)).isEmpty();
  }

  @Test
  void differenceThatLasts_isSaidOnce_howeverOthersComeAndGo() {
    List<Difference> wrong = found(Map.of("shop", "partitions"));
    List<Difference> moves = found(Map.of("shop", "partitions", "carts", "not configured"));
    assertThat(moves).hasSize(1);
    assertThat(found(Map.of("shop", "partitions"))).isEmpty();
    assertThat(lasting(wrong)).containsExactly("shop: partitions");
    assertThat(lasting(wrong)).as("once").isEmpty();
    assertThat(lasting(moves)).isEmpty();
    assertThat(lasting(found(Map.of("shop", "sla")))).containsExactly("shop: sla");
    assertThat(all.compared("us", Map.of()).isMended()).isTrue();
    assertThat(all.compared("us", Map.of()).isMended()).isFalse();
  }

  @Test
  void differenceThatComesBack_isAnotherOne() {
    List<Difference> first = found(Map.of("carts", "not configured"));
    assertThat(found(Map.of())).isEmpty();
    List<Difference> second = found(Map.of("carts", "not configured"));
    assertThat(lasting(first)).as("it was not there for so long").isEmpty();
    assertThat(lasting(second)).hasSize(1);
  }

  @Test
  void datacenterThatIsRemoved_isForgotten() {
    List<Difference> found = found(Map.of("carts", "not configured"));
    all.forget("us");
    assertThat(lasting(found)).isEmpty();
  }
}
