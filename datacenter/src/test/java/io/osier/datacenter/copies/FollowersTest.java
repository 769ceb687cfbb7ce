package io.osier.datacenter.copies;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What a holder tells, whoever asks, in virtual time. */
final class FollowersTest {
  private static final ReplicaId AP = new ReplicaId("ap", 1);

  private final CopyWorld world = new CopyWorld();
  private final List<FollowCodec.Answer> answers = new ArrayList<>();
  private int failures;
  private long step;

  private void ask(int waitMillis, FollowCodec.Added... add) {
    FollowCodec.Ask ask =
        new FollowCodec.Ask(CopyWorld.SHOP, 0, 7, ++step, List.of(add), List.of(), waitMillis);
    world.followers.asked(
        AP,
        new WireInput(WireOutput.bytesOf(out -> FollowCodec.write(out, ask))),
        told -> {
          if (told == null) {
            failures++;
          } else {
            answers.add(FollowCodec.readAnswer(new WireInput(WireOutput.bytesOf(told))));
          }
        });
  }

  private static FollowCodec.Added added(long number, String key) {
    return new FollowCodec.Added(number, Key.of(key));
  }

  /** The numbers of the objects that were told of, as they are or as not followed. */
  private List<Long> told(boolean isFollowed) {
    return answers.stream()
        .flatMap(answer -> answer.objects().stream())
        .filter(told -> told.states().isPresent() == isFollowed)
        .map(FollowCodec.Told::number)
        .toList();
  }

  private void followsN() {
    ask(10_000, added(1, "n"));
    world.pass(100);
    assertThat(told(true)).containsExactly(1L);
  }

  /** Who takes keys for those of another partition would be told what is said of that one. */
  @Test
  void keyOfAnotherPartition_isNotFollowed() {
    world.partitioning = new Partitioning(256, Partitioning.Hash.TAG);
    ask(10_000, added(1, "n"));
    world.pass(100);
    assertThat(answers).isEmpty();
    assertThat(failures).isEqualTo(1);
  }

  /** More changes all the time than one answer holds. */
  @Test
  void whatChangesAllTheTime_doesNotKeepTheRestFromBeingTold() {
    FollowCodec.Added[] all =
        LongStream.range(0, 12).mapToObj(i -> added(i, "k" + i)).toArray(FollowCodec.Added[]::new);
    for (int i = 0; i < 12; i++) {
      world.set("k" + i, "x".repeat(12_000));
    }
    ask(10_000, all);
    Set<Long> wanted = new HashSet<>(List.of(6L, 7L, 8L, 9L, 10L, 11L));
    for (int i = 0; i < 8; i++) {
      for (int k = 0; k < 6; k++) {
        world.set("k" + k, i + "x".repeat(12_000));
      }
      ask(10_000);
      world.pass(100);
    }
    assertThat(answers).hasSizeBetween(5, 9);
    told(true).forEach(wanted::remove);
    assertThat(wanted).isEmpty();
  }

  /** Its entries would be read one by one, of a disk, while it is told. */
  @Test
  void objectWhoseEntriesLieInTheStore_isNotFollowed() {
    world.update("set", CrdtType.AW_SET, new Operation.Add(Value.of("x")));
    world.decompose("set");
    world.increment("n");
    ask(10_000, added(1, "set"), added(2, "n"));
    world.pass(100);
    assertThat(told(true)).containsExactly(2L);
    assertThat(told(false)).containsExactly(1L);
  }

  @Test
  void objectWhoseAnswersDependOnWhereItIsRead_isNotFollowed() {
    world.boundedCounter("stock");
    ask(10_000, added(1, "stock"));
    world.pass(100);
    assertThat(told(false)).containsExactly(1L);
  }

  @Test
  void keysWithoutRoom_areRefused_andTheOthersAreFollowed() {
    assertThat(world.ofFollowers.tryTake((1 << 20) - 1_500)).isTrue();
    world.increment("n");
    ask(10_000, added(1, "n"), added(2, "x".repeat(2_000)), added(3, "y".repeat(2_000)));
    world.pass(100);
    assertThat(told(true)).containsExactly(1L);
    assertThat(told(false)).containsExactly(2L, 3L);
    assertThat(failures).isZero();
    world.increment("n");
    ask(10_000);
    world.pass(100);
    assertThat(told(true)).containsExactly(1L, 1L);
  }

  /** Nobody hears of changes in the keyspace then, so it could never be told. */
  @Test
  void subscriptionOfWhoseKeysNoneHasRoom_ends() {
    long taken = (1 << 20) - 400;
    assertThat(world.ofFollowers.tryTake(taken)).isTrue();
    ask(10_000, added(1, "n"));
    world.pass(5_000);
    assertThat(failures).isEqualTo(1);
    assertThat(world.ofFollowers.taken()).isEqualTo(taken);
  }

