package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class JvmTest {
  @Test
  void processes_inheritTheStartCacheAndWhatTheCodeNeeds_andNoLimits() {
    assertThat(
            Jvm.inherited(
                List.of(
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:+UseCompactObjectHeaders",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:AOTCache=/a folder/c.aot",
                    "-XX:SharedArchiveFile=/c.jsa",
                    "-XX:+VerifySharedSpaces",
                    "-Xlog:aot=off",
                    "-Xlog:cds=off",
                    "-Dosier.native.dir=/a folder",
                    "-Dosier.parent=7",
                    "-Xmx1g")))
        .containsExactly(
            "--enable-native-access=ALL-UNNAMED",
            "-XX:+UseCompactObjectHeaders",
            "-XX:AOTCache=/a folder/c.aot",
            "-XX:SharedArchiveFile=/c.jsa",
            "-XX:+VerifySharedSpaces",
            "-Xlog:aot=off",
            "-Xlog:cds=off",
            "-Dosier.native.dir=/a folder");
  }
}
