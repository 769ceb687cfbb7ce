package io.osier.datacenter.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.codec.MalformedException;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** What datacenters know of each other's status; without a network, a thread or a clock. */
final class StatusBoardTest {
  private static final long SECOND = 1_000_000_000L;

  private final StatusBoard eu = new StatusBoard(List.of("us", "ap"));

  @Test
  void whoIsNotHeardOf_isAskedForByWayOfOthers() {
    assertThat(eu.ask(0).missing()).containsExactlyInAnyOrder("us", "ap");
    eu.told("ap", new StatusBoard.Tell("ap", 0, "{}"), 0);
    assertThat(eu.ask(SECOND).missing()).containsExactly("us");
    eu.told("ap", new StatusBoard.Tell("us", 200, "{1}"), SECOND);
    assertThat(eu.heard(SECOND))
        .containsExactly(
            new StatusBoard.Heard("ap", 1_000, "ap", "{}"),
            new StatusBoard.Heard("us", 200, "ap", "{1}"));
    assertThat(eu.ask(SECOND).missing()).as("hearsay does not end the asking").contains("us");
    assertThat(eu.ask(4 * SECOND).missing()).containsExactlyInAnyOrder("us", "ap");
  }

  @Test
  void olderNews_doNotReplaceNewer_andNamesNobodyConfigured_areNotKept() {
    eu.told("us", new StatusBoard.Tell("us", 0, "{new}"), 5 * SECOND);
    eu.told("ap", new StatusBoard.Tell("us", 3_000, "{old}"), 5 * SECOND);
    eu.told("us", new StatusBoard.Tell("xx", 0, "{}"), 5 * SECOND);
    eu.told("xx", new StatusBoard.Tell("us", 0, "{}"), 6 * SECOND);
    assertThat(eu.heard(5 * SECOND)).containsExactly(new StatusBoard.Heard("us", 0, "us", "{new}"));
  }

  @Test
  void whatIsKnownFirstHand_isToldToWhoMissesIt_untilItIsOld() {
    eu.told("us", new StatusBoard.Tell("us", 0, "{1}"), 0);
    assertThat(eu.further("ap", new StatusBoard.Ask(Set.of("us", "ap", "xx"))))
        .containsExactly("us");
    assertThat(eu.known(Set.of("us"), SECOND))
        .containsExactly(new StatusBoard.Tell("us", 1_000, "{1}"));
    eu.told("ap", new StatusBoard.Tell("us", 0, "{2}"), 2 * SECOND);
    assertThat(eu.known(Set.of("us"), 2 * SECOND)).as("hearsay goes no further").isEmpty();
    assertThat(eu.heard(62 * SECOND)).hasSize(1);
    assertThat(eu.heard(63 * SECOND)).as("nobody's status any more").isEmpty();
  }

  @Test
  void whoAsksAllTheTime_isAnsweredNowAndThen() {
    assertThat(eu.mayAnswer("us", 0)).isTrue();
    assertThat(eu.mayAnswer("us", 299_000_000)).isFalse();
    assertThat(eu.mayAnswer("ap", 299_000_000)).isTrue();
    assertThat(eu.mayAnswer("us", 300_000_000)).isTrue();
    assertThat(eu.mayAnswer("xx", SECOND)).isFalse();
  }

  @Test
  void notes_areReadBack() {
    for (StatusBoard.Note note :
        List.of(
            new StatusBoard.Ask(Set.of()),
            new StatusBoard.Ask(Set.of("us", "ap")),
            new StatusBoard.Tell("us", 7, "{\"δ\":1}"))) {
      assertThat(StatusBoard.decode(StatusBoard.encode(note))).isEqualTo(note);
    }
    String large = "x".repeat(StatusBoard.STATUS_BYTES_MAX);
    byte[] most = StatusBoard.encode(new StatusBoard.Tell("us", Long.MAX_VALUE, large));
    assertThat(most).hasSizeLessThanOrEqualTo(64 << 10);
    assertThat(StatusBoard.decode(most)).isInstanceOf(StatusBoard.Tell.class);
    assertThatThrownBy(
            () ->
                StatusBoard.decode(StatusBoard.encode(new StatusBoard.Tell("us", 0, large + "x"))))
        .isInstanceOf(MalformedException.class);
  }

  @Property(tries = 2_000)
  void anyBytes_areReadOrMalformed_andNothingElse(@ForAll @Size(max = 40) byte[] bytes) {
    try {
      StatusBoard.decode(bytes);
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
