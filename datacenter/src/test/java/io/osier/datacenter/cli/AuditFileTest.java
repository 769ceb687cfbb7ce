package io.osier.datacenter.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

final class AuditFileTest {
  private static final org.slf4j.Logger AUDIT = LoggerFactory.getLogger("io.osier.audit");

  @Test
  void lines_areWrittenAsTheyAre_behindThoseThatAreThere(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("log").resolve("audit.json");
    try (AuditFile audit = AuditFile.open(file)) {
      assertThat(audit).isNotNull();
      AUDIT.info("{}", "{\"event\":\"first\"}");
    }
    AUDIT.info("{}", "nobody listens");
    try (AuditFile audit = AuditFile.open(file)) {
      assertThat(audit).isNotNull();
      AUDIT.info("{}", "{\"event\":\"second\"}");
    }
    assertThat(file).hasContent("{\"event\":\"first\"}\n{\"event\":\"second\"}\n");
  }

  @Test
  void file_thatCannotBeWritten_isNamed(@TempDir Path dir) throws IOException {
    Path file = Files.createFile(dir.resolve("file")).resolve("audit.json");
    assertThatThrownBy(() -> AuditFile.open(file))
        .hasMessageContaining("osier.audit.file")
        .isInstanceOfSatisfying(
            OsierException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CONFIGURATION));
  }
}
