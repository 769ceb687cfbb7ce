package io.osier.proxy.admin;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.proxy.DatacenterStatus;
import io.osier.proxy.KeyspaceStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers of datacenters, read from JSON. */
final class AdminAnswersTest {
  @Test
  void keyspaces_areRead_withWhatIsNotKnownYet() {
    String json =
        "{\"keyspaces\": [{\"name\":\"shop\",\"state\":\"creating\",\"from\":\"command\","
            + "\"sla\":\"500ms\",\"later\":-2.5e3,\"more\":{\"x\":[1,null,true]},\"awaited\":[\"us\"],\"changed_by\":\"Ad\\u0061"
            + " \\\"A\\\"\\n"
            + "\",\"changed_at_ms\":1700000000000}], \"more\": []}";
    assertThat(AdminAnswers.keyspaces(json))
        .containsExactly(
            new KeyspaceStatus(
                "shop",
                new TreeMap<>(Map.of("sla", "500ms", "later", "-2.5e3")),
                false,
                List.of("us"),
                false,
                Optional.of("Ada \"A\"\n"),
                Optional.of(Instant.ofEpochMilli(1_700_000_000_000L))));
  }

  @Test
  void stateThatCameLater_isAnother() {
    String json =
        "{\"datacenters\":[{\"name\":\"eu\",\"address\":\"\",\"state\":\"resting\",\"from\":\"file\","
            + "\"awaited\":[],\"changed_by\":\"\",\"changed_at_ms\":0}]}";
    assertThat(AdminAnswers.datacenters(json))
        .containsExactly(
            new DatacenterStatus(
                "eu",
                Optional.empty(),
                DatacenterStatus.State.OTHER,
                List.of(),
                true,
                Optional.empty(),
                Optional.empty()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "{\"users\":{}}",
        "{\"users\":[1]}",
        "{\"users\":[]} x",
        "{\"users\":[]",
        "{\"users\":[\"\\u00",
        "{\"users\":[\"\\uzzzz\"]}",
        "{\"users\":[--]}",
        "{\"users\":[],\"more\":}",
        "{\"users\":[{\"made_at_ms\":\"soon\"}]}",
        "{\"users\":[],}",
        "{\"users\" []}"
      })
  void whatIsNoAnswer_isMalformed(String json) {
    refused(ErrorCode.MALFORMED, () -> AdminAnswers.users(json))
        .hasMessageContaining("the datacenter's answer cannot be read");
  }

  @Test
  void deepAnswer_isMalformed_andNoOverflow() {
    refused(ErrorCode.MALFORMED, () -> AdminAnswers.users("[".repeat(100_000)));
  }
}
