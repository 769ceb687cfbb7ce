package io.osier.datacenter.copies;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is followed, how long, and what that may take, in virtual time. */
final class FollowedObjectsTest extends CopyFixture {
  /** One state a round, however often it changes. */
  @Test
  void objectThatChangesAllTheTime_isToldOnceARound() {
    copyOfN();
    long before = ap.copies.figures().versions();
    for (int i = 0; i < 1_000; i++) {
      world.increment("n");
      ap.read("n");
      world.pass(1);
    }
    long told = ap.copies.figures().versions() - before;
    assertThat(told).isBetween(5L, 1_000 / CopyWorld.HOLD_MILLIS + 1);
  }

  @Test
  void millionKeysThatAreReadOnce_areNotFollowed() {
    for (int i = 0; i < 1_000_000; i++) {
      ap.read("k" + i);
      if (i % 1_000 == 0) {
        world.pass(10);
      }
    }
    world.pass(3 * Copies.PERIOD_MILLIS);
    assertThat(ap.copies.figures().objects() + ap.copies.figures().versions()).isZero();
  }

  @Test
  void copiesEnd_withTheLink_andComeBackWithIt() {
    copyOfN();
    ap.cut();
    assertThat(copied("n")).isNull();
    assertThat(ap.copies.figures().objects() + ap.copies.figures().bytes()).isZero();
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", 1L);
    world.increment("n");
    ap.cut = false;
    for (int i = 0; i < 10; i++) {
      ap.heat("n");
    }
    assertThat(CopyWorld.count(requireNonNull(copied("n")))).isEqualTo(2);
  }

  @Test
  void copiesEnd_whenOthersHoldTheKeyspace() {
    copyOfN();
    world.holders = List.of("us");
    world.pass(Copies.PERIOD_MILLIS);
    assertThat(copied("n")).isNull();
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", 1L);
  }

  @Test
  void copiesEnd_atOnce_whenTheKeyspaceIsAnotherOneOfItsName() {
    copyOfN();
    world.creation = "second";
    ap.lookingUp =
        () -> {
          ap.lookingUp = () -> {};
          assertThat(copied("n")).as("while another one looks who holds it").isNull();
        };
    assertThat(copied("n")).isNull();
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", 1L);
  }

  /** For so many periods what is forwarded is answered by one holder alone. */
  private void isForwardedTo(String holder, int periods) {
    ap.nearest = holder;
    for (int period = 0; period < periods; period++) {
      ap.read("n");
      ap.forwarded("read once " + world.millis(), VersionVector.EMPTY);
      world.pass(Copies.PERIOD_MILLIS);
    }
  }

  /** Not at once: a holder that pauses for a moment is not the nearest then. */
  @Test
  void copiesEnd_whenAnotherHolderIsAskedForLong_andComeBackThere() {
    copyOfN();
    for (int i = 0; i < 3; i++) {
      isForwardedTo("us", Subscription.MOVED_PERIODS - 1);
      world.pass(2 * Copies.PERIOD_MILLIS); // nothing is forwarded, which says nothing
      assertThat(copied("n")).isNotNull();
      isForwardedTo("eu", 1);
    }
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", 0L);
    isForwardedTo("us", Subscription.MOVED_PERIODS);
    assertThat(copied("n")).isNull();
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", 1L);
    assertThat(ap.follows).isEqualTo("us");
    for (int period = 0; period < 3; period++) {
      ap.heat("n", "other");
      assertThat(copied("n")).isNotNull();
    }
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", 1L);
  }

  @Test
  void copiesThatAHolderHasForgotten_beginAgainSoon() {
    copyOfN();
    world.followers.down("ap");
    world.pass(CopyWorld.WAY_MILLIS);
    assertThat(copied("n")).isNull();
    ap.heat("n");
    assertThat(copied("n")).isNotNull();
  }

