package io.osier.datacenter.copies;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.datacenter.config.CopySettings;
import io.osier.protocol.Reply;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What copies answer while none of the holders can be asked, in virtual time. */
final class StaleCopiesTest extends CopyFixture {
  private static final Duration ALLOWED = Duration.ofSeconds(60);

  /** A holder's questions wait for a tenth of what is allowed, and several wait at a time. */
  private static final Duration TOLERANCE = ALLOWED.dividedBy(5);

  @BeforeEach
  void allow() {
    world.stale = ALLOWED;
  }

  private Reply.@Nullable Answer stale(String key, VersionVector after) {
    return stale(ap, key, after);
  }

  private static Reply.@Nullable Answer stale(
      CopyWorld.Reader reader, String key, VersionVector after) {
    Copies.Answer answer = reader.copies.stale(CopyWorld.Reader.question(key, after));
    return answer == null ? null : (Reply.Answer) answer.reply();
  }

  private Reply.@Nullable Answer stale(String key) {
    return stale(key, VersionVector.EMPTY);
  }

  private static Duration age(Reply.Answer answer) {
    return answer.age().orElseThrow();
  }

  @Test
  void whileAHolderCanBeAsked_nothingIsStale() {
    copyOfN();
    assertThat(stale("n")).as("the copy is told all").isNull();
    assertThat(((Reply.Answer) requireNonNull(copied("n"))).age()).isEmpty();
    ap.cut();
    assertThat(copied("n")).as("as if it were told all").isNull();
    assertThat(stale("n")).isNotNull();
    ap.cut = false;
    assertThat(stale("n")).isNull();
  }

  @Test
  void whenTheyAreCutOff_theCopyAnswers_withItsAge_untilItIsTooOld() {
    copyOfN();
    ap.heat("n");
    ap.cut();
    long cut = world.millis();
    world.increment("n"); // nobody hears of it here
    Duration before = Duration.ZERO;
    int answered = 0;
    for (int i = 0; i < 100; i++) {
      Reply.Answer answer = stale("n");
      Duration since = Duration.ofMillis(world.millis() - cut);
      if (answer == null) {
        assertThat(since).isGreaterThan(ALLOWED.minus(TOLERANCE));
        assertThat(stale("n")).as("nor later").isNull();
      } else {
        answered++;
        assertThat(CopyWorld.count(answer)).isEqualTo(1);
        assertThat(age(answer)).isBetween(since, since.plus(TOLERANCE)).isGreaterThan(before);
        assertThat(age(answer)).isLessThanOrEqualTo(ALLOWED);
        before = age(answer);
      }
      world.pass(1_000);
    }
    assertThat(answered).isBetween(45, 60);
    assertThat(ap.copies.figures().staleReads()).isEqualTo(answered);
    assertThat(ap.copies.figures().staleObjects()).as("it is dropped").isZero();
    assertThat(ap.copies.figures().bytes()).isZero();
    world.pass(Duration.ofHours(1).toMillis());
    assertThat(world.time.pending()).as("nothing goes on").isZero();
  }

  @Test
  void withoutLeave_theCopyEndsWithItsSubscription() {
    world.stale = Duration.ZERO;
    copyOfN();
    ap.cut();
    assertThat(stale("n")).isNull();
    assertThat(ap.copies.figures().bytes()).isZero();

    CopyWorld.Reader sa = world.new Reader("sa", SETTINGS);
    world.stale = ALLOWED;
    sa.heat("n");
    sa.cut();
    assertThat(stale(sa, "n", VersionVector.EMPTY)).isNotNull();
    world.stale = Duration.ZERO; // the keyspace is altered meanwhile
    assertThat(stale(sa, "n", VersionVector.EMPTY)).isNull();
  }

  @Test
  void sessionThatHasSeenMore_isNotAnswered_andOneThatHasSeenLessIs() {
    copyOfN();
    Dot seen = world.increment("other");
    ap.heat("n");
    Dot more = world.increment("other");
    ap.cut();
    assertThat(stale("n", upTo(seen))).as("the copy is of later").isNotNull();
    assertThat(ap.shown("shop", 0).get(CopyWorld.EU)).isGreaterThanOrEqualTo(seen.number());
    assertThat(stale("n", upTo(more))).isNull();
  }

  @Test
  void ownUpdateThatTheCopyLacks_isNotHidden() {
    world.increment("m");
    copyOfN();
    ap.heat("m");
    ap.incremented("n");
    ap.cut();
    assertThat(stale("n")).isNull();
    assertThat(stale("m")).as("another object").isNotNull();
  }

  /** What an answer says was so when it was put together, and not when it comes. */
  @Test
  void wayOfTheLastAnswer_isInTheAge() {
    copyOfN();
    long[] changed = {0};
    ap.alters =
        answer -> {
          if (changed[0] == 0 && answer.through().isPresent()) {
            changed[0] = world.millis();
            world.increment("n"); // it is not in the answer
          }
          return answer;
        };
    while (changed[0] == 0) {
      ap.read("n");
      world.pass(1);
    }
    world.pass(changed[0] + CopyWorld.WAY_MILLIS - world.millis());
    ap.cut();
    Reply.Answer answer = requireNonNull(stale("n"));
    assertThat(CopyWorld.count(answer)).isEqualTo(1);
    assertThat(age(answer)).isGreaterThanOrEqualTo(Duration.ofMillis(world.millis() - changed[0]));
  }

