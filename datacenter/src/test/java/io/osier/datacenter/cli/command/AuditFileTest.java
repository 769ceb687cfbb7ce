package io.osier.datacenter.cli.command;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.datacenter.server.LoggedLines;
import io.osier.testing.Refused;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

final class AuditFileTest {
  private static final org.slf4j.Logger AUDIT = LoggerFactory.getLogger("io.osier.audit");
  private static final Pattern LOST =
      Pattern.compile("\\{\"time\":\"[^\"]+Z\",\"event\":\"lost\",\"dc\":\"eu\",\"lines\":(\\d+)}");

  @Test
  void lines_areWrittenAsTheyAre_behindThoseThatAreThere(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("log").resolve("audit.json");
    try (AuditFile audit = AuditFile.open(file, "eu")) {
      assertThat(audit).isNotNull();
      AUDIT.info("{}", "{\"event\":\"first\"}");
    }
    AUDIT.info("{}", "nobody listens");
    try (AuditFile audit = AuditFile.open(file, "eu")) {
      assertThat(audit).isNotNull();
      AUDIT.info("{}", "{\"event\":\"second\"}");
    }
    assertThat(file).hasContent("{\"event\":\"first\"}\n{\"event\":\"second\"}\n");
  }

  /** The other end of the pipe is not read, as a disk that stalls does not take anything. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void linesThatASlowDiskKeepsWaiting_areCounted_andTheFileSaysHowMany(@TempDir Path dir)
      throws Exception {
    Path file = pipe(dir);
    String line = "{\"event\":\"" + "x".repeat(1_000) + "\"}";
    try (RandomAccessFile disk = new RandomAccessFile(file.toFile(), "rw");
        LoggedLines log = new LoggedLines("io.osier.datacenter.cli");
        AuditFile audit = AuditFile.open(file, "eu")) {
      assertThat(audit.lost()).containsOnly(Map.entry("queue", 0L), Map.entry("disk", 0L));
      int sent = 0;
      while (lost(audit, "queue") < 100) {
        AUDIT.info("{}", line);
        sent++;
      }
      assertThat(log.all())
          .hasSize(1)
          .first(STRING)
          .contains("lines of the audit log are lost, 1 so far", "8192 lines wait");
      // It goes on: all that waited is written, and how many are missing.
      BufferedReader written = new BufferedReader(new FileReader(disk.getFD()));
      int whole = 0;
      int missing = 0;
      while (whole < sent - 100) {
        String next = written.readLine();
        if (next.equals(line)) {
          whole++;
        } else {
          Matcher lost = LOST.matcher(next);
          assertThat(lost.matches()).as(next).isTrue();
          missing += Integer.parseInt(lost.group(1));
        }
      }
      assertThat(missing).isEqualTo(100);
    }
  }

  /** A pipe without its other end: writing fails, as it does to a disk that is full. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void linesThatTheDiskDoesNotTake_areCounted_andTheFileSaysHowMany(@TempDir Path dir)
      throws Exception {
    Path file = pipe(dir);
    try (RandomAccessFile disk = new RandomAccessFile(file.toFile(), "rw");
        LoggedLines log = new LoggedLines("io.osier.datacenter.cli");
        AuditFile audit = AuditFile.open(file, "eu")) {
      disk.close();
      AUDIT.info("{}", "{\"event\":\"first\"}");
      await().until(() -> !log.all().isEmpty());
      assertThat(lost(audit, "disk")).isOne();
      assertThat(log.all()).hasSize(1).first(STRING).contains("1 so far: ", "Broken pipe");
      Files.delete(file);
      Files.createFile(file);
      await()
          .until(
              () -> {
                AUDIT.info("{}", "{\"event\":\"more\"}"); // it is tried again now and then
                return Files.readString(file).contains("lost");
              });
      assertThat(file)
          .content()
          .contains("\"event\":\"lost\",\"dc\":\"eu\",\"lines\":" + lost(audit, "disk") + "}\n");
    }
  }

  private static Path pipe(Path dir) throws Exception {
    Path file = dir.resolve("audit.json");
    assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
    return file;
  }

  private static long lost(AuditFile audit, String reason) {
    return requireNonNull(audit.lost().get(reason));
  }

  @Test
  void file_thatCannotBeWritten_isNamed(@TempDir Path dir) throws IOException {
    Path file = Files.createFile(dir.resolve("file")).resolve("audit.json");
    assertThatThrownBy(() -> AuditFile.open(file, "eu"))
        .hasMessageContaining("osier.audit.file")
        .is(Refused.with(ErrorCode.CONFIGURATION));
  }
}