  private static Subscription subscription(int keys) {
    ForwardingHost.Held held = new ForwardingHost.Held(List.of("eu"), Partitioning.byKey(1), "");
    Subscription of = new Subscription("shop", 0, "eu", held, 1);
    for (int i = 0; i < keys; i++) {
      of.add(new Copy(new ObjectName("shop", Key.of("k" + i)), i, of, new Demand()));
    }
    return of;
  }

  /** A holder takes out before it adds, so it would follow the key for ever. */
  @Test
  void copyThatEndsBeforeItsKeyIsNamed_isNotNamed() {
    Subscription of = subscription(2);
    of.remove(requireNonNull(of.copies().get(0L)));
    assertThat(of.asks(Subscription.WAIT_MILLIS).getFirst().add())
        .containsExactly(new FollowCodec.Added(1, Key.of("k1")));
  }

  @Test
  void manyKeysOfAPartition_areNamedInFewQuestionsAtOnce() {
    Subscription of = subscription(20_000);
    int named = 0;
    List<FollowCodec.Ask> asks = of.asks(Subscription.WAIT_MILLIS);
    while (named < 20_000) {
      assertThat(asks).hasSizeBetween(1, 16);
      for (FollowCodec.Ask ask : asks) {
        named += ask.add().size();
        of.inOrder(
            new Subscription.Heard(
                new FollowCodec.Answer(ask.step(), Optional.empty(), List.of()), 0));
      }
      asks = of.asks(Subscription.WAIT_MILLIS);
    }
  }

  @Test
  void copyThatIsReadNoMore_ends_andTheHolderForgetsIt() {
    copyOfN();
    world.pass(25 * Copies.PERIOD_MILLIS);
    assertThat(ap.copies.figures().objects()).isZero();
    assertThat(ap.copies.figures().dropped()).containsEntry("unworthy", 1L);
    assertThat(world.ofFollowers.taken()).isPositive();
    world.pass(120_000);
    assertThat(world.ofFollowers.taken()).isZero();
  }

  @Test
  void budgetOfBytes_isKept() {
    CopyWorld.Reader small = world.new Reader("sa", new CopySettings(20_000, 100, 100));
    String text = "x".repeat(2_000);
    for (int i = 0; i < 20; i++) {
      world.set("k" + i, text);
    }
    for (int i = 0; i < 200; i++) {
      for (int k = 0; k < 20; k++) {
        small.read("k" + k);
      }
      world.pass(100);
    }
    var figures = small.copies.figures();
    assertThat(figures.bytes()).isBetween(1L, 20_000L);
    assertThat(figures.objects()).isBetween(1, 10);
    assertThat(figures.hits()).isPositive();
    assertThat(figures.dropped().get("budget")).isPositive();
  }

  @Test
  void budgetOfBytesThatIsSpent_isForWhatIsReadMost() {
    CopyWorld.Reader small = world.new Reader("sa", new CopySettings(10_000, 100, 100));
    for (String key : List.of("a", "b", "c", "d", "hot")) {
      world.set(key, "x".repeat(2_000));
    }
    small.heat("a", "b", "c", "d");
    assertThat(small.copies.figures().objects()).isEqualTo(3);
    small.heat("a", "b", "c", "d", "hot", "hot", "hot", "hot", "hot");
    assertThat(small.copied("hot", VersionVector.EMPTY)).isNotNull();
    assertThat(small.copies.figures().objects()).isEqualTo(3);
    assertThat(small.copies.figures().bytes()).isLessThanOrEqualTo(10_000);
  }

  @Test
  void soManyObjectsAtMost_areFollowed_andTheMostRead() {
    CopyWorld.Reader few = world.new Reader("sa", new CopySettings(1 << 20, 3, 100));
    for (int i = 0; i < 100; i++) {
      for (int k = 0; k < 6; k++) {
        for (int n = 0; n < (k < 3 ? 5 : 1); n++) {
          few.read("k" + k);
        }
      }
      world.pass(100);
    }
    assertThat(few.copies.figures().objects()).isEqualTo(3);
    for (String most : List.of("k0", "k1", "k2")) {
      assertThat(few.copied(most, VersionVector.EMPTY)).as(most).isNotNull();
    }
  }

