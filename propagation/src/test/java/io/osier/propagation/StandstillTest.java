package io.osier.propagation;

import static io.osier.propagation.Script.elements;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.StreamSettings;
import io.osier.propagation.wire.Frame;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * In a causal keyspace, a part of a large state was received that takes more than the budget for
 * waiting updates, and its sender is not heard any more. Neither others nor the sender itself, when
 * it comes back, may wait for that budget for ever.
 */
final class StandstillTest {
  private Script script = script(500);

  private static Script script(int waitingBytes) {
    StreamSettings.Memory little = new StreamSettings.Memory(64 << 20, 16 << 20, waitingBytes);
    return new Script(
        new StreamSettings(1 << 10, 1 << 10, 1_000, 200, 3_600_000, 10_000)
            .pulling(200)
            .within(little));
  }

  private String run(String... commands) {
    return script.runAll(commands);
  }

  /** Cuts the link when six of eight ranges of "k" were received. */
  private void someWasPulled(int waitingBytes) {
    script = script(waitingBytes);
    run("start causal ap eu us", "run 1000", "cut eu us", "cut ap eu");
    run("eu add k" + elements(100, 160), "run 700000");
    assertThat(run("join eu us", "run 190", "cut eu us")).contains("entries of");
  }

  private void add(String dc, String key, int elements) {
    for (int i = 0; i < elements; i++) {
      run(dc + " add " + key + " " + key + i, "run 50");
    }
  }

  /**
   * Frames are not taken at all, or not acknowledged: then the window is spent after some frames.
   */
  @ParameterizedTest
  @ValueSource(ints = {300, 500})
  void othersGoOn_whileItIsNotHeard(int waitingBytes) {
    someWasPulled(waitingBytes);
    add("ap", "m", 100);
    assertThat(script.state("us", "m")).isEqualTo(script.state("ap", "m"));
    assertThat(script.waitingBytes("us")).isGreaterThan(waitingBytes);
    run("run 40000", "ap add m x", "run 1000");
    assertThat(script.waitingBytes("us")).as("it comes once more").isZero();
    run("join eu us", "run 10000");
    assertThat(script.state("us", "k")).isEqualTo(script.state("eu", "k"));
  }

  /**
   * Otherwise the state would never be received, if the sender were cut off that long again and
   * again.
   */
  @Test
  void itMakesRoom_everMoreSeldom() {
    someWasPulled(300);
    run("run 40000", "ap add m x", "run 1000");
    assertThat(script.waitingBytes("us")).isZero();
    run("join eu us", "run 190", "cut eu us");
    long came = script.waitingBytes("us");
    run("run 40000", "ap add m y", "run 1000");
    assertThat(script.waitingBytes("us")).isPositive().isEqualTo(came);
    run("run 30000", "ap add m z", "run 1000");
    assertThat(script.waitingBytes("us")).isZero();
    run("join eu us", "run 10000");
    assertThat(script.state("us", "k")).isEqualTo(script.state("eu", "k"));
  }

  /** As above, with small objects, some of which a scan has brought. */
  @Test
  void othersGoOn_whileAScanIsNotHeard() {
    run("start causal ap eu us", "run 1000", "cut eu us", "cut ap eu");
    for (int i = 0; i < 100; i++) {
      run("eu add s" + i + " x");
    }
    run("run 700000", "join eu us", "run 60", "cut eu us");
    assertThat(script.waitingBytes("us")).isGreaterThan(1_000);
    add("ap", "m", 100);
    assertThat(script.state("us", "m")).isEqualTo(script.state("ap", "m"));
    run("run 40000", "ap add m x", "run 1000");
    assertThat(script.waitingBytes("us")).isZero();
    run("join eu us", "run 10000");
    for (int i = 0; i < 100; i++) {
      assertThat(script.state("us", "s" + i)).isEqualTo(script.state("eu", "s" + i));
    }
  }

  /** The pull is nearly complete, and then makes room. */
  @Test
  void othersWait_whileItGoesOn() {
    script = script(100);
    run("start causal ap eu us", "run 1000", "cut eu us", "cut ap eu");
    run("eu add k" + elements(100, 160), "run 700000", "join eu us", "run 190");
    assertThat(run("ap add m x", "run 40")).doesNotContain("shows");
    assertThat(run("run 3000")).contains("shows {k=").contains("shows {m=");
  }

  @ParameterizedTest
  @ValueSource(ints = {300, 500})
  void itGoesOn_whenItComesBack(int waitingBytes) {
    someWasPulled(waitingBytes);
    run("run 3000", "join eu us", "run 10000");
    assertThat(script.state("us", "k")).isEqualTo(script.state("eu", "k"));
  }

  /** When the sender comes back, it offers another object. */
  @ParameterizedTest
  @ValueSource(ints = {300, 500})
  void itGoesOn_whenItIsNotOfferedAnyMore(int waitingBytes) {
    someWasPulled(waitingBytes);
    run("eu clear k", "eu add l" + elements(100, 160), "run 3000", "join eu us", "run 10000");
    assertThat(script.state("us", "l")).isEqualTo(script.state("eu", "l"));
    add("ap", "m", 100);
    assertThat(script.state("us", "m")).isEqualTo(script.state("ap", "m"));
  }

  /** The sender is heard, but sends nothing more of the offered state. */
  @Test
  void othersGoOn_whileItIsSilentAboutIt() {
    script = script(500);
    run("start causal ap eu us", "run 1000", "cut eu us", "cut ap eu");
    run("eu add k" + elements(100, 160), "run 700000");
    run("join eu us", "run 190");
    script.loses((link, frame) -> link.equals("eu>us") && !(frame instanceof Frame.Status));
    add("ap", "m", 100);
    run("run 40000");
    assertThat(script.state("us", "m")).isEqualTo(script.state("ap", "m"));
    assertThat(script.waitingBytes("us")).isZero();
    script.loses((link, frame) -> false);
    run("run 40000");
    assertThat(script.state("us", "k")).isEqualTo(script.state("eu", "k"));
  }
}
