package io.osier.propagation.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Processes of one name and incarnation; time is stepped. */
final class PeerIdentitiesTest {
  private static final ReplicaId EU = new ReplicaId("eu", 100);

  private final PeerIdentities identities = new PeerIdentities();
  private long nanos;

  private final class Connection implements PeerIdentities.Line {
    private final List<String> told = new ArrayList<>();
    private final List<Long> probed = new ArrayList<>();

    @Override
    public void probe(long number) {
      probed.add(number);
    }

    @Override
    public void welcome() {
      told.add("welcome");
    }

    @Override
    public void refuse(String why) {
      told.add(why);
    }

    @Override
    public void close() {
      told.add("closed");
    }

    private Connection answers() {
      identities.answered(this, probed.getLast(), nanos).forEach(Runnable::run);
      return this;
    }

    private void ends() {
      identities.left(this, nanos).forEach(Runnable::run);
    }
  }

  private Connection greets(long start, Long... former) {
    return greets(start, List.of(former));
  }

  private Connection greets(long start, List<Long> former) {
    Connection connection = new Connection();
    PeerIdentities.PeerProcess process =
        new PeerIdentities.PeerProcess(EU, start, former, "host" + start);
    identities.greeted(connection, process, nanos).forEach(Runnable::run);
    return connection;
  }

  private void passes(long millis) {
    nanos += TimeUnit.MILLISECONDS.toNanos(millis);
  }

  /** Returns the connection of the first process, which has been connected for long. */
  private Connection settled(long start, Long... former) {
    Connection first = greets(start, former);
    assertThat(first.told).containsExactly("welcome");
    passes(PeerIdentities.YOUNG_MILLIS);
    return first;
  }

  private static void assertRefused(Connection connection, String... words) {
    assertThat(connection.told).hasSize(1);
    assertThat(connection.told.getFirst()).contains(words);
  }

  @Test
  void processThatWasStartedAnew_isLetIn_whenTheConnectionOfItsFormerLifeEnds() {
    Connection first = settled(1);
    Connection again = greets(2, 1L);
    assertThat(again.told).as("until it is known who lives").isEmpty();
    first.ends();
    assertThat(again.told).containsExactly("welcome");
  }

  @Test
  void secondOne_isRefused_whenTheFirstAnswersAProbeThatCameAfterItsGreeting() {
    Connection first = settled(1);
    Connection second = greets(2, 1L);
    long number = first.probed.getLast();
    identities.answered(first, number - 1, nanos).forEach(Runnable::run);
    assertThat(second.told).as("that was before it greeted").isEmpty();
    first.answers();
    assertRefused(second, "host1 was here first", "start 2 at host2");
    assertThat(first.told).containsExactly("welcome");
  }

  @Test
  void oneMoreConnectionOfTheSameProcess_isLetInAtOnce() {
    Connection first = settled(1);
    assertThat(greets(1).told).containsExactly("welcome");
    assertThat(first.probed).isEmpty();
  }

  @Test
  void whoGaveUpWaiting_isToldNothing() {
    Connection first = settled(1);
    Connection second = greets(2, 1L);
    second.ends();
    first.answers();
    first.ends();
    assertThat(second.told).isEmpty();
  }

  /** This datacenter has just started, so the process that dials faster is the first. */
  @Test
  void whereNobodyWasKnownBefore_bothAreRefused_untilOneIsNotHeardAnyMore() {
    Connection one = greets(1);
    passes(100);
    Connection other = greets(2, 1L);
    one.answers();
    assertRefused(other, "it cannot be told");
    assertThat(one.told).hasSize(2).last().asString().contains("it cannot be told");
    for (int i = 0; i < 20; i++) {
      passes(1_000);
      assertRefused(greets(1), "host1", "host2");
      assertRefused(greets(2, 1L), "host1", "host2");
    }
    passes(PeerIdentities.RIVAL_MILLIS);
    assertThat(greets(1).told).containsExactly("welcome");
  }

  @Test
  void whenTheFirstHasEnded_theSecondWaitsForItsReturn_andIsLetInThen() {
    Connection first = settled(1);
    Connection second = greets(2, 1L);
    first.answers();
    first.ends();
    passes(PeerIdentities.RIVAL_MILLIS - 1);
    assertThat(greets(2, 1L).told).doesNotContain("welcome");
    passes(1);
    assertThat(greets(2, 1L).told).containsExactly("welcome");
    assertThat(second.told).hasSize(1);
  }

