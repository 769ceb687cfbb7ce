package io.osier.datacenter.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Users in the configuration, and what must be there before other machines may come in. */
final class UsersConfigTest {
  private static final String LINE =
      "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
          + ":wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
  private static final String TLS =
      "tls { certificate = a.pem, key = a.key, authorities = b.pem }\n";
  private static final String USERS = "users { cart { rights = [\"read shop\"] } }\n";

  private static DatacenterConfig read(String lines) {
    return ConfigReader.read(
        "eu.conf", "osier {\n dc = eu\n keyspaces { shop {} }\n" + lines + "\n}", Map.of());
  }

  private static String error(String lines) {
    String[] message = new String[1];
    assertThatThrownBy(() -> read(lines))
        .isInstanceOfSatisfying(
            OsierException.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.CONFIGURATION);
              message[0] = e.getMessage();
            });
    return message[0];
  }

  @Test
  void users_haveNamesCredentialsAndRights() {
    DatacenterConfig config =
        read(
            """
            users {
              cart { credential = "%s", rights = ["read shop", "write shop cart:"] }
              "a.b@c" {}
              default { rights = ["read *"] }
            }
            """
                .formatted(LINE));
    assertThat(config.users())
        .extracting(UserSettings::name)
        .containsExactly("a.b@c", "cart", "default");
    UserSettings cart = config.users().get(1);
    assertThat(cart.credential()).contains(ScramCredential.parse(LINE));
    assertThat(cart.grants())
        .containsExactly(Grant.parse("read shop"), Grant.parse("write shop cart:"));
    assertThat(config.toString()).contains("cart").doesNotContain("WG5d8oPm3", "wfPLwcE6");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          users { "a b" {} }                               | a user: its name 1 to 64
          users { cart = hunter2 }                         | osier.users.cart must be a user
          users { cart { credential = hunter2 } }          | SCRAM-SHA-256$ITERATIONS
          users { cart { credential = [hunter2] } }        | SCRAM-SHA-256$ITERATIONS
          users { cart { pasword-file = hunter2 } }        | did you mean 'osier.users.cart.password-file'
          users { cart { rights = ["own shop"] } }         | none of read, write and admin
          users { cart { rights = ["read shop cart:*"] } } | without '*'
          users { cart { rights = 3 } }                    | a list of rights
          users { default { password-file = "x" } }        | has no password
          """)
  void wrongUsers_areNamed_withoutTheirSecrets(String lines, String part) {
    assertThat(error(lines))
        .matches("(?s)CONFIGURATION: eu.conf(, line [0-9]+)?: .*")
        .contains(part)
        .doesNotContain("hunter2");
  }

  @Test
  void passwordFile_mustBeThere_andHaveAPassword(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("p");
    DatacenterConfig config = read("users { cart { password-file = \"" + file + "\" } }");
    assertThatThrownBy(() -> config.users().getFirst().user(new byte[16]))
        .hasMessageContaining("osier.users.cart")
        .hasMessageContaining("cannot be read");
    Files.writeString(file, "\nsecret");
    assertThatThrownBy(() -> config.users().getFirst().user(new byte[16]))
        .hasMessageContaining("must not be empty")
        .hasMessageNotContaining("secret");
    Files.writeString(file, "secret\r\n");
    assertThat(
            config
                .users()
                .getFirst()
                .user(new byte[16])
                .credential()
                .orElseThrow()
                .isOf("secret".toCharArray()))
        .isTrue();
  }

  // ---------------------------------------------------------------- protected mode

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1",
        "localhost",
        "LocalHost",
        "127.1.2.3",
        "\"::1\"",
        "\"[::1]\"",
        "\"0:0:0:0:0:0:0:1\"",
        "\" ::1 \""
      })
  void loopback_needsNothing(String host) {
    assertThatCode(() -> read("listen.host = " + host)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.0.0.0",
        "10.0.0.1",
        "eu.example",
        "\"::\"",
        "\"[::]\"",
        "127.0.0.1.example",
        "127.0.0.999"
      })
  void otherMachines_needTlsAndUsers(String host) {
    String listen = "listen.host = " + host + "\n";
    assertThat(error(listen))
        .contains("without osier.tls and osier.users", "osier.insecure = true", "127.0.0.1");
    assertThat(error(listen + TLS)).contains("without osier.users");
    assertThat(error(listen + USERS)).contains("without osier.tls:");
    assertThatCode(() -> read(listen + TLS + USERS)).doesNotThrowAnyException();
    assertThat(error(listen + TLS + USERS + "tls.required = false"))
        .contains("without osier.tls.required:");
    assertThatCode(() -> read(listen + "insecure = true")).doesNotThrowAnyException();
    assertThat(ProtectedMode.openTo(read(listen + "insecure = true"))).isPresent();
    assertThat(ProtectedMode.openTo(read(listen + TLS + USERS + "insecure = true"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\"\"", "\"[eu]\"", "\"[::1]:1\"", "\"127.0.0.1:7400\"", "\"http://eu\"", "\"*\""})
  void whatIsNoHost_isRefused(String host) {
    assertThat(error("listen.host = " + host)).contains("listen.host", "without a port");
    assertThat(error("admin { enabled = true, host = " + host + " }"))
        .contains("admin.host", "without a port");
  }

  @Test
  void adminPort_ofOtherMachines_needsThem_too_andIsEncrypted() {
    String admin = "admin { enabled = true, host = 0.0.0.0 }\n";
    assertThat(error(admin)).contains("osier.admin.host = 0.0.0.0 without osier.tls");
    assertThatCode(() -> read(admin + TLS + USERS)).doesNotThrowAnyException();
    assertThat(error(admin + TLS + USERS + "tls.admin = false"))
        .contains("osier.tls.admin = false");
    assertThatCode(
            () ->
                read(
                    "admin { enabled = true, host = 127.0.0.1 }\nlisten.host = 0.0.0.0\n"
                        + TLS
                        + USERS
                        + "tls.admin = false"))
        .doesNotThrowAnyException();
  }
}
