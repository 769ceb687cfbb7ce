package io.osier.datacenter.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.Timeliness;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is wrong is said in words, with a command; nothing is said where nothing is wrong. */
final class HealthChecksTest {
  private static final DashboardModel.Link UP =
      link("us", true, "streaming", 12, 900, 0, LateCounts.NONE);

  private static DashboardModel.Link link(
      String dc,
      boolean connected,
      String stream,
      long lagUpdates,
      long lagMillis,
      long overdueUpdates,
      LateCounts late) {
    return new DashboardModel.Link(
        dc, connected, stream, lagUpdates, lagMillis, overdueUpdates, 0, 0, 0, 100, 100, late);
  }

  private static DashboardModel facts(
      int second, List<String> obstacles, DashboardModel.Link link, DashboardModel.Space s) {
    return facts(second, obstacles, List.of(link), List.of(s));
  }

  private static DashboardModel facts(
      int second,
      List<String> obstacles,
      List<DashboardModel.Link> links,
      List<DashboardModel.Space> spaces) {
    return new DashboardModel(
        second * 1_000L,
        "eu",
        7,
        second * 1_000L,
        "osier cli --connect eu:7400",
        obstacles,
        List.of(),
        links,
        spaces,
        Snapshot.Copies.NONE);
  }

  private static DashboardModel.Space space(
      LateCounts late, long overloads, long spent, List<PartitionReport.Hot> hot) {
    return space("shop", late, overloads, spent, hot);
  }

  private static DashboardModel.Space space(
      String name, LateCounts late, long overloads, long spent, List<PartitionReport.Hot> hot) {
    return new DashboardModel.Space(
        name,
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
        Timeliness.NONE,
        0,
        0,
        late,
        0,
        overloads,
        Map.of("trails", spent),
        new DashboardModel.Visibility(Collections.nCopies(45, 0L), 1, 2, 3),
        hot);
  }

  private static final DashboardModel QUIET =
      facts(1, List.of(), UP, space(new LateCounts(3, 4, 5, 6), 9, 2, List.of()));

  @Test
  void nothingIsSaid_whereNothingHasGoneWrongLately() {
    DashboardModel later =
        facts(20, List.of(), UP, space(new LateCounts(3, 4, 5, 9), 9, 2, List.of()));
    assertThat(HealthChecks.of(later, QUIET)).isEmpty();
    assertThat(HealthChecks.of(QUIET, QUIET)).isEmpty();
  }

  @Test
  void aCutLink_isAnError_withHowMuchWaits_andACatchUpIsANote() {
    DashboardModel.Link cut = link("us", false, "waiting", 12_345, 39_200, 12_000, LateCounts.NONE);
    assertThat(HealthChecks.of(facts(2, List.of(), cut, QUIET.spaces().getFirst()), QUIET))
        .singleElement()
        .satisfies(
            f -> {
              assertThat(f.level()).isEqualTo(HealthChecks.Level.ERROR);
              assertThat(f.what())
                  .contains("eu → us is cut")
                  .contains("12,345 updates wait for it, the oldest for 39 s");
              assertThat(f.help()).isEqualTo("osier cli --connect eu:7400 why us");
            });
    DashboardModel.Link behind = link("us", true, "catching-up", 7, 900, 7, LateCounts.NONE);
    assertThat(HealthChecks.of(facts(2, List.of(), behind, QUIET.spaces().getFirst()), QUIET))
        .singleElement()
        .satisfies(f -> assertThat(f.level()).isEqualTo(HealthChecks.Level.NOTE));
    DashboardModel.Link stale = link("us", true, "streaming", 9, 4_210, 7, LateCounts.NONE);
    assertThat(HealthChecks.of(facts(2, List.of(), stale, QUIET.spaces().getFirst()), QUIET))
        .singleElement()
        .satisfies(
            f -> {
              assertThat(f.level()).isEqualTo(HealthChecks.Level.WARNING);
              assertThat(f.what()).contains("us has lacked 7 updates of eu").contains("for 4.2 s");
            });
  }

  @Test
  void whatWentWrongSinceAWhile_isSaidWithFigures_worstFirst() {
    DashboardModel later =
        facts(
            11,
            List.of("the disk is full: updates are refused (STORE_FULL), reads go on"),
            UP,
            space(new LateCounts(3, 21, 5, 6), 1_009, 4, List.of()));
    List<HealthChecks.Finding> findings = HealthChecks.of(later, QUIET);
    assertThat(findings)
        .extracting(HealthChecks.Finding::level)
        .containsExactly(
            HealthChecks.Level.ERROR,
            HealthChecks.Level.ERROR,
            HealthChecks.Level.WARNING,
            HealthChecks.Level.WARNING);
    assertThat(findings)
        .extracting(HealthChecks.Finding::what)
        .anySatisfy(w -> assertThat(w).contains("disk is full"))
        .anySatisfy(w -> assertThat(w).contains("1,000 requests").contains("last 10 s"))
        .anySatisfy(w -> assertThat(w).contains("17 shipments").contains("long on the way from us"))
        .anySatisfy(w -> assertThat(w).contains("memory for trails"));
    assertThat(findings).allSatisfy(f -> assertThat(f.help()).isNotBlank());
  }

