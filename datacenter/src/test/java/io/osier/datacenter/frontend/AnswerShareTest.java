package io.osier.datacenter.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Reply;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class AnswerShareTest {
  private static final int MIB = 1 << 20;

  private final ByteBudget all = new ByteBudget(400L * MIB);
  private final AnswerShare share = new AnswerShare(all);

  private static Reply.Answer read(int bytes) {
    return new Reply.Answer(
        CrdtType.STRING,
        new Reading.Single(Optional.of(Value.of(new byte[bytes]))),
        VersionVector.EMPTY);
  }

  private static Reply.Done done(Optional<Reply.Answer> answer) {
    return new Reply.Done(new Dot(new ReplicaId("eu", 1), 1), answer);
  }

  private void pass(Reply reply) {
    long bytes = share.keep(reply);
    share.give(bytes);
    share.learn(bytes);
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
    pass(read(100));
    assertThat(width()).isGreaterThanOrEqualTo(1_024);
  }

  @Test
  void hasRoom_behindALargeAnswer_forFew_andForMoreAgainBehindSmallOnes() {
    pass(read(4 * MIB));
    assertThat(width()).isBetween(3, 4);
    for (int i = 0; i < 100; i++) {
      pass(read(100));
    }
    assertThat(width()).isGreaterThanOrEqualTo(1_024);
    pass(read(100 * MIB));
    assertThat(share.hasRoom(0)).isTrue(); // one alone
    assertThat(share.hasRoom(1)).isFalse();
  }

  @Test
  void hasRoom_whileAnswersWait_isWhatTheyLeave() {
    share.keep(17L * MIB, 0);
    assertThat(share.hasRoom(0)).isFalse();
    share.give(17L * MIB);
    assertThat(share.hasRoom(1)).isTrue();
  }

  @Test
  void keep_beyondWhatOneConnectionMayHave_givesUp_butOneAloneMayHaveAll() {
    Reply.Answer read = read(100 * MIB);
    assertThat(share.keep(read)).isPositive();
    assertThat(share.keep(read)).isEqualTo(-1);
    assertThat(new AnswerShare(all).keep(read)).isPositive(); // another one has its own
    AnswerShare small = new AnswerShare(new ByteBudget(MIB));
    assertThat(small.keep(read)).isPositive();
    assertThat(small.keep(read)).isEqualTo(-1);
  }

  @Test
  void keep_beyondWhatAllMayHave_givesUp_butNothingSmall() {
    ByteBudget few = new ByteBudget(4L * MIB);
    assertThat(new AnswerShare(few).keep(read(MIB))).isPositive();
    few.take(few.max() - few.taken()); // by others
    AnswerShare last = new AnswerShare(few);
    assertThat(last.keep(read(MIB))).isEqualTo(-1);
    long small = last.keep(read(50_000));
    assertThat(small).isPositive();
    assertThat(last.keep(read(50_000))).isEqualTo(-1);
    assertThat(last.keep(done(Optional.empty()))).isPositive();
    assertThat(last.keep(done(Optional.of(read(MIB))))).isEqualTo(-1);
    assertThat(last.presentBytes()).isLessThan(2 * small);
    assertThat(few.taken()).isLessThanOrEqualTo(4L * MIB);
  }

  @Test
  void give_ofAllThatWasKept_leavesNothing() {
    long first = share.keep(read(60_000));
    long second = share.keep(read(60_000));
    share.keep(1_000, 0);
    share.give(first);
    share.give(1_000);
    share.give(second);
    assertThat(share.presentBytes()).isZero();
    assertThat(all.taken()).isZero();
  }

  @Test
  void keep_inThePlaceOfAReply_leavesWhatWasMadeOfIt() {
    long reply = share.keep(read(MIB));
    share.keep(70_000, reply);
    assertThat(share.presentBytes()).isEqualTo(70_000);
    assertThat(all.taken()).isEqualTo(70_000 - AnswerShare.FREE_BYTES);
    share.keep(0, 70_000);
    assertThat(share.presentBytes()).isZero();
    assertThat(all.taken()).isZero();
  }

  @Test
  void instead_ofAReadIsToBeAskedAgain_ofAnUpdateSaysThatItWasDone() {
    assertThat(UnsentReply.noRoom(read(1)).code()).isEqualTo(ErrorCode.OVERLOADED);
    assertThat(UnsentReply.noRoom(done(Optional.of(read(1)))).code()).isEqualTo(ErrorCode.TIMEOUT);
  }
}
