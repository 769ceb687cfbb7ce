package io.osier.proxy;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class SessionTokenTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 12);
  private static final SessionToken TOKEN =
      new SessionToken(
          Map.of(
              "shop",
              List.of(VersionVector.of(EU, 5).with(US, 700), VersionVector.EMPTY),
              "bank",
              List.of(VersionVector.of(US, 1))));

  @Test
  void token_isReadBack() {
    assertThat(SessionToken.decode(TOKEN.encode())).isEqualTo(TOKEN);
    assertThat(TOKEN.encode()).isEqualTo("AQIEYmFuawEBAAJ1cwwBBHNob3ACAgACZXUBBQG8BQA");
    assertThat(TOKEN.keyspaces()).containsExactlyInAnyOrder("bank", "shop");
  }

  private static void isRefused(String text) {
    refused(ErrorCode.INVALID_ARGUMENT, () -> SessionToken.decode(text))
        .hasMessageContaining("no session token");
  }

  @Test
  void whatIsNoToken_isRefused() {
    for (String text : List.of("", "AQ", "no token!", "AgA", TOKEN.encode() + "AA")) {
      isRefused(text);
    }
    isRefused("A".repeat(100_000));
    byte[] twice = {1, 2, 1, 'a', 1, 0, 1, 'a', 1, 0};
    isRefused(Base64.getUrlEncoder().withoutPadding().encodeToString(twice));
  }

  @Property(tries = 2_000)
  void hostileTokens_areRefusedOrRead_andNothingElse(
      @ForAll @Size(min = 1, max = 4) Map<@IntRange(max = 40) Integer, Byte> damage) {
    byte[] bytes = Base64.getUrlDecoder().decode(TOKEN.encode());
    damage.forEach((at, value) -> bytes[at % bytes.length] = value);
    String text = Base64.getUrlEncoder().encodeToString(bytes);
    Throwable refused = catchThrowable(() -> SessionToken.decode(text));
    if (refused != null) {
      assertThat(((OsierException) refused).code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    }
  }

  @Test
  void tokenBeyondTheLimit_isNotMade() {
    Map<String, List<VersionVector>> many = new HashMap<>();
    for (int i = 0; i < 10_000; i++) {
      many.put("keyspace-" + i, List.of(VersionVector.of(EU, 1)));
    }
    refused(ErrorCode.VALUE_TOO_LARGE, () -> new SessionToken(many).encode());
  }
}