  /** What is shown while it is not told goes on to be noted. */
  @Test
  void whatIsShownWhenTheLinkIsBack_isShownWhenItIsCutAgain() {
    world.increment("m");
    copyOfN();
    ap.heat("m");
    ap.cut();
    ap.cut = false;
    world.increment("n");
    assertThat(CopyWorld.count(ap.forwarded("n", VersionVector.EMPTY))).isEqualTo(2);
    ap.cut();
    assertThat(stale("n")).isNull();
    assertThat(stale("m")).isNotNull();

    ap.cut = false;
    scanShows(upTo(world.increment("other")));
    ap.cut();
    assertThat(stale("m")).as("it may have been shown by the scan").isNull();
  }

  @Test
  void renewedSubscription_isFresh_andStaleAgainWithWhatItWasTold() {
    copyOfN();
    ap.cut();
    world.pass(5_000);
    ap.cut = false;
    world.increment("n");
    ap.heat("n");
    assertThat(((Reply.Answer) requireNonNull(copied("n"))).age()).isEmpty();
    assertThat(CopyWorld.count(requireNonNull(copied("n")))).isEqualTo(2);
    assertThat(ap.copies.figures().staleObjects()).isZero();
    ap.cut();
    assertThat(CopyWorld.count(requireNonNull(stale("n")))).isEqualTo(2);
    assertThat(age(requireNonNull(stale("n")))).isLessThan(TOLERANCE);
  }

  /** The link is back for a moment, in which nothing is told. */
  @Test
  void linkThatFlaps_losesNoCopy() {
    copyOfN();
    ap.cut();
    for (int i = 0; i < 5; i++) {
      ap.cut = false;
      ap.read("n");
      world.pass(3_000);
      ap.cut();
      assertThat(stale("n")).isNotNull();
      world.pass(3_000);
    }
  }

  @Test
  void whatWasLost_andAnotherKeyspaceOfTheName_areNotShown() {
    copyOfN();
    ap.cut();
    world.creation = "second";
    assertThat(stale("n")).isNull();
    world.creation = "first";
    assertThat(stale("n")).isNotNull();
    ap.told(
        CopyWorld.Reader.question("n", VersionVector.EMPTY),
        0,
        new Reply.Failure(ErrorCode.SESSION_LOST, "lost"),
        10);
    assertThat(stale("n")).isNull();
    assertThat(ap.copies.figures().bytes()).isZero();
  }

  @Test
  void wrongType_isSaid_asAHolderDoes() {
    copyOfN();
    ap.cut();
    assertThat(requireNonNull(ap.copies.stale(ofWrongType())).reply())
        .isInstanceOf(Reply.Failure.class);
  }

  /** Copies that nobody tells any more make way for those that are told. */
  @Test
  void staleCopies_makeWay() {
    CopyWorld.Reader small = world.new Reader("sa", new CopySettings(1 << 20, 2, 100));
    for (String key : List.of("a", "b", "c", "d")) {
      world.increment(key);
    }
    small.heat("a", "b");
    small.cut();
    assertThat(small.copies.figures().staleObjects()).isEqualTo(2);
    small.cut = false;
    small.heat("c", "d");
    assertThat(small.copies.figures().objects()).isEqualTo(2);
    assertThat(small.copies.figures().staleObjects()).isZero();
  }

  /** No read here shows less than one before it, and none is older than it says. */
  @Test
  void randomly_noReadShowsLessThanWhatWasShown_orIsOlderThanItSays() {
    long stale = 0;
    for (long seed = 1; seed <= 60; seed++) {
      CopyWorld one = new CopyWorld();
      one.stale = ALLOWED;
      stale += randomly(seed, one);
    }
    assertThat(stale).isGreaterThan(1_000);
  }

  private static long randomly(long seed, CopyWorld world) {
    Random random = new Random(seed);
    CopyWorld.Reader reader = world.new Reader("ap", new CopySettings(6_000, 4, 1_000));
    Map<String, Long> shown = new HashMap<>();
    Map<String, TreeMap<Long, Long>> counts = new HashMap<>();
    for (int i = 0; i < 4_000; i++) {
      String key = "k" + random.nextInt(6);
      TreeMap<Long, Long> count = counts.computeIfAbsent(key, k -> new TreeMap<>(Map.of(0L, 0L)));
      switch (random.nextInt(100)) {
        case 0 -> reader.cut();
        case 1 -> reader.cut = false;
        case 2, 3, 4, 5 -> {
          if (!reader.cut) {
            reader.incremented(key);
            shown.put(key, world.count(key));
          } else {
            world.increment(key);
          }
          count.put(world.millis(), world.count(key));
        }
        case 6 -> world.pass(random.nextInt(5_000));
        case 7 -> world.lateMillis = random.nextInt(200);
        default -> {
          Reply reply = reader.copied(key, VersionVector.EMPTY);
          if (reply == null) {
            reply =
                reader.cut
                    ? stale(reader, key, VersionVector.EMPTY)
                    : reader.forwarded(key, VersionVector.EMPTY);
          }
          if (reply instanceof Reply.Answer answer && answer.reading().isPresent()) {
            long read = CopyWorld.count(answer);
            assertThat(read)
                .as("seed %s, step %s, %s", seed, i, key)
                .isGreaterThanOrEqualTo(shown.getOrDefault(key, 0L));
            shown.put(key, read);
            answer.age().ifPresent(age -> checkAge(seed, world, count, read, age));
          }
        }
      }
      world.pass(random.nextInt(20));
    }
    return reader.copies.figures().staleReads();
  }

  private static void checkAge(
      long seed, CopyWorld world, TreeMap<Long, Long> count, long read, Duration age) {
    assertThat(age).isLessThanOrEqualTo(ALLOWED);
    assertThat(read)
        .as("seed %s at %s, %s ago", seed, world.millis(), age)
        .isGreaterThanOrEqualTo(count.lowerEntry(world.millis() - age.toMillis()).getValue());
  }
}
