package io.osier.propagation.out;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.propagation.host.Recovered;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.host.TestSurroundings;
import io.osier.propagation.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** In which order large states are offered. */
final class OffersTest {
  private final TestSurroundings.Kept objects = new TestSurroundings.Kept();
  private final List<Frame> sent = new ArrayList<>();

  /** One at a time is offered. */
  private final Surroundings around =
      TestSurroundings.of(
          KeyspacePolicy.session("k", Duration.ofSeconds(1)),
          StreamSettings.DEFAULT
              .pulling(64)
              .within(new StreamSettings.Memory(64 << 20, 16 << 20, 1)),
          Recovered.NOTHING,
          objects,
          (to, frame) -> {});

  private final Offers offers = new Offers(sent::add, around);

  private void takes(String key) {
    ObjectId object = new ObjectId(Key.of(key), CrdtType.AW_SET);
    Causal empty = Causal.bottom(CrdtType.AW_SET);
    Operation adds = new Operation.Add(List.of(Value.of("e".repeat(100))));
    Causal state = empty.join(empty.prepare(adds, TestSurroundings.SELF, 1, 0, 0, 0));
    objects.objects.put(object, state);
    assertThat(offers.takes(object, state)).isTrue();
  }

  private List<String> offered() {
    offers.tick(1, left -> {}, 0);
    List<String> keys = new ArrayList<>();
    for (Frame frame : sent) {
      keys.add(((Frame.Offer) frame).object().key().toString());
    }
    sent.clear();
    return keys;
  }

  /** Of those the peer may have something, for which it lets others wait. */
  @Test
  void whatWasOffered_isOfferedFirst_whenAScanBegins() {
    offers.peerPulls(true);
    takes("a");
    takes("b");
    assertThat(offered()).containsExactly("a");
    offers.scanBegins();
    assertThat(offered()).containsExactly("a");
  }
}
