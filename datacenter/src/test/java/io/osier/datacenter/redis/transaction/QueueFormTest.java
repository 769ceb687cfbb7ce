package io.osier.datacenter.redis.transaction;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.codec.MalformedException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

final class QueueFormTest {
  private static final String BYTES =
      "01" + "01" + "02" + "02" + "03474554" + "016b" + "03" + "03534554" + "016b" + "00";

  private static byte[][] words(String... words) {
    return Arrays.stream(words).map(word -> word.getBytes(US_ASCII)).toArray(byte[][]::new);
  }

  @Test
  void form_isKept() {
    QueueForm form = new QueueForm(true, List.of(words("GET", "k"), words("SET", "k", "")));
    assertThat(HexFormat.of().formatHex(form.encode())).isEqualTo(BYTES);
    QueueForm read = QueueForm.decode(HexFormat.of().parseHex(BYTES));
    assertThat(read.resp3()).isTrue();
    assertThat(Arrays.deepEquals(read.commands().toArray(), form.commands().toArray())).isTrue();
  }

  @Test
  void whatIsNone_isMalformed() {
    for (int length = 0; length < BYTES.length() / 2; length++) {
      malformed(BYTES.substring(0, 2 * length));
    }
    malformed(BYTES + "00");
    malformed("02" + BYTES.substring(2)); // of another version
    malformed("0101" + "01" + "00"); // a command of no words
    malformed("0100" + "ffffffff07"); // as many commands as there is no room for
  }

  private static void malformed(String hex) {
    assertThatThrownBy(() -> QueueForm.decode(HexFormat.of().parseHex(hex)))
        .as(hex)
        .isInstanceOf(MalformedException.class);
  }
}