  /** One machine that stalls delays all keyspaces: that is one finding, and names the machine. */
  @Test
  void lateShipmentsOfAllKeyspaces_areOneFinding_withTheirSender() {
    List<String> names = List.of("a", "b", "c", "d", "e");
    DashboardModel earlier =
        facts(
            1,
            List.of(),
            List.of(UP, link("ap", true, "streaming", 0, 0, 0, new LateCounts(90, 0, 0, 0))),
            names.stream().map(n -> space(n, LateCounts.NONE, 0, 0, List.of())).toList());
    DashboardModel later =
        facts(
            31,
            List.of(),
            List.of(
                link("us", true, "streaming", 0, 0, 0, new LateCounts(1_500, 0, 0, 0)),
                link("ap", true, "streaming", 0, 0, 0, new LateCounts(91, 0, 0, 0))),
            names.stream()
                .map(n -> space(n, new LateCounts(300, 10, 0, 7), 0, 0, List.of()))
                .toList());
    assertThat(HealthChecks.of(later, earlier))
        .singleElement()
        .satisfies(
            f -> {
              assertThat(f.what())
                  .isEqualTo(
                      "1,550 shipments became visible at eu later than δ in the last 30 s:"
                          + " 310 in 'a' (δ = 2 s), 310 in 'b' (δ = 2 s), 310 in 'c' (δ = 2 s)"
                          + " and in 2 more. Main cause: sent too late by us,"
                          + " whose machine stalls.");
              assertThat(f.help()).isEqualTo("osier cli --connect eu:7400 why us");
            });
  }

  @Test
  void warning_hasWhatHelpsAgainstIt() {
    Map<String, String> helps =
        Map.of(
            "the clock of us is more than 500 ms ahead of the one here", "chronyc tracking",
            "us is spoken to in version 3 of the peer protocol", "Upgrade",
            "keyspace 'a' is not replicated with us: it differs", "--check",
            "no other datacenter has answered since this one started", "7400 why");
    helps.forEach(
        (warning, help) -> {
          DashboardModel now =
              new DashboardModel(
                  QUIET.millis(),
                  QUIET.dc(),
                  QUIET.incarnation(),
                  QUIET.uptimeMillis(),
                  QUIET.cli(),
                  List.of(),
                  List.of(warning),
                  QUIET.links(),
                  QUIET.spaces(),
                  QUIET.copies());
          assertThat(HealthChecks.of(now, QUIET))
              .singleElement()
              .satisfies(f -> assertThat(f.what()).isEqualTo("eu: " + warning))
              .satisfies(f -> assertThat(f.help()).contains(help));
        });
  }

  @Test
  void anotherIncarnation_isNotComparedWith() {
    DashboardModel later =
        new DashboardModel(
            2_000L,
            "eu",
            8,
            1,
            "c",
            List.of(),
            List.of(),
            List.of(UP),
            List.of(space(new LateCounts(9, 9, 9, 9), 99, 9, List.of())),
            Snapshot.Copies.NONE);
    assertThat(HealthChecks.of(later, QUIET)).isEmpty();
  }

  @Test
  void aStatus_fitsIntoANote_whateverTheKeysAreAndHoweverManyKeyspaces() {
    List<PartitionReport.Hot> hot = new ArrayList<>();
    for (int i = 0; i < 14; i++) {
      ObjectId object = new ObjectId(Key.of("\u0001".repeat(3_000) + i), CrdtType.PN_COUNTER);
      hot.add(new PartitionReport.Hot(object, "op", 1, 1, 1, 1, 0));
    }
    DashboardModel.Space space = space(new LateCounts(0, 0, 0, 0), 0, 0, hot);
    DashboardModel many =
        new DashboardModel(
            1,
            "eu",
            1,
            1,
            "c",
            Collections.nCopies(1_000, "x".repeat(1_000)),
            Collections.nCopies(1_000, "y".repeat(1_000)),
            Collections.nCopies(9, UP),
            Collections.nCopies(1_000, space),
            Snapshot.Copies.NONE);
    String status = new StatusJson().of(many);
    assertThat(status.getBytes(StandardCharsets.UTF_8).length)
        .isLessThanOrEqualTo(StatusBoard.STATUS_BYTES_MAX);
    assertThat(status).contains("\"keyspaces_left_out\":984").contains("\"hot\":[");
    String one = new StatusJson().of(facts(1, List.of(), UP, space));
    assertThat(one).contains("…").contains("\"rate\":1.0");
  }

  @Test
  void howeverOftenAStatusIsAskedFor_aFigureASecondIsRemembered() {
    DashboardModel.Space space = space(new LateCounts(0, 0, 0, 0), 0, 0, List.of());
    StatusJson json = new StatusJson();
    for (int second = 0; second < 100; second++) {
      for (int asked = 0; asked < 3; asked++) {
        DashboardModel now = facts(second, List.of(), UP, space);
        json.of(
            new DashboardModel(
                now.millis() + asked * 300L,
                now.dc(),
                now.incarnation(),
                now.uptimeMillis(),
                now.cli(),
                now.obstacles(),
                now.warnings(),
                now.links(),
                now.spaces(),
                now.copies()));
      }
    }
    assertThat(json.remembered()).isEqualTo(30);
  }
}
