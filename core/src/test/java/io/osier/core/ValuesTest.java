package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.testing.Refused;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ValuesTest {
  @Test
  void values_areOrderedByKindThenContent() {
    List<Value> sorted =
        List.of(
            Value.of(new byte[] {1}),
            Value.of(new byte[] {(byte) 200}),
            Value.of("a"),
            Value.of("b"),
            Value.of(-5),
            Value.of(7),
            Value.of(-0.0),
            Value.of(0.0),
            Value.of(Double.NaN));
    List<Value> shuffled = Arrays.asList(sorted.toArray(new Value[0]));
    java.util.Collections.shuffle(shuffled, new java.util.Random(3));
    shuffled.sort(null);
    assertThat(shuffled).isEqualTo(sorted);
    assertThat(Value.of(new byte[] {1})).isEqualTo(Value.of(new byte[] {1}));
  }

  @Test
  void bytes_areCopied() {
    byte[] bytes = {1, 2};
    Value value = Value.of(bytes);
    Key key = Key.of(bytes);
    bytes[0] = 9;
    assertThat(value).isEqualTo(Value.of(new byte[] {1, 2}));
    assertThat(key).isEqualTo(Key.of(new byte[] {1, 2}));
  }

  @Test
  void key_hasOneTo4096Bytes() {
    assertThatThrownBy(() -> Key.of("")).isInstanceOf(OsierException.class);
    assertThatThrownBy(() -> Key.of(new byte[4097]))
        .hasMessageContaining("4096")
        .is(Refused.with(ErrorCode.KEY_TOO_LARGE));
    assertThat(Key.of("é").toString()).isEqualTo("é");
    assertThat(Key.of(new byte[] {(byte) 0xff}).toString()).isEqualTo("0xff");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1eu",
        "e u",
        "aNameWithSixtyFourCharacters-ThatIsOneMoreThanAnyNameMayHave-012"
      })
  void dcName_isChecked(String name) {
    assertThatThrownBy(() -> new ReplicaId(name, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 63");
  }

  /** Names of a cloud's regions are that long. */
  @Test
  void dcName_mayHave63Characters() {
    String longest = "northamerica-northeast1-".repeat(2) + "0123456789abcde";
    assertThat(longest).hasSize(ReplicaId.DC_NAME_LENGTH_MAX).hasSize(63);
    assertThat(new ReplicaId(longest, 1).dc()).isEqualTo(longest);
  }

  @Test
  void policy_namesWhatIsWrong() {
    assertThatThrownBy(() -> KeyspacePolicy.session("k", Duration.ofHours(2)))
        .hasMessageContaining("sla")
        .hasMessageContaining("3600");
    assertThatThrownBy(() -> KeyspacePolicy.session("k", Duration.ZERO).withPartitions(0))
        .hasMessageContaining("partitions")
        .hasMessageContaining("256");
    assertThatThrownBy(() -> new KeyspacePolicy.Limits(0, 1, 1))
        .hasMessageContaining("keyBytesMax");
    assertThatThrownBy(() -> KeyspacePolicy.session("1k", Duration.ZERO))
        .hasMessageContaining("keyspace name");
  }

  @Test
  void errorCodes_haveStableNumbers() {
    assertThat(Arrays.stream(ErrorCode.values()).map(ErrorCode::number).toList())
        .isEqualTo(
            List.of(
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                24, 25, 26, 27, 28, 29, 30));
    for (ErrorCode code : ErrorCode.values()) {
      assertThat(ErrorCode.of(code.number())).isEqualTo(code);
    }
    assertThat(ErrorCode.of(99)).isEqualTo(ErrorCode.INTERNAL);
  }
}