  @Test
  void objectThatIsReadClearlyMore_takesThePlaceOfTheOneThatIsReadLeast() {
    CopyWorld.Reader few = world.new Reader("sa", new CopySettings(1 << 20, 3, 100));
    few.heat("k0", "k1", "k1", "k2", "k2");
    assertThat(few.copies.figures().objects()).isEqualTo(3);
    few.heat("k0", "k1", "k1", "k2", "k2", "k3", "k3", "k3", "k3");
    assertThat(few.copies.figures().objects()).isEqualTo(3);
    assertThat(few.copied("k3", VersionVector.EMPTY)).isNotNull();
    assertThat(few.copied("k2", VersionVector.EMPTY)).isNotNull();
    assertThat(few.copied("k0", VersionVector.EMPTY)).isNull();
    assertThat(few.copies.figures().dropped()).containsEntry("budget", 1L);
  }

  @Test
  void nothingMakesWay_forAnObjectOfAKeyspaceThatIsGone() {
    CopyWorld.Reader few = world.new Reader("sa", new CopySettings(1 << 20, 3, 100));
    few.heat("k0", "k1", "k2");
    assertThat(few.copies.figures().objects()).isEqualTo(3);
    Request.Read ofGone =
        new Request.Read(
            "gone",
            Key.of("k"),
            Optional.empty(),
            new Query.Whole(),
            VersionVector.EMPTY,
            false,
            0);
    Reply answer = new Reply.Answer(Optional.empty(), Optional.empty(), false, VersionVector.EMPTY);
    for (int i = 0; i < 1_000; i++) {
      few.told(ofGone, 0, answer, 100);
    }
    few.heat("k0", "k1", "k2");
    assertThat(few.copies.figures().dropped()).containsEntry("budget", 0L);
  }

  /** Its changes cost more than its reads, so it is tried more and more seldom. */
  @Test
  void objectWhoseChangesCostMore_isDropped_andFollowedSeldom() {
    String text = "x".repeat(20_000);
    long[] dropped = new long[2];
    for (int minute = 0; minute < 2; minute++) {
      for (int i = 0; i < 600; i++) {
        world.set("big", text + i);
        ap.copied("big", VersionVector.EMPTY);
        if (i % 3 == 0) {
          ap.forwarded("big", VersionVector.EMPTY); // of 100 bytes: a part of it is asked
        }
        world.pass(100);
      }
      dropped[minute] = requireNonNull(ap.copies.figures().dropped().get("unworthy"));
    }
    assertThat(dropped[0]).isPositive();
    assertThat(dropped[1] - dropped[0]).isLessThan(dropped[0]);
  }

  /** 100 counters, 2,000 reads a second, 50 increments a second, for a minute. */
  private static long bytesOfAHotSet(CopySettings settings) {
    CopyWorld world = new CopyWorld();
    CopyWorld.Reader reader = world.new Reader("ap", settings);
    Random random = new Random(1);
    for (int i = 0; i < 6_000; i++) {
      for (int k = 0; k < 20; k++) {
        reader.read("k" + random.nextInt(100));
      }
      if (i % 2 == 0) {
        world.increment("k" + random.nextInt(100));
      }
      world.pass(10);
    }
    return reader.bytes;
  }

  @Test
  void hotSet_takesATenthOfTheBytesOfForwarding() {
    long forwarded = bytesOfAHotSet(new CopySettings(0, 100, 100));
    long copied = bytesOfAHotSet(SETTINGS);
    assertThat(forwarded).isEqualTo(6_000 * 20 * 100);
    assertThat(copied).isLessThan(forwarded / 10);
  }