  @Test
  void firstThatIsStartedAnew_isLetInBeforeTheSecond() {
    Connection first = settled(1);
    greets(2, 1L);
    first.answers();
    first.ends();
    assertThat(greets(3, 1L).told).containsExactly("welcome");
  }

  /**
   * A copy was started while the first process was cut off: neither of the two counts as the later
   * one.
   */
  @Test
  void firstThatComesBack_whileACopyIsHere_isNotTheLaterOne() {
    settled(1).ends();
    Connection copy = settled(2, 1L);
    Connection back = greets(1);
    copy.answers();
    assertRefused(back, "it cannot be told");
    assertThat(copy.told).last().asString().contains("it cannot be told");
  }

  /** Such a store would give its updates numbers that others have for different updates. */
  @Test
  void storeThatDoesNotKnowWhoSentTheLastUpdates_isRefused_whoeverLives() {
    settled(1).ends();
    Connection second = settled(2, 1L);
    identities.sent(second);
    second.ends();
    passes(TimeUnit.DAYS.toMillis(1));
    assertRefused(greets(3, 1L), "a copy from before start 2", "osier rebuild");
    assertThat(greets(4, 2L, 1L).told).containsExactly("welcome");
    List<Long> many = LongStream.rangeClosed(10, 9 + PeerIdentities.FORMER_MAX).boxed().toList();
    Connection old = greets(5, many);
    assertThat(old.told).as("it may have forgotten, and waits like others").isEmpty();
  }

  @Test
  void whoIsTooOldToTell_isTreatedAsBefore() {
    settled(0);
    assertThat(greets(0).told).containsExactly("welcome");
    assertThat(greets(1).told).as("upgraded").containsExactly("welcome");
    assertThat(greets(0).told).as("it may be the same one").containsExactly("welcome");
  }

  @Test
  void whoIsNoPeerAnyMore_isForgotten() {
    Connection first = settled(1);
    identities.sent(first);
    identities.forgetOthers(Set.of("us"));
    assertThat(greets(2).told).containsExactly("welcome");
    identities.sent(first);
    identities.forgetBefore(new ReplicaId("eu", 101));
    assertThat(greets(3).told).containsExactly("welcome");
  }

  /** No probe is answered for it any more, and it would wait for ever. */
  @Test
  void whoWaits_isClosed_whenItsNameIsForgotten_andMayComeAgain() {
    settled(1);
    Connection waits = greets(2, 1L);
    identities.forgetOthers(Set.of("eu")).forEach(Runnable::run);
    identities.forgetBefore(EU).forEach(Runnable::run);
    assertThat(waits.told).as("it is still who it is").isEmpty();
    identities.forgetOthers(Set.of("us")).forEach(Runnable::run);
    assertThat(waits.told).containsExactly("closed");
    settled(3);
    Connection former = greets(4, 3L);
    identities.forgetBefore(new ReplicaId("eu", 101)).forEach(Runnable::run);
    assertThat(former.told).containsExactly("closed");
  }

  /**
   * Both processes dial and are dialled: the one that could answer the second probe is refused,
   * too.
   */
  @Test
  void whoWaitsForOneThatIsRefusedMeanwhile_isJudgedAnew() {
    Connection one = greets(1);
    Connection other = greets(2, 1L);
    long number = one.probed.getLast();
    Connection otherWay = greets(2, 1L);
    identities.answered(one, number, nanos).forEach(Runnable::run);
    assertRefused(other, "it cannot be told", "host1", "host2");
    assertRefused(otherWay, "it cannot be told", "host1", "host2");
    assertThat(one.told).last().asString().contains("it cannot be told", "host1", "host2");
  }

  /** The reason names the process that is connected now, and not one that was refused before. */
  @Test
  void whoIsRefusedBesideAnother_isToldOfThatOne() {
    settled(5).ends();
    Connection one = settled(1, 5L);
    greets(2, 1L);
    one.answers();
    Connection back = greets(5);
    one.answers();
    assertRefused(back, "it cannot be told", "start 5 at host5 and start 1 at host1");
    assertThat(one.told).last().asString().contains("start 1 at host1 and start 5 at host5");
  }
}
