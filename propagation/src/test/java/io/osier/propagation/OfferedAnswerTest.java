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
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Large states in answers of a third datacenter, of which only the lacking entries are pulled. */
final class OfferedAnswerTest {
  private final Script script = new Script(StreamSettings.DEFAULT.pulling(200));

  private String run(String... commands) {
    return script.runAll(commands);
  }

  /**
   * Creates eu and ap, which never hear each other; us has a large set "k" and a small one "l" of
   * eu.
   */
  private void separated(String consistency) {
    run("start " + consistency + " ap eu us", "cut ap eu", "cut ap us", "run 5000");
    run("eu add k" + elements(100, 160), "eu add l y", "run 1000");
  }

  private static long ranges(String told) {
    return FrameTexts.ranges(told, "us>ap");
  }

  private CrdtState at(String dc) {
    return script.state(dc, "k");
  }

  @EachConsistency
  void whatIsLacking_isPulled(String consistency) {
    separated(consistency);
    String all = run("join ap us", "run 30000");
    assertThat(all).contains("states of eu", "offers k").doesNotContain("us>ap  [k whole");
    assertThat(ranges(all)).isEqualTo(8);
    assertThat(at("ap")).isEqualTo(at("eu"));
  }

  /** The repair names what all of its states show; it is admitted when all of them are here. */
  @Test
  void ofACausalKeyspace_allIsShownInOneStep() {
    separated("causal");
    run("eu both k l x", "run 1000");
    String all = run("join ap us", "run 30000");
    assertThat(all).contains("ap     shows {k=").doesNotContain("ap     shows {l=");
    assertThat(at("ap")).isEqualTo(at("eu"));
  }