  /**
   * 200 counters, each read once in a period in the mean and changed once in ten: chance alone has
   * most of them read in none of three periods on end now and then.
   */
  @Test
  void objectsThatAreReadSeldomButAllTheTime_stayCopied_andSaveTheirBytes() {
    Random random = new Random(1);
    long hits = 0;
    long bytes = 0;
    for (int i = 0; i < 18_000; i++) {
      if (i == 6_000) {
        hits = ap.copies.figures().hits();
        bytes = ap.bytes;
      }
      ap.read("k" + random.nextInt(200));
      if (i % 10 == 0) {
        world.increment("k" + random.nextInt(200));
      }
      world.pass(10);
    }
    assertThat(ap.copies.figures().hits() - hits).isGreaterThan(12_000 * 99 / 100);
    assertThat(ap.bytes - bytes).isLessThan(12_000 * 100 / 10);
  }

  @Test
  void whatDependsOnWhereItIsRead_isNoCandidate_andWhatIsLarge_isNotFollowed() {
    world.boundedCounter("stock");
    ap.asking =
        ask -> {
          throw new AssertionError("it is asked");
        };
    ap.heat("stock");
    ap.asking = ask -> {};
    world.update(
        "large", CrdtType.LWW_REGISTER, new Operation.Assign(Value.of("x".repeat(40_000))));
    ap.heat("large");
    assertThat(ap.copies.figures().hits()).isZero();
    assertThat(ap.copies.figures().dropped().get("refused")).isPositive();
  }

  @Test
  void objectForWhichAHolderHasNoRoom_isNotCopied_andOthersAre() {
    long taken = (1 << 20) - 800;
    assertThat(world.ofFollowers.tryTake(taken)).isTrue();
    String large = "x".repeat(250);
    for (int i = 0; i < 100; i++) {
      ap.read("n");
      ap.read(large);
      ap.read(large);
      world.pass(100);
    }
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", 0L);
    assertThat(ap.copies.figures().dropped().get("refused")).isBetween(1L, 5L);
    assertThat(copied("n")).isNotNull();
  }

  /** Nobody has what was shown: a holder has lost it before it had sent it to others. */
  @Test
  void copyThatWaitsForWhatIsLost_endsThoughItIsRead_andComesBackOnceThatIsKnown() {
    copyOfN();
    Request.Read ofN = CopyWorld.Reader.question("n", VersionVector.EMPTY);
    VersionVector seen = VersionVector.of(CopyWorld.EU, 1_000_000);
    ap.passOn(ofN, new Reply.Answer(Optional.empty(), Optional.empty(), false, seen), 100);
    assertThat(copied("n")).isNull();
    for (int i = 0; i < 5; i++) {
      ap.heat("n");
    }
    assertThat(ap.copies.figures().dropped().get("unworthy")).isPositive();
    assertThat(copied("n")).as("nor does a new one have it").isNull();

    Reply lost = new Reply.Failure(ErrorCode.SESSION_LOST, "lost");
    ap.shown = VersionVector.EMPTY; // so it is asked for no more
    ap.told(ofN, 0, lost, 20);
    for (int i = 0; i < 3; i++) {
      ap.heat("n");
    }
    assertThat(copied("n")).isNotNull();
    long cut = requireNonNull(ap.copies.figures().dropped().get("cut"));
    ap.told(ofN, 0, lost, 20);
    assertThat(ap.copies.figures().dropped()).containsEntry("cut", cut + 1);
  }

  /** What a holder cannot say is not taken for nothing. */
  @Test
  void holderThatDoesNotHearOfChanges_tellsNothing() {
    world.increment("n");
    world.listens = false;
    ap.heat("n");
    assertThat(ap.copies.figures().hits()).isZero();
    world.listens = true;
    ap.heat("n");
    assertThat(copied("n")).isNotNull();
  }
}
