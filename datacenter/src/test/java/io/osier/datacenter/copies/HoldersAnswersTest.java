package io.osier.datacenter.copies;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A holder whose answers are not what they should be: its copies end, and it is asked no more. */
final class HoldersAnswersTest extends CopyFixture {
  private void assertDistrust(UnaryOperator<FollowCodec.Answer> alters) {
    copyOfN();
    ap.alters = alters;
    world.increment("n");
    ap.heat("n");
    assertThat(ap.copies.figures().objects()).isZero();
    assertThat(ap.copies.figures().bytes()).isZero();
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", 1L);
    ap.asking =
        ask -> {
          throw new AssertionError("it is asked again");
        };
    ap.heat("n");
  }

  @Test
  void oneThatLeavesOutAnAnswer() {
    assertDistrust(
        answer -> new FollowCodec.Answer(answer.step() + 1, answer.through(), answer.objects()));
  }

  @Test
  void oneThatTellsOfAnObjectTwice() {
    assertDistrust(
        answer -> {
          List<FollowCodec.Told> twice = new ArrayList<>(answer.objects());
          twice.addAll(answer.objects());
          return new FollowCodec.Answer(answer.step(), answer.through(), twice);
        });
  }

  @Test
  void oneThatTellsOfMoreThanAnAnswerHolds() {
    List<FollowCodec.Told> many =
        LongStream.range(1_000, 100_000)
            .mapToObj(i -> new FollowCodec.Told(i, Optional.empty(), 0))
            .toList();
    assertDistrust(answer -> new FollowCodec.Answer(answer.step(), answer.through(), many));
  }
}
