package io.osier.datacenter.cli.command;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsFiles;
import io.osier.core.tls.TlsName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CertificateMakerTest {
  /** What all tests share: keytool takes a while for each. */
  @TempDir private static Path dir;

  @BeforeAll
  static void authority() {
    CertificateMaker.authority(dir, "a \"cluster\", of = odd, names", 2);
  }

  private static void sign(String name, int days, String from) {
    CertificateMaker.signed(
        dir, name, TlsName.ofDatacenter("osier", name), List.of("eu.example", "::1"), days, from);
  }

  private static void read(String name) {
    TlsFiles.Own own = new TlsFiles.Own(dir.resolve(name + ".pem"), dir.resolve(name + ".key"));
    new TlsContext(
        new TlsFiles(Optional.of(own), Optional.of(dir.resolve("authority.pem"))),
        TlsContext.Trust.CLIENTS,
        TlsContext.Provider.JDK,
        true);
  }

  private static void assertConfiguration(Runnable run, String why) {
    refused(ErrorCode.CONFIGURATION, run::run).hasMessageContaining(why);
  }

  @Test
  void certificate_thatIsValid_isRead_andOnlyItsOwnerMayReadItsKey() throws Exception {
    sign("eu", 2, "+0d");
    read("eu");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dir.resolve("eu.key"))))
        .isEqualTo("rw-------");
  }

  @Test
  void certificate_thatHasExpired_orIsNotValidYet_isNotUsed() {
    sign("old", 1, "-3d");
    assertConfiguration(() -> read("old"), "its certificate has expired");
    sign("early", 1, "+3d");
    assertConfiguration(() -> read("early"), "is not valid before");
  }

  @Test
  void whatIsThere_isNotOverwritten_andWrongNamesAreRefused() {
    sign("us", 2, "+0d");
    assertConfiguration(() -> sign("us", 2, "+0d"), "is there already");
    assertConfiguration(() -> sign("../eu", 2, "+0d"), "a certificate's name is");
    assertConfiguration(() -> sign("authority", 2, "+0d"), "a certificate's name is");
    assertConfiguration(
        () -> CertificateMaker.signed(dir, "ap", "osier://o/dc/ap", List.of("a,b"), 2),
        "is no host name");
    assertConfiguration(
        () -> CertificateMaker.signed(dir.resolve("none"), "us", "osier://o/dc/us", List.of(), 2),
        "osier cert authority --dir");
  }
}
