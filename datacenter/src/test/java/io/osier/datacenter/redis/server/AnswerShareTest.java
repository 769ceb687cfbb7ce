package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.Reply;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class AnswerShareTest {
  private static final int MIB = 1 << 20;

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final Answers answers = new Answers(channel);
  private final AnswerShare share = new AnswerShare(answers);

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private static Reply.Answer read(int bytes) {
    return new Reply.Answer(
        Optional.of(CrdtType.STRING),
        Optional.of(new Reading.Single(Optional.of(Value.of(new byte[bytes])))),
        true,
        VersionVector.EMPTY);
  }

  /** How many may be under way at once. */
  private int width() {
    int width = 0;
    while (width < 2_000 && share.hasRoom(width)) {
      width++;
    }
    return width;
  }

  @Test
  void hasRoom_ofSmallAnswers_forAllThatMayBeUnderWay() {
    assertThat(width()).isGreaterThanOrEqualTo(1_024);
    share.taken(share.keep(read(100)));
    assertThat(width()).isGreaterThanOrEqualTo(1_024);
  }

  @Test
  void hasRoom_behindALargeAnswer_forFew_andForMoreAgainBehindSmallOnes() {
    share.taken(share.keep(read(4 * MIB)));
    assertThat(width()).isBetween(3, 4);
    for (int i = 0; i < 100; i++) {
      share.taken(share.keep(read(100)));
    }
    assertThat(width()).isGreaterThanOrEqualTo(1_024);
    share.taken(share.keep(read(100 * MIB)));
    assertThat(share.hasRoom(0)).isTrue(); // one alone
    assertThat(share.hasRoom(1)).isFalse();
  }

  @Test
  void hasRoom_whileAnswersWait_isWhatTheyLeave() {
    answers.add(false, false); // is waited for
    answers.fill(answers.add(false, false), new RespValue.Bulk(new byte[17 * MIB]));
    assertThat(share.hasRoom(1)).isFalse();
    answers.close();
    assertThat(share.hasRoom(1)).isTrue();
  }

  @Test
  void keep_ofReadsBeyondTheBound_givesThemUp_butNoUpdate() {
    Reply.Answer read = read(100 * MIB);
    assertThat(share.keep(read)).isPositive();
    assertThat(share.keep(read)).isEqualTo(-1);
    Reply update = new Reply.Done(new Dot(new ReplicaId("eu", 1), 1), Optional.of(read));
    assertThat(share.keep(update)).isPositive();
  }
}
