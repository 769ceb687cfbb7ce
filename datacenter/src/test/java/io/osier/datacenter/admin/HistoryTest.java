package io.osier.datacenter.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.propagation.host.DelayHistogram;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The hour that a datacenter remembers: a row for each ten seconds, in a fixed room. */
final class HistoryTest {
  private static final long SECOND = 1_000_000_000L;

  private final History history = new History();
  private final DelayHistogram requests = DelayHistogram.of(1_000, 10_000, 100_000);
  private Map<String, History.Staleness> peers = Map.of("us", new History.Staleness(0, 0));
  private long startMillis = 1_700_000_000_000L;
  private long second;
  private long updates;
  private long heap;
  private long overdue;

  private void seconds(int count) {
    for (int i = 0; i < count; i++) {
      History.Moment now =
          new History.Moment(
              updates,
              2 * updates,
              100 * updates,
              400 * updates,
              0,
              overdue,
              updates / 2,
              updates / 10,
              requests.copy(),
              second * SECOND / 4,
              heap,
              7_000,
              peers);
      history.tick(now, second * SECOND, startMillis + second * 1_000);
      second++;
    }
  }

  private JsonNode json() {
    try {
      return new ObjectMapper().readTree(history.json("eu").toString());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aRow_hasRates_maxima_andQuantilesOfItsTenSeconds() {
    heap = 10;
    for (int i = 0; i < 10; i++) {
      seconds(1);
      updates += 50;
      heap = i == 4 ? 900 : 20;
      overdue = i == 5 ? 33 : 0;
      peers = Map.of("us", new History.Staleness(i == 6 ? 4_200 : 100, i == 7 ? 3_000 : 0));
      requests.record(i < 9 ? 500 : 50_000);
    }
    assertThat(json().get("end_ms")).as("the row is not over").isEmpty();
    seconds(1);
    JsonNode at = json().get("columns");
    assertThat(json().get("dc").asText()).isEqualTo("eu");
    assertThat(json().get("end_ms").get(0).asLong()).isEqualTo(1_700_000_010_000L);
    assertThat(at.get("updates").get(0).asDouble()).isEqualTo(50);
    assertThat(at.get("applied").get(0).asDouble()).isEqualTo(100);
    assertThat(at.get("arrived_bytes").get(0).asDouble()).isEqualTo(5_000);
    assertThat(at.get("op_bytes").get(0).asDouble()).isEqualTo(20_000);
    assertThat(at.get("refused").get(0).asDouble()).isEqualTo(25);
    assertThat(at.get("errors").get(0).asDouble()).isEqualTo(5);
    assertThat(at.get("overdue").get(0).asDouble()).isEqualTo(33);
    assertThat(at.get("heap_bytes").get(0).asDouble()).isEqualTo(900);
    assertThat(at.get("disk_bytes").get(0).asDouble()).isEqualTo(7_000);
    assertThat(at.get("processors").get(0).asDouble()).isEqualTo(0.25);
    assertThat(at.get("requests").get(0).asDouble()).isEqualTo(1);
    assertThat(at.get("p50_ms").get(0).asDouble()).isCloseTo(0.556, within(0.01));
    assertThat(at.get("p99_ms").get(0).asDouble()).isCloseTo(91, within(1.0));
    JsonNode us = json().get("peers").get("us");
    assertThat(us.get("stale_ms").get(0).asDouble()).isEqualTo(4_200);
    assertThat(us.get("unheard_ms").get(0).asDouble()).isEqualTo(3_000);
    seconds(10);
    assertThat(json().get("columns").get("overdue").get(1).asDouble()).as("anew").isZero();
    assertThat(json().get("columns").get("p50_ms").get(1).isNull()).as("no request").isTrue();
  }

  @Test
  void anHourIsKept_oldestFirst_inAFixedRoom_whoeverComesAndGoes() {
    for (int hour = 0; hour < 3; hour++) {
      for (int i = 0; i < 360; i++) {
        peers = new HashMap<>();
        for (int p = 0; p < 30; p++) {
          peers.put("dc" + hour + "x" + p, new History.Staleness(p, p));
        }
        seconds(10);
        updates += 10L * i;
      }
    }
    JsonNode kept = json();
    assertThat(kept.get("end_ms")).hasSize(History.ROWS);
    assertThat(kept.get("end_ms").get(359).asLong() - kept.get("end_ms").get(0).asLong())
        .isEqualTo(3_590_000);
    assertThat(kept.get("columns").get("updates").get(359).asDouble()).isEqualTo(358);
    assertThat(kept.get("peers")).hasSize(History.PEERS_MAX);
    assertThat(kept.get("peers").fieldNames()).toIterable().allMatch(n -> n.startsWith("dc2"));
    assertThat(history.bytes()).isBetween(60_000L, (long) History.BYTES_MAX);
  }

  @Test
  void whatIsCountedNoMore_isNoRate() {
    updates = 5_000;
    seconds(10);
    updates = 10; // a keyspace was dropped
    seconds(10);
    assertThat(json().get("columns").get("updates").get(0).asDouble()).isZero();
  }

  @Test
  void clockThatIsSet_movesAllRows_andDisordersNone() {
    seconds(31);
    startMillis -= 3_600_000;
    seconds(20);
    JsonNode ends = json().get("end_ms");
    assertThat(ends).hasSize(5);
    for (int i = 0; i < 5; i++) {
      assertThat(ends.get(i).asLong()).isEqualTo(startMillis + 10_000L * (i + 1));
    }
  }
}