  @Test
  void subscriptionAndItsKeys_takeOfTheBudget_andGiveAllOfItBack() {
    ask(10_000);
    assertThat(world.ofFollowers.taken()).as("a subscription without keys").isPositive();
    ask(10_000, added(1, "n"), added(1, "n"), added(1, "m"));
    ask(10_000, added(1, "n"), added(2, "n"));
    world.followers.down("ap");
    assertThat(world.ofFollowers.taken()).isZero();
    assertThat(failures).isEqualTo(3);

    assertThat(world.ofFollowers.tryTake((1 << 20) - 100)).isTrue();
    step = 0;
    ask(10_000);
    assertThat(failures).as("there is no room").isEqualTo(4);
  }

  @Test
  void whatOthersFollow_andWhatTheyAreTold_isCounted() {
    followsN();
    assertThat(world.followers.figures())
        .satisfies(
            now -> {
              assertThat(now.objects()).isEqualTo(1);
              assertThat(now.states()).isEqualTo(1);
              assertThat(now.bytes()).as("it is not there yet").isZero();
              assertThat(now.untoldMillis()).isZero();
            });
    world.increment("n");
    world.pass(300);
    assertThat(world.followers.figures().untoldMillis()).as("nobody asks").isEqualTo(300);
    world.increment("n");
    world.pass(50);
    assertThat(world.followers.figures().untoldMillis()).as("since the first").isEqualTo(350);
    ask(10_000);
    world.pass(10);
    assertThat(world.followers.figures().untoldMillis()).isZero();
    assertThat(world.followers.figures().states()).isEqualTo(2);
    assertThat(world.followers.figures().bytes()).isPositive();
    world.followers.down("ap");
    assertThat(world.followers.figures().objects()).isZero();
  }

  /** What one answer has no room for goes on waiting. */
  @Test
  void whatIsLeftOfAnAnswer_hasWaitedSinceItChanged() {
    FollowCodec.Added[] all =
        LongStream.range(0, 12).mapToObj(i -> added(i, "k" + i)).toArray(FollowCodec.Added[]::new);
    for (int i = 0; i < 12; i++) {
      world.set("k" + i, "x".repeat(12_000));
    }
    ask(10_000, all);
    world.pass(200);
    assertThat(answers).hasSize(1);
    world.set("k0", "y");
    assertThat(world.followers.figures().untoldMillis()).isEqualTo(200);
  }

  @Test
  void nobodyWaits_longerThanTheLongestWait() {
    followsN();
    ask(Integer.MAX_VALUE);
    world.pass(Subscription.WAIT_MILLIS + 10);
    assertThat(answers).hasSize(2);
  }

  @Test
  void whoAsksHowFarTheHolderIs_isToldAtOnce_thoughAChangeIsHeldBack() {
    followsN();
    for (int i = 0; i < 2; i++) {
      ask(10_000);
      world.increment("n");
      world.pass(10);
    }
    assertThat(answers).as("the second change is held back").hasSize(2);
    ask(0);
    world.pass(5);
    assertThat(answers).hasSize(3);
  }

  @Test
  void questionsThatAreAnswered_leaveNothingToBeDoneLater() {
    followsN();
    ask(10_000);
    for (int i = 0; i < 100; i++) {
      ask(10_000);
      world.increment("n");
      world.pass(60);
    }
    assertThat(answers).hasSizeGreaterThan(90);
    assertThat(world.time.pending()).isLessThan(20);
  }

  @Test
  void questionsThatAreDueAtOnce_areAllAnswered() {
    followsN();
    ask(1_000);
    ask(1_000);
    world.pass(1_010);
    assertThat(answers).hasSize(3);
  }

  @Test
  void objectThatIsTooLarge_isNotFollowed_andWhatCannotBeReadEndsTheSubscription() {
    world.reading =
        key -> {
          throw new OsierException(ErrorCode.VALUE_TOO_LARGE, "as a test wants it");
        };
    ask(10_000, added(1, "n"));
    world.pass(100);
    assertThat(told(false)).containsExactly(1L);

    world.reading =
        key -> {
          throw new OsierException(ErrorCode.STORE_DAMAGED, "as a test wants it");
        };
    ask(10_000, added(2, "n"));
    ask(10_000);
    world.pass(100);
    assertThat(answers).hasSize(1);
    assertThat(failures).isEqualTo(2);
    assertThat(world.ofFollowers.taken()).isZero();
  }

  @Test
  void keyspaceThatIsHeldNoMoreWhenItIsRead_isNotTold() {
    world.reading = key -> world.isHeld = false;
    ask(10_000, added(1, "n"));
    world.pass(100);
    assertThat(answers).isEmpty();
    assertThat(failures).isEqualTo(1);
  }

  @Test
  void whoCannotTell_triesItAgainLaterEachTime_andTellsOnceItCan() {
    world.listens = false;
    ask(Subscription.WAIT_MILLIS, added(1, "n"));
    for (int i = 0; i < 3_000; i++) {
      world.increment("n");
      world.pass(10);
    }
    assertThat(world.listenings).isBetween(5, 100);
    world.listens = true;
    world.pass(1_010);
    assertThat(told(true)).containsExactly(1L);
  }
}
