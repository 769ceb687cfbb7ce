package io.osier.core.scram;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ScramCredentialTest {
  private static final byte[] SALT = Base64.getDecoder().decode("W22ZaJ0SNY7soEsUEjb6gQ==");

  /** The keys of the exchange in RFC 7677. */
  private static final String PENCIL =
      "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
          + ":wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

  @Test
  void credential_ofThePasswordOfTheRfc_hasTheKeysThatPostgresMakesOfIt() {
    assertThat(ScramCredential.of("pencil".toCharArray(), SALT, 4_096).line()).isEqualTo(PENCIL);
  }

  @Test
  void line_isReadAgain() {
    ScramCredential read = ScramCredential.parse(PENCIL);
    assertThat(read).isEqualTo(ScramCredential.of("pencil".toCharArray(), SALT, 4_096));
    assertThat(read.isOf("pencil".toCharArray())).isTrue();
    assertThat(read.isOf("pencils".toCharArray())).isFalse();
  }

  @Test
  void password_isPrepared_soThatItIsTheSameOnEveryKeyboard() {
    // Composed and decomposed; RFC 4013 also turns a no-break space into a space.
    assertThat(ScramCredential.of("caf\u00e9 x".toCharArray(), SALT, 4_096))
        .isEqualTo(ScramCredential.of("cafe\u0301\u00a0x".toCharArray(), SALT, 4_096));
  }

  @Test
  void text_showsNoKey() {
    assertThat(ScramCredential.parse(PENCIL)).hasToString("SCRAM-SHA-256 with 4096 iterations");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "hunter2",
        "SCRAM-SHA-1$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
            + "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
        "SCRAM-SHA-256$4095:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
            + "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
        "SCRAM-SHA-256$9999999:W22ZaJ0SNY7soEsUEjb6gQ==$"
            + "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
            + "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"
            + "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qYx:"
            + "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
      })
  void line_thatIsNone_isRefused_andNotShown(String line) {
    assertThatThrownBy(() -> ScramCredential.parse(line))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("SCRAM-SHA-256$ITERATIONS")
        .satisfies(
            e -> {
              if (!line.isEmpty()) {
                assertThat(e.getMessage()).doesNotContain(line);
              }
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "bell\u0007", "\u00ad"})
  void password_thatCanBeNone_isRefused_andNotShown(String password) {
    assertThatThrownBy(() -> ScramCredential.of(password.toCharArray(), SALT, 4_096))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("password")
        .hasNoCause();
  }
}
