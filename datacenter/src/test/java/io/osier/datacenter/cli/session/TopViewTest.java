package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What {@code top} makes of two looks. */
class TopViewTest {
  private static String status(long incarnation, long uptime, long updates, int measured) {
    return """
    {'dc':'eu','incarnation':%d,'uptime_ms':%d,
     'problems':[{'level':'error','about':'eu ready','what':'eu: the disk is full','help':''}],
     'links':[{'dc':'us','connected':false,'stream':'waiting','lag_updates':3,'lag_ms':39000,
      'behind_updates':7},
      {'dc':'ap','connected':true,'stream':'streaming','lag_updates':0,'lag_ms':0}],
     'keyspaces':[{'name':'shop','updates':%d,'applied':0,'shipped_bytes':%d,'arrived_bytes':%d,'op_bytes':%d,
      'state_objects':3,'sla_ms':500,'late':{'origin':0,'way':0,'dependency':0,'outage':4},
      'visibility':{'p99_ms':41.5,'counts':[0,%d]},'queued':2,'overloads':0,
      'hot':[{'key':'k\\u001b[2J','type':'counter','mode':'state','rate':90.5,'bytes':2048}]}]}
    """
        .formatted(
            incarnation, uptime, updates, updates * 90, updates * 10, updates * 100, measured);
  }

  private static ClusterLook look(long seconds, long incarnation, long updates, int measured) {
    return WhyTest.look(
        seconds * 1_000_000_000L,
        Map.of("eu", status(incarnation, seconds * 1_000, updates, measured)),
        List.of("us", "ap"));
  }

  @Test
  void rates_areOfTheTimeBetween_andACutIsSaidInWords() {
    TopView figures = new TopView(look(10, 1, 100, 5), look(12, 1, 300, 5));
    assertThat(figures.json())
        .contains(
            "\"updates_per_s\":100.0",
            "\"shipped_bytes_per_s\":9000.0",
            "\"arrived_bytes_per_s\":1000.0");
    assertThat(text(figures, " → ", 1_000, 1_000))
        .as("what is held up is no loss, and a key moves no cursor")
        .contains(
            "90%", "\\u001b[2J", "42", "2.0 kB", "! eu: the disk is full", "! ap does not answer")
        .doesNotContain("\033")
        .containsPattern("eu → us +CUT +3 updates wait, the oldest for 39 s")
        .containsPattern("eu → ap +up +nothing waits");
    assertThat(text(figures, " -> ", 1_000, 1_000)).contains("eu -> us").doesNotContain("→");
  }

  @Test
  void whatWasNotMeasured_isEmpty() {
    TopView figures = new TopView(look(10, 1, 500, 0), look(12, 2, 900, 0));
    assertThat(figures.json())
        .as("it began anew, and nothing came")
        .contains("\"updates_per_s\":null", "\"visibility_p99_ms\":null", "\"late_per_s\":null");
    assertThat(text(figures, " → ", 1_000, 1_000)).doesNotContain("NaN", "0.0");
  }

  /** A small terminal shows what is wrong, and all datacenters: nothing of that is cut off. */
  @Test
  void smallTerminal_showsTroublesFirst_andSumsOfKeyspaces() {
    String eu = status(1, 12_000, 300, 5).replace("'op_bytes':30000", "'op_bytes':60000");
    String space = eu.substring(eu.indexOf("{'name'"), eu.lastIndexOf("]}"));
    String many = (space + ",").repeat(19);
    ClusterLook now =
        WhyTest.look(
            12_000_000_000L,
            Map.of("eu", eu.replace("'keyspaces':[", "'keyspaces':[" + many)),
            List.of("us", "ap"));
    List<String> lines = new TopText(new TopView(look(10, 1, 100, 5), now), " → ", 80).lines(22);
    assertThat(lines).hasSizeLessThanOrEqualTo(22).allMatch(line -> line.length() <= 80);
    assertThat(lines.getFirst()).startsWith("! ");
    assertThat(String.join("\n", lines))
        .contains("! eu: the disk is full", "refused/s")
        .doesNotContain("queued")
        .containsPattern("eu → us +CUT +3 updates wait, the oldest for 39 s")
        .containsPattern("eu +all 20 +2000 ");
  }

  private static String text(TopView figures, String arrow, int columns, int rows) {
    return String.join("\n", new TopText(figures, arrow, columns).lines(rows));
  }
}
