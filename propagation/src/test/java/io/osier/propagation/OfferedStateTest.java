package io.osier.propagation;

import static io.osier.propagation.Script.elements;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.osier.crdt.state.CrdtState;
import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import io.osier.testing.EachConsistency;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Large states of which a peer that was away for long pulls the entries that it lacks. */
final class OfferedStateTest {
  /** After this time the shipped log does not wait for the peer any more. */
  private static final String LONG = "run 700000";

  private final Script script = new Script(StreamSettings.DEFAULT.pulling(200));

  private String run(String... commands) {
    return script.runAll(commands);
  }

  /** Separates the peer, which then has nothing of a large set "k" and a small one "l". */
  private void separated() {
    separated("session");
  }

  private void separated(String consistency) {
    run("start " + consistency + " eu us", "run 1000", "cut eu us");
    run("eu add k" + elements(100, 160), "eu add l y", LONG);
  }

  /** Returns for how many ranges entries were sent. */
  private static long ranges(String told) {
    return FrameTexts.ranges(told, "[a-z]+>[a-z]+");
  }

  private CrdtState at(String dc) {
    return script.state(dc, "k");
  }

  @Test
  void whatIsLacking_isPulled_whileOthersGoOn() {
    separated();
    String all = run("join eu us", "run 60", "eu add l z", "run 3000");
    assertThat(all).contains("offer k", "8 ranges", "pulled").doesNotContain("k whole");
    assertThat(all.indexOf("shows {l=y z}")).isPositive().isLessThan(all.indexOf("shows {k="));
    assertThat(ranges(all)).isEqualTo(8);
    assertThat(at("us")).isEqualTo(at("eu"));

    run("cut eu us", "eu add k e1500", LONG);
    String some = run("join eu us", "run 60", "eu add k e1600", "run 3000");
    assertThat(some).contains("offer k", "pulled").doesNotContain("k whole");
    assertThat(ranges(some)).isLessThan(8);
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /** An offer that is repeated while its entries are in flight does not bring them twice. */
  @EachConsistency
  void bySlowLink_allIsSentOnce(String consistency) {
    run("start " + consistency + " eu us", "run 1000", "cut eu us");
    for (int i = 0; i < 16; i++) {
      run("eu add k" + i + elements(100, 160));
    }
    String told = run(LONG, "slow eu us 1000", "join eu us", "run 200000");
    assertThat(ranges(told)).isEqualTo(16 * 8);
    for (int i = 0; i < 16; i++) {
      assertThat(script.state("us", "k" + i)).isEqualTo(script.state("eu", "k" + i));
    }
  }

  @Test
  void whatIsTheSame_isNotSent() {
    separated();
    run("join eu us", "run 3000", "cut eu us", "us add k x", "run 100", "eu add k x", LONG);
    String told = run("join eu us", "run 3000");
    assertThat(ranges(told)).as("by both").isLessThanOrEqualTo(4);
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /** A cut is not closed before the states that belong to it were pulled. */
  @Test
  void ofACausalKeyspace_allIsShownInOneStep() {
    separated("causal");
    String all = run("join eu us", "run 60", "eu add l z", "run 3000");
    assertThat(all).contains("offer k", "8 ranges", "pulled").doesNotContain("k whole");
    assertThat(all).contains("us     shows {k=").doesNotContain("us     shows {l=");
    assertThat(at("us")).isEqualTo(at("eu"));

    run("cut eu us", "eu add k e1500", "eu add l x", LONG);
    String some = run("join eu us", "run 60", "eu add k e1600", "eu add l w", "run 3000");
    assertThat(some).contains("offer k", "pulled").doesNotContain("k whole");
    assertThat(ranges(some)).isLessThan(8);
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /**
   * The pulled state waits for ap's updates, and reads the entries that it shares with the version
   * here by a lease. When the lease ends, as in a process that was stopped for minutes, the state
   * is sent once more.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofACausalKeyspace_whatWaits_isNotReadWithoutItsLease(boolean ends) {
    LeasedEntries leases = new LeasedEntries();
    script.leases(leases);
    run("start causal ap eu us", "run 1000", "eu add k" + elements(100, 160), "run 3000");
    run("cut eu us", "cut ap us", "ap add m x", "run 3000", "eu add k e1500", LONG);
    script.loses((link, frame) -> frame instanceof Frame.States);
    String waits = run("join eu us", "run 3000");
    assertThat(waits).contains("offer k", "pulled").doesNotContain("us     shows", "k whole");
    if (ends) {
      leases.end();
    }
    String anew = run("run 20000");
    assertThat(anew.contains("offer k")).as(anew).isEqualTo(ends);
    assertThat(anew).doesNotContain("us     shows");
    script.loses((link, frame) -> false);
    assertThat(run("join ap us", "run 5000")).contains("us     shows {k=");
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /** The deadline must be the same one, even if no entry is lacking. */
  @EachConsistency
  void deadline_comesWithTheOffer(String consistency) {
    separated(consistency);
    run("eu expire k 5000000");
    String all = run("join eu us", "run 3000");
    assertThat(all).contains("offer k", "pulled").doesNotContain("k whole");
    assertThat(at("us")).isEqualTo(at("eu"));

    run("cut eu us", "eu expire k 6000000", LONG);
    String deadline = run("join eu us", "run 3000");
    assertThat(deadline).contains("offer k", "pulled").doesNotContain("k whole", "entries");
    assertThat(at("us")).isEqualTo(at("eu"));
    assertThat(at("us").expires()).isTrue();
  }

  /**
   * Each of two streams brings more than the budget for waiting updates: one of them goes on at a
   * time.
   */
  @EachConsistency
  void withLittleRoom_allIsPulledAllTheSame(String consistency) {
    StreamSettings.Memory little = new StreamSettings.Memory(64 << 20, 16 << 20, 500);
    Script narrow = new Script(StreamSettings.DEFAULT.pulling(200).within(little));
    StringBuilder told = new StringBuilder();
    for (String command :
        List.of(
            "start " + consistency + " ap eu us",
            "run 1000",
            "cut ap us",
            "cut eu us",
            "ap add k" + elements(100, 160),
            "eu add k" + elements(150, 200),
            "eu add l" + elements(100, 160),
            "ap add m" + elements(100, 160),
            LONG,
            "join ap us",
            "join eu us",
            "run 60000")) {
      told.append(narrow.run(command));
    }
    assertThat(told).contains("pulled");
    for (String key : List.of("k", "l", "m")) {
      assertThat(narrow.state("us", key)).isEqualTo(narrow.state("eu", key)).isNotNull();
      assertThat(narrow.state("ap", key)).isEqualTo(narrow.state("eu", key));
    }
  }

  @EachConsistency
  void peerThatDoesNotPull_isGivenTheState(String consistency) {
    separated(consistency);
    script.loses((link, frame) -> frame instanceof Frame.Pull);
    assertThat(run("join eu us", "run 200000")).contains("offer k", "k whole");
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /** Otherwise later updates would be all that the peer has of the object. */
  @EachConsistency
  void peerThatDoesNotPull_isNotGivenLaterUpdatesAlone(String consistency) {
    separated(consistency);
    script.loses((link, frame) -> frame instanceof Frame.Pull || frame instanceof Frame.Fetch);
    String told = run("join eu us", "run 60", "eu add k e1500", "run 200000");
    assertThat(told).contains("offer k", "k whole").doesNotContain("shows {k=e1500");
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /**
   * Updates that were made after the offer, and that the shipped log has dropped, are sent, too.
   */
  @EachConsistency
  void whatIsPulledForLong_isWhole_thoughTheShippedLogHasNoRoom(String consistency) {
    Script little =
        new Script(
            StreamSettings.DEFAULT
                .pulling(200)
                .within(new StreamSettings.Memory(2_000, 16 << 20, 32 << 20)));
    little.runAll("start " + consistency + " eu us", "run 1000", "cut eu us");
    little.runAll("eu add k" + elements(100, 160), LONG);
    little.loses((link, frame) -> frame instanceof Frame.Entries || frame instanceof Frame.Fetch);
    assertThat(little.runAll("join eu us", "run 60")).contains("offer k");
    little.runAll("eu add k e1500", "run 60");
    // One object takes nearly all of the log's room, and is dropped for the last of them.
    for (String other : List.of("a", "b", "c", "d", "e", "f", "g".repeat(1_200), "h", "i")) {
      little.runAll("eu add " + other + " x", "run 60");
    }
    little.runAll("eu add k e1600", "run 60");
    little.loses((link, frame) -> frame instanceof Frame.Fetch);
    assertThat(little.runAll("run 20000")).contains("pulled");
    assertThat(little.state("us", "k")).isEqualTo(little.state("eu", "k"));
  }

  static Stream<Arguments> frames() {
    return Stream.of(Frame.Offer.class, Frame.Pull.class, Frame.Ranges.class, Frame.Entries.class)
        .flatMap(c -> Stream.of(arguments("session", c), arguments("causal", c)));
  }

  @ParameterizedTest
  @MethodSource("frames")
  void frameThatIsLost_isMadeGood(String consistency, Class<?> type) {
    separated(consistency);
    for (int nth = 0; nth < 6; nth++) {
      int lost = nth;
      int[] seen = {0};
      script.loses((link, frame) -> type.isInstance(frame) && seen[0]++ == lost);
      run("join eu us", "run 9000");
      assertThat(at("us")).as("without number " + nth).isEqualTo(at("eu"));
      run("cut eu us", "eu add k" + elements(1_000 * nth, 1_000 * nth + 60), LONG);
    }
  }

  /** The report that everything was received is repeated, whatever the number of the offer. */
  @EachConsistency
  void whatIsPulled_isNotPulledAgain_whenThatItIsWasLost(String consistency) {
    separated(consistency);
    int[] done = {0};
    int[] pages = {0};
    script.loses(
        (link, frame) -> {
          pages[0] += frame instanceof Frame.Ranges && done[0] > 0 ? 1 : 0;
          return frame instanceof Frame.Pull pull && pull.done() && done[0]++ < 2;
        });
    run("join eu us", "run 9000");
    assertThat(done[0]).isEqualTo(3);
    assertThat(pages[0]).isZero();
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  @EachConsistency
  void linkThatIsCut_costsWhatHasNotCome(String consistency) {
    separated(consistency);
    run("join eu us", "run 190", "cut eu us", "eu add k e1500", LONG);
    String told = run("join eu us", "run 3000");
    assertThat(ranges(told)).as("of eight, six had come").isEqualTo(2);
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /**
   * All of one set was received and waits for the end of the cut, to which the other set belongs.
   */
  @Test
  void ofACausalKeyspace_whatHasCome_needNotComeAgain_whenTheLinkIsCut() {
    run("start causal eu us", "run 1000", "cut eu us", "eu add k" + elements(100, 160));
    run("eu add l" + elements(100, 400), LONG);
    String some = run("join eu us", "run 500", "cut eu us");
    assertThat(some).contains("us>eu  pulled").doesNotContain("shows");
    long came = ranges(some);
    assertThat(came).isGreaterThan(8);
    String rest = run("join eu us", "run 5000");
    assertThat(ranges(rest)).isEqualTo(8 + 38 - came);
    assertThat(at("us")).isEqualTo(at("eu"));
    assertThat(script.state("us", "l")).isEqualTo(script.state("eu", "l"));
  }

  @Test
  void whatHasCome_isCounted_whenItIsOfferedAnew() {
    separated();
    run("join eu us", "run 190", "cut eu us");
    long came = script.waitingBytes("us");
    assertThat(came).isPositive();
    run("eu add k e1500", LONG, "join eu us", "run 100");
    assertThat(script.waitingBytes("us")).isGreaterThanOrEqualTo(came);
  }

  /** Otherwise the peer would go on requesting a stream, and count its sender as out of reach. */
  @Test
  void streamHasBegun_whileSomethingIsPulled() {
    run("start session eu us", "run 1000", "cut eu us", "eu add k" + elements(100, 160), LONG);
    assertThat(run("join eu us", "run 70")).contains("eu>us  CATCH_UP 2.1", "us>eu  ack 2.1");
    assertThat(run("run 3000")).contains("pulled");
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /**
   * Other objects were sent after it in the stream, and the peer has stored a place behind them.
   */
  @EachConsistency
  void linkThatIsCutForAMoment_losesNothing(String consistency) {
    separated(consistency);
    run("join eu us", "run 190", "cut eu us", "run 3000");
    assertThat(run("join eu us", "run 3000")).contains("offer k");
    assertThat(at("us")).isEqualTo(at("eu"));
  }

  /**
   * Whatever frames are lost or duplicated, only states that existed are shown, and the datacenters
   * converge. In a causal keyspace that holds for all objects together.
   */
  @EachConsistency
  void atAnyTime_somethingIsShownThatWas(String consistency) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    separated(consistency);
    boolean causal = consistency.equals("causal");
    List<List<@Nullable CrdtState>> were = new ArrayList<>(List.of(at("eu", causal)));
    script.loses((link, frame) -> !(frame instanceof Frame.Status) && random.nextInt(12) == 0);
    script.repeats((link, frame) -> random.nextInt(8) == 0);
    int pulls = 0;
    for (int round = 0; round < 6; round++) {
      StringBuilder told = new StringBuilder(run("join eu us"));
      for (int i = 0; i < 40; i++) {
        told.append(run("run " + random.nextInt(90)));
        if (random.nextInt(3) == 0) {
          run("eu add " + (random.nextBoolean() ? "k" : "l") + " e" + random.nextInt(400));
          were.add(at("eu", causal));
        }
        if (told.indexOf("shows {k=") >= 0) {
          assertThat(were).as("seed " + seed).contains(at("us", causal));
        }
      }
      told.append(run("run 600000"));
      assertThat(at("us", causal)).as("seed " + seed).isEqualTo(at("eu", causal));
      pulls += told.indexOf("pulled") >= 0 ? 1 : 0;
      run("cut eu us", "eu add k" + elements(random.nextInt(300), 310));
      were.add(at("eu", causal));
      run(LONG);
    }
    assertThat(pulls).as("rounds with a pull, seed " + seed).isPositive();
  }

  private List<@Nullable CrdtState> at(String dc, boolean withTheOther) {
    List<@Nullable CrdtState> states = new ArrayList<>();
    states.add(at(dc));
    if (withTheOther) {
      states.add(script.state(dc, "l"));
    }
    return states;
  }
}
