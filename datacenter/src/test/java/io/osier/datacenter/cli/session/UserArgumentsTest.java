package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.scram.ScramCredential;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.cli.Main;
import io.osier.datacenter.server.Datacenter;
import io.osier.datacenter.server.TestCluster;
import io.osier.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How commands log in, and what they make for users. */
final class UserArgumentsTest {
  private static final String PATIENT = "--timeout=" + Patience.SECONDS;

  @TempDir private Path dir;

  private static CliRun run(String... arguments) {
    return CliRun.of(() -> Main.execute(Main.commandLine(List.of(), arguments), arguments));
  }

  private Path password(String text) throws IOException {
    return Files.writeString(dir.resolve("password"), text + "\n");
  }

  private Datacenter start(String user, String credential, String rights) {
    return TestCluster.one(
        """
        osier {
          dc = eu, store.dir = "", shutdown-timeout = 0s, keyspaces { shop {} }
          listen { client-port = 0, peer-port = 0 }
          users { %s { credential = "%s", rights = [%s] } }
        }
        """
            .formatted(user, credential, rights));
  }

  @Test
  void credential_isWhatADatacenterNeeds_toLetTheUserIn() throws IOException {
    Path file = password("correct horse");
    CliRun made = run("credential", "--password-file", file.toString());
    assertThat(made.code()).isZero();
    assertThat(ScramCredential.parse(made.out()).isOf("correct horse".toCharArray())).isTrue();
    assertThat(run("credential", "--password-file", file.toString()).out())
        .as("another salt")
        .isNotEqualTo(made.out());
    try (Datacenter eu = start("cart", made.out(), "\"read shop\", \"write shop\"")) {
      String at = "127.0.0.1:" + eu.clientPort();
      String[] asCart = {
        "cli", PATIENT, "--connect", at, "--user", "cart", "--password-file", file.toString()
      };
      assertThat(run(with(asCart, "counter", "incr", "c")).out()).isEqualTo("1");
      assertThat(run(with(asCart, "stat")).err())
          .contains("error FORBIDDEN: ")
          .endsWith("a right is missing: admin *");
      assertThat(run("cli", PATIENT, "--connect", at, "get", "c").err())
          .contains("error NOT_AUTHENTICATED: ");
      password("hunter2");
      CliRun wrong = run(with(asCart, "get", "c"));
      assertThat(wrong.code()).isEqualTo(1);
      assertThat(wrong.err()).contains("error NOT_AUTHENTICATED: ").doesNotContain("hunter2");
      CliRun backup =
          run("backup", "--connect", at, "--user", "cart", "--password-file", file.toString());
      assertThat(backup.err()).contains("error NOT_AUTHENTICATED: ");
    }
  }

