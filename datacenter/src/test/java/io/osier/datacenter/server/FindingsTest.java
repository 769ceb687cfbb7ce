package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.propagation.host.Late;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is wrong is said in words, with a command; nothing is said where nothing is wrong. */
final class FindingsTest {
  private static final Facts.Link UP =
      new Facts.Link("us", true, "streaming", 12, -1, 0, 0, 100, 100);

  private static Facts facts(int second, List<String> obstacles, Facts.Link link, Facts.Space s) {
    return new Facts(
        second * 1_000L,
        "eu",
        7,
        second * 1_000L,
        "osier cli --connect eu:7400",
        obstacles,
        List.of(),
        List.of(link),
        List.of(s));
  }

  private static Facts.Space space(Late late, long overloads, long spent, List<Facts.Hot> hot) {
    return new Facts.Space(
        "shop",
        2_000,
        "adaptive",
        "session",
        true,
        0,
        1,
        1,
        1,
        0,
        0,
        0,
        0,
        0,
        late,
        0,
        overloads,
        Map.of("trails", spent),
        new Facts.Visibility(Collections.nCopies(45, 0L), 1, 2, 3),
        hot);
  }

  private static final Facts QUIET =
      facts(1, List.of(), UP, space(new Late(3, 4, 5, 6), 9, 2, List.of()));

  @Test
  void nothingIsSaid_whereNothingHasGoneWrongLately() {
    Facts later = facts(20, List.of(), UP, space(new Late(3, 4, 5, 9), 9, 2, List.of()));
    assertThat(Findings.of(later, QUIET)).isEmpty();
    assertThat(Findings.of(QUIET, QUIET)).isEmpty();
  }

  @Test
  void aCutLink_isAnError_withHowMuchWaits_andACatchUpIsANote() {
    Facts.Link cut = new Facts.Link("us", false, "waiting", 12_345, -1, 0, 0, 0, 0);
    assertThat(Findings.of(facts(2, List.of(), cut, QUIET.spaces().getFirst()), QUIET))
        .singleElement()
        .satisfies(
            f -> {
              assertThat(f.level()).isEqualTo(Findings.Level.ERROR);
              assertThat(f.what()).contains("eu → us is cut").contains("12 345 updates wait");
              assertThat(f.help()).isEqualTo("osier cli --connect eu:7400 peers");
            });
    Facts.Link behind = new Facts.Link("us", true, "catching-up", 7, -1, 0, 0, 0, 0);
    assertThat(Findings.of(facts(2, List.of(), behind, QUIET.spaces().getFirst()), QUIET))
        .singleElement()
        .satisfies(f -> assertThat(f.level()).isEqualTo(Findings.Level.NOTE));
  }

  @Test
  void whatWentWrongSinceAWhile_isSaidWithFigures_worstFirst() {
    Facts later =
        facts(
            11,
            List.of("the disk is full: updates are refused (STORE_FULL), reads go on"),
            UP,
            space(new Late(3, 21, 5, 6), 1_009, 4, List.of()));
    List<Findings.Finding> findings = Findings.of(later, QUIET);
    assertThat(findings)
        .extracting(Findings.Finding::level)
        .containsExactly(
            Findings.Level.ERROR,
            Findings.Level.ERROR,
            Findings.Level.WARNING,
            Findings.Level.WARNING);
    assertThat(findings)
        .extracting(Findings.Finding::what)
        .anySatisfy(w -> assertThat(w).contains("disk is full"))
        .anySatisfy(w -> assertThat(w).contains("1 000 requests").contains("last 10 s"))
        .anySatisfy(w -> assertThat(w).contains("17 shipments").contains("the way took longer"))
        .anySatisfy(w -> assertThat(w).contains("memory for trails"));
    assertThat(findings).allSatisfy(f -> assertThat(f.help()).isNotBlank());
  }

  @Test
  void anotherIncarnation_isNotComparedWith() {
    Facts later =
        new Facts(
            2_000L,
            "eu",
            8,
            1,
            "c",
            List.of(),
            List.of(),
            List.of(UP),
            List.of(space(new Late(9, 9, 9, 9), 99, 9, List.of())));
    assertThat(Findings.of(later, QUIET)).isEmpty();
  }

  @Test
  void aStatus_fitsIntoANote_whateverTheKeysAreAndHoweverManyKeyspaces() {
    List<Facts.Hot> hot = new ArrayList<>();
    for (int i = 0; i < 14; i++) {
      hot.add(new Facts.Hot("\u0001".repeat(3_000) + i, "counter", "op", 1, 1, 1));
    }
    Facts.Space space = space(new Late(0, 0, 0, 0), 0, 0, hot);
    Facts many =
        new Facts(
            1,
            "eu",
            1,
            1,
            "c",
            Collections.nCopies(1_000, "x".repeat(1_000)),
            Collections.nCopies(1_000, "y".repeat(1_000)),
            Collections.nCopies(9, UP),
            Collections.nCopies(1_000, space));
    String status = new StatusJson().of(many);
    assertThat(status.getBytes(StandardCharsets.UTF_8).length)
        .isLessThanOrEqualTo(StatusBoard.STATUS_BYTES_MAX);
    assertThat(status).contains("\"keyspaces_left_out\":984").contains("\"hot\":[");
    String one = new StatusJson().of(facts(1, List.of(), UP, space));
    assertThat(one).contains("…").contains("\"rate\":1.0");
  }
}
