package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.datacenter.words.Word;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What {@code placement} shows of what a datacenter tells. */
final class PlacementTextTest {
  private static final String CARTS =
      """
      {"keyspace":"carts","summary":"held by eu","figures":"  all pay 3 B/s","advice":[
        {"what":["now","cheapest"],"holders":["eu","us"],"allowed":true,
         "link_bytes_per_second":20500,"paid_bytes_per_second":820500,"stored_bytes":2000000,
         "p50_ms":80.25,"ways":[{"dc":"ap","asks_per_second":100.0,"p50_ms":80.25},
                                {"dc":"eu","asks_per_second":10.0,"p50_ms":0.0}]},
        {"what":["with ap","all"],"holders":["ap","eu","us"],"allowed":false,
         "link_bytes_per_second":1000,"paid_bytes_per_second":1000,"stored_bytes":3000000,
         "p50_ms":null,"ways":[]}]}\
      """;

  private static String shown(String line, boolean asJson) {
    String eu = CARTS.replace("\"carts\"", "\"carts@eu\"");
    return shown(CARTS + "," + eu + "," + CARTS.replace("\"carts\"", "\"other\""), line, asJson);
  }

  private static String shown(String placements, String line, boolean asJson) {
    try {
      JsonNode report = new ObjectMapper().readTree("{\"placements\":[" + placements + "]}");
      JsonNode keyspaces =
          new ObjectMapper()
              .readTree(
                  "{\"keyspaces\":[{\"name\":\"everywhere\",\"replicas\":\"all\"},"
                      + "{\"name\":\"lost\",\"replicas\":\"eu,us\"}]}");
      return PlacementText.of(
          report, (Grammar.Administer) Grammar.parse(Word.split(line)), asJson, () -> keyspaces);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void advice_isATableOfTheKeyspaceAndItsHomes() {
    String table =
        """
        holders     what                                                  link B/s  saved B/s  stored bytes  p50 ms  ms to ask
        eu, us      now, cheapest                                         20500     0          2000000       80      ap 80, eu 0
        ap, eu, us  with ap, all (not possible now: laws, reach or room)  1000      19500      3000000       ?\
        """;
    assertThat(shown("placement advise carts", false))
        .isEqualTo("carts\n" + table + "\ncarts@eu\n" + table);
    assertThat(shown("placement advise carts@eu", false)).isEqualTo("carts@eu\n" + table);
    assertThat(shown("placement advise carts@eu", true))
        .startsWith("{\"placements\":[{\"keyspace\":\"carts@eu\"")
        .doesNotContain("other")
        .contains("\"link_bytes_per_second\":20500");
  }

  @Test
  void olderDatacenter_givesNoAdvice() {
    String older = "{\"keyspace\":\"carts\",\"summary\":\"held by eu\",\"figures\":\"\"}";
    assertThat(shown(older, "placement advise carts", false))
        .startsWith("carts\nno advice: the version of the datacenter that was asked");
    assertThat(shown(older, "placement", false)).isEqualTo("held by eu");
  }

  @Test
  void keyspaceThatIsNotCounted_saysHowItIs() {
    assertThatThrownBy(() -> shown("placement advise lost", false))
        .hasMessageContaining("'placement pin lost' counts its load")
        .hasMessageContaining("'keyspace alter lost placement=fixed' ends that");
    assertThatThrownBy(() -> shown("placement why lost", false))
        .hasMessageContaining("no keyspace 'lost' whose holders are placed by load");
  }

  @Test
  void keyspaceThatAllHold_isNotToBePinned_norOneThatIsNotThere() {
    assertThatThrownBy(() -> shown("placement advise everywhere", false))
        .hasMessageContaining("keyspace 'everywhere' is held by all datacenters, and stays so")
        .hasMessageNotContaining("placement pin");
    assertThatThrownBy(() -> shown("placement why lots", false))
        .hasMessageContaining("there is no keyspace 'lots'; there are [everywhere, lost]");
  }

  @Test
  void summaryAndFigures_areShownAsTheyAreTold() {
    assertThat(shown("placement", false)).isEqualTo("held by eu\nheld by eu\nheld by eu");
    assertThat(shown("placement why other", false)).isEqualTo("held by eu\n  all pay 3 B/s");
  }
}