  static Stream<Arguments> frames() {
    return Stream.of(
            Frame.StatesAndOffer.class, Frame.Pull.class, Frame.Ranges.class, Frame.Entries.class)
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
      String told = run("join ap us", "run 60000");
      assertThat(at("ap")).as("without number " + nth + "\n" + told).isEqualTo(at("eu"));
      run("cut ap us", "eu add k" + elements(1_000 * nth, 1_000 * nth + 60), "run 1000");
    }
  }

  /** The received part of an answer need not be sent again. */
  @EachConsistency
  void linkThatIsCut_costsWhatHasNotCome(String consistency) {
    separated(consistency);
    StringBuilder some = new StringBuilder(run("join ap us"));
    while (ranges(some.toString()) < 4) {
      some.append(run("run 10"));
    }
    run("run 20", "cut ap us", "run 5000");
    long came = ranges(some.toString());
    assertThat(came).isLessThan(8);
    String rest = run("join ap us", "run 60000");
    assertThat(ranges(rest)).as(some + "\n---\n" + rest).isEqualTo(8 - came);
    assertThat(at("ap")).isEqualTo(at("eu"));
  }

  /** Requests that are repeated while their answers are in flight bring most entries only once. */
  @EachConsistency
  void bySlowLink_allComes(String consistency) {
    run("start " + consistency + " ap eu us", "cut ap eu", "cut ap us", "run 1000");
    run("eu add k" + elements(100, 800), "run 1000");
    String all = run("slow us ap 2000", "join ap us", "run 100000");
    assertThat(at("ap")).isEqualTo(at("eu"));
    assertThat(ranges(all)).isBetween(87L, 120L);
  }

  /** The leases end, as in a process that was stopped for minutes: the state is sent once more. */
  @EachConsistency
  void whatIsLost_comesOnceMore(String consistency) {
    LeasedEntries entries = new LeasedEntries();
    script.leases(entries);
    separated(consistency);
    for (int i = 0; i < 12; i++) {
      StringBuilder told = new StringBuilder(run("join ap us"));
      while (told.indexOf("us>ap  entries") < 0) {
        told.append(run("run 20"));
      }
      run("run " + 20 * i);
      entries.end();
      told.append(run("run 400000"));
      assertThat(at("ap")).as("after " + 20 * i + " ms").isEqualTo(at("eu"));
      run("cut ap us", "eu add k" + elements(1_000 * i, 1_000 * i + 60), "run 1000");
    }
  }

  private void threeWithoutAp(String consistency) {
    run("start " + consistency + " ap as eu sa us", "cut ap as", "cut ap eu", "cut ap sa");
    run("cut ap us", "run 1000", "eu add k" + elements(100, 120), "as add k" + elements(120, 140));
    run("sa add k" + elements(140, 160), "run 1000");
  }

  /** The states of several origins are of one object, which is requested and sent once. */
  @EachConsistency
  void whatSeveralOriginsHaveDone_comesOnce(String consistency) {
    threeWithoutAp(consistency);
    StringBuilder all = new StringBuilder(run("join ap us"));
    while (all.indexOf("us>ap  entries") < 0) {
      all.append(run("run 20"));
    }
    all.append(run("ap add k own", "run 60000")); // it is newer than the offered version
    assertThat(all).contains("states of eu", "states of as", "states of sa");
    assertThat(ranges(all.toString())).isBetween(8L, 10L);
    assertThat(pages(all.toString())).isEqualTo(1);
    assertThat(at("ap")).isEqualTo(at("eu"));
  }

  /** The offered version is compared with the version here that is most like it. */
  @Test
  void whatCameWithTheStreamAndChanged_isPulledOnceMore() {
    threeWithoutAp("causal");
    StringBuilder all = new StringBuilder(run("us add k" + elements(160, 170), "join ap us"));
    while (all.indexOf("us>ap  entries") < 0) {
      all.append(run("run 20"));
    }
    all.append(run("us add k e111 e155", "run 60000"));
    assertThat(all).contains("states of eu", "states of as", "states of sa");
    assertThat(pages(all.toString())).isEqualTo(2);
    assertThat(at("ap")).isEqualTo(at("eu"));
  }

  /** Returns for how many versions ranges were compared. */
  private static long pages(String told) {
    return Pattern.compile("us>ap  [0-9]+ ranges").matcher(told).results().count();
  }

  @EachConsistency
  void deadline_comesWithTheOffer(String consistency) {
    separated(consistency);
    run("eu expire k 5000000", "run 1000");
    assertThat(run("join ap us", "run 30000")).contains("offers k").doesNotContain("k whole");
    assertThat(at("ap")).isEqualTo(at("eu"));
    assertThat(at("ap").expires()).isTrue();
  }

  /** States are also pulled if they were fetched because some of their updates are missing. */
  @Test
  void whatIsFetched_isPulled() {
    run("start session ap eu us", "run 1000", "eu add k" + elements(100, 160), "run 1000");
    // us builds on an update of eu which ap never gets, since eu does not know that it was lost.
    run("mute eu ap", "eu add k e200", "run 100", "us add k e201", "run 100");
    script.loses((link, frame) -> frame instanceof Frame.Heal);
    String told = run("run 60000");
    assertThat(told).contains("fetch [k]", "states of what was asked", "offers k");
    assertThat(told).doesNotContain("us>ap  [k whole");
    assertThat(ranges(told)).isBetween(1L, 3L);
    assertThat(at("ap")).isEqualTo(at("us"));
  }

  /** Small states do not wait until large ones have been pulled. */
  @Test
  void whatIsLarge_isFetchedLast() {
    run("start session ap eu us", "run 1000", "eu add k" + elements(100, 160), "run 1000");
    run("mute eu ap", "eu add k e200", "eu add l x", "run 100", "us add k e201", "us add l y");
    script.loses((link, frame) -> frame instanceof Frame.Heal);
    assertThat(run("run 60000")).contains("fetch [l, k]");
    assertThat(at("ap")).isEqualTo(at("us"));
    assertThat(script.state("ap", "l")).isEqualTo(script.state("us", "l"));
  }

  /**
   * Frames are lost or duplicated, or the link is cut: the datacenters converge, and show all or
   * nothing.
   */
  @EachConsistency
  void itConverges(String consistency) {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    separated(consistency);
    List<CrdtState> were = new ArrayList<>(List.of(at("eu")));
    script.loses((link, frame) -> !(frame instanceof Frame.Status) && random.nextInt(12) == 0);
    script.repeats((link, frame) -> random.nextInt(8) == 0);
    int pulls = 0;
    for (int round = 0; round < 5; round++) {
      StringBuilder told = new StringBuilder(run("join ap us"));
      for (int i = 0; i < 40; i++) {
        told.append(run("run " + random.nextInt(700)));
        if (random.nextInt(8) == 0) {
          run("cut ap us", "run " + random.nextInt(3_000), "join ap us");
        }
        if (random.nextInt(3) == 0) {
          run("eu add k e" + random.nextInt(400));
          were.add(at("eu"));
        }
        if (told.indexOf("ap     shows {k=") >= 0) {
          assertThat(were).as("seed " + seed).contains(at("ap"));
        }
      }
      told.append(run("run 900000"));
      assertThat(at("ap")).as("seed " + seed).isEqualTo(at("eu"));
      pulls += told.indexOf("offers k") >= 0 ? 1 : 0;
      run("cut ap us", "eu add k" + elements(random.nextInt(300), 310), "run 5000");
      were.add(at("eu"));
    }
    assertThat(pulls).as("seed " + seed).isPositive();
  }
}
