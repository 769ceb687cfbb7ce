package io.osier.core.tls;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PasswordFileTest {
  @TempDir private Path dir;

  private Path file(byte[] content) throws IOException {
    return Files.write(dir.resolve("password"), content);
  }

  @ParameterizedTest
  @CsvSource({"pencil, pencil", "pencil;, pencil", "pencil!;more, pencil", "grün 1;, grün 1"})
  void firstLine_isThePassword(String text, String password) throws IOException {
    byte[] content = text.replace('!', '\r').replace(';', '\n').getBytes(StandardCharsets.UTF_8);
    assertThat(PasswordFile.read(file(content), p -> p)).isEqualTo(password.toCharArray());
  }

  @Test
  void whatCannotBe_isNamed() throws IOException {
    refused(
            ErrorCode.CONFIGURATION,
            () -> PasswordFile.read(dir.resolve("none"), p -> "--password: " + p))
        .hasMessageStartingWith("CONFIGURATION: --password: ")
        .hasMessageContaining("cannot be read");
    Path large = file(new byte[8_193]);
    assertThatThrownBy(() -> PasswordFile.read(large, p -> p)).hasMessageContaining("too large");
    Path latin = file(new byte[] {'a', (byte) 0xfc, 'b'});
    assertThatThrownBy(() -> PasswordFile.read(latin, p -> p)).hasMessageContaining("is not UTF-8");
  }
}