  @Test
  void users_areManaged_andPasswordsAreNoArguments() throws IOException {
    Path secret = password("correct horse");
    Path other = Files.writeString(dir.resolve("other"), "battery staple");
    String line = run("credential", "--password-file", secret.toString()).out();
    try (Datacenter eu = start("admin", line, "\"admin *\"")) {
      String at = "127.0.0.1:" + eu.clientPort();
      String[] asAdmin = {
        "cli", PATIENT, "--connect", at, "--user", "admin", "--password-file", secret.toString()
      };
      assertThat(run(with(asAdmin, "user", "list")).out()).contains("admin", "admin *", "file");
      CliRun created =
          run(
              with(
                  asAdmin,
                  "--new-password-file",
                  other.toString(),
                  "user",
                  "create",
                  "cart",
                  "read",
                  "shop,",
                  "write",
                  "shop",
                  "cart:"));
      assertThat(created.out()).contains("cart", "read shop, write shop cart:", "by admin@eu");
      assertThat(created.err()).doesNotContain("battery");
      String[] asCart = {
        "cli", PATIENT, "--connect", at, "--user", "cart", "--password-file", other.toString()
      };
      assertThat(run(with(asCart, "counter", "incr", "cart:1")).out()).isEqualTo("1");
      assertThat(run(with(asCart, "user", "list")).err()).contains("error FORBIDDEN");
      assertThat(run(with(asAdmin, "user", "revoke", "cart", "read", "shop")).out())
          .doesNotContain("read shop");
      assertThat(run(with(asCart, "get", "cart:1")).err()).contains("missing: read shop cart:1");
      assertThat(run(with(asCart, "counter", "incr", "cart:1")).out())
          .as("done by who may not see how far it is")
          .isEqualTo("done");
      assertThat(run(with(asCart, "returning", "counter", "incr", "cart:1")).err())
          .contains("error FORBIDDEN");
      assertThat(run(with(asAdmin, "user", "grant", "cart", "read", "shop", "cart:")).code())
          .isZero();
      assertThat(run(with(asCart, "get", "cart:1")).out()).isEqualTo("2");
      assertThat(
              run(with(asAdmin, "--new-password-file", secret.toString(), "user", "passwd", "cart"))
                  .code())
          .isZero();
      assertThat(run(with(asCart, "get", "cart:1")).err()).contains("error NOT_AUTHENTICATED");
      assertThat(run(with(asAdmin, "user", "drop", "cart")).out()).isEqualTo("dropped");
      assertThat(run(with(asAdmin, "user", "drop", "cart")).err())
          .contains("there is no user cart");
      assertThat(run(with(asAdmin, "user", "drop", "admin")).err())
          .contains("nobody would be left");
      assertThat(run(with(asAdmin, "user", "grant", "cart", "own", "shop")).err())
          .contains("none of read, write and admin");
      assertThat(run(with(asAdmin, "user", "rename", "cart")).err())
          .contains("user has no 'rename'");
      assertThat(run(with(asAdmin, "--no-password", "user", "passwd", "admin")).err())
          .contains("--no-password does not go");
      String[] withFile = with(asAdmin, "--new-password-file", other.toString());
      assertThat(run(with(withFile, "user", "create", "default", "read", "shop")).err())
          .contains("'default' has no password");
      assertThat(run(with(withFile, "--no-password", "user", "create", "ann", "read shop")).err())
          .contains("does not go with --new-password-file");
    }
  }

  private static String[] with(String[] words, String... more) {
    String[] all = Arrays.copyOf(words, words.length + more.length);
    System.arraycopy(more, 0, all, words.length, more.length);
    return all;
  }

  @Test
  void wrongArguments_areNamed() throws IOException {
    CliRun lonely = run("cli", "--password-file", password("x").toString(), "get", "c");
    assertThat(lonely.code()).isEqualTo(2);
    assertThat(lonely.err()).startsWith("error: --password-file is a user's; add --user");
    CliRun missing =
        run("cli", "--user", "cart", "--password-file", dir.resolve("none").toString(), "get", "c");
    assertThat(missing.code()).isEqualTo(1);
    assertThat(missing.err()).startsWith("error CONFIGURATION: --password-file: ");
    CliRun empty = run("credential", "--password-file", password("").toString());
    assertThat(empty.err()).startsWith("error INVALID_ARGUMENT: a password must not be empty");
    assertThat(run("cli", "--password", "secret", "get", "c").code())
        .as("there is no such option")
        .isEqualTo(2);
  }

  @Test
  void usersCertificate_namesTheUser() throws Exception {
    String certs = dir.resolve("certs").toString();
    assertThat(run("cert", "authority", "--dir", certs).code()).isZero();
    assertThat(run("cert", "user", "cart", "--dir", certs).code()).isZero();
    try (var in = Files.newInputStream(dir.resolve("certs").resolve("cart.pem"))) {
      X509Certificate made =
          (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
      assertThat(TlsName.of(made)).containsExactly("osier://osier/user/cart");
      assertThat(TlsName.user(TlsName.of(made), "osier")).contains("cart");
      assertThat(TlsName.user(TlsName.of(made), "other")).isEmpty();
    }
  }
}
