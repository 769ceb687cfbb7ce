package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Makes certificates with the JDK's keytool, which is in every Java runtime, and writes them in PEM
 * form. Keys are on the curve secp256r1; only their owner may read their files.
 */
public final class CertificateMaker {
  private static final String AUTHORITY = "authority";
  private static final String ALIAS = "one";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9*]([A-Za-z0-9.*-]*[A-Za-z0-9])?");
  private static final Pattern ADDRESS =
      Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");
  private static final long KEYTOOL_SECONDS = 60;

  /**
   * The environment variable from which keytool takes its file's password; other users cannot read
   * it.
   */
  private static final String PASSWORD = "OSIER_KEYTOOL_PASSWORD";

  private CertificateMaker() {}

  /**
   * Makes an authority: {@code authority.pem} and {@code authority.key}.
   *
   * @return the files
   * @throws OsierException CONFIGURATION if the files exist already, or the directory cannot be
   *     written to
   */
  public static List<Path> authority(Path dir, String cluster, int days) {
    try {
      Files.createDirectories(dir);
    } catch (IOException e) {
      throw failed("the directory " + dir + " cannot be made", e);
    }
    return make(
        dir,
        AUTHORITY,
        (work, store, password) ->
            makeKey(
                store,
                password,
                "Authority of the Osier cluster " + cluster,
                days,
                "-ext",
                "bc:critical=ca:true,pathlen:0",
                "-ext",
                "ku:critical=keyCertSign,cRLSign"));
  }

  /**
   * Makes a certificate that the authority in a directory signs: {@code NAME.pem} and {@code
   * NAME.key}.
   *
   * @param uri the owner's URI, for the alternative names
   * @param hosts the names and addresses under which the owner is dialled
   * @return the files
   * @throws OsierException CONFIGURATION if there is no authority, the files exist already, or a
   *     name is invalid
   */
  public static List<Path> signed(Path dir, String name, String uri, List<String> hosts, int days) {
    return signed(dir, name, uri, hosts, days, "+0d");
  }

  /**
   * As the other method, with the beginning of the validity.
   *
   * @param from when the validity begins, in the form of keytool's -startdate
   */
  static List<Path> signed(
      Path dir, String name, String uri, List<String> hosts, int days, String from) {
    if (!NAME.matcher(name).matches() || name.equals(AUTHORITY)) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "a certificate's name is 1 to 63 of A-Z a-z 0-9 . _ -, and not "
              + AUTHORITY
              + "; not '"
              + name
              + "'");
    }
    List<String> names = new ArrayList<>();
    names.add("uri:" + uri);
    for (String host : hosts) {
      if (ADDRESS.matcher(host).matches()) {
        names.add("ip:" + host);
      } else if (HOST.matcher(host).matches()) {
        names.add("dns:" + host);
      } else {
        throw new OsierException(
            ErrorCode.CONFIGURATION, "'" + host + "' is no host name and no address");
      }
    }
    Path authority = dir.resolve(AUTHORITY + ".pem");
    Path authorityKey = dir.resolve(AUTHORITY + ".key");
    if (!Files.isReadable(authority) || !Files.isReadable(authorityKey)) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "there is no authority in "
              + dir
              + " ("
              + AUTHORITY
              + ".pem and .key); make one first: osier cert authority --dir "
              + dir);
    }
    return make(
        dir,
        name,
        (work, store, password) -> {
          putAuthority(authority, authorityKey, store, password);
          makeKey(
              store,
              password,
              name,
              days,
              "-signer",
              AUTHORITY,
              "-ext",
              "ku:critical=digitalSignature",
              "-ext",
              "eku=serverAuth,clientAuth",
              "-ext",
              "san=" + String.join(",", names),
              "-startdate",
              from);
        });
  }

  private static void makeKey(
      Path store, String password, String subject, int days, String... options) throws IOException {
    List<String> arguments = new ArrayList<>();
    Collections.addAll(arguments, "-genkeypair", "-alias", ALIAS, "-keyalg", "EC");
    Collections.addAll(arguments, "-groupname", "secp256r1", "-dname", "CN=" + quoted(subject));
    Collections.addAll(arguments, options);
    Collections.addAll(arguments, "-validity", Integer.toString(days), "-keystore");
    arguments.add(store.toString());
    keytool(password, arguments);
  }

  private interface Maker {
    void make(Path work, Path store, String password) throws IOException, GeneralSecurityException;
  }

  private static List<Path> make(Path dir, String name, Maker maker) {
    Path certificate = dir.resolve(name + ".pem");
    Path key = dir.resolve(name + ".key");
    for (Path file : List.of(certificate, key)) {
      if (Files.exists(file)) {
        throw new OsierException(
            ErrorCode.CONFIGURATION,
            file + " is there already; remove it first, or choose another directory");
      }
    }
    String password = drawn(24);
    try {
      Path work = Files.createTempDirectory("osier-cert"); // only its owner may read it
      try {
        Path store = work.resolve("store.p12");
        maker.make(work, store, password);
        write(store, password, certificate, key);
      } finally {
        remove(work);
      }
    } catch (IOException | GeneralSecurityException e) {
      throw failed("the certificate of " + name + " cannot be made in " + dir, e);
    }
    return List.of(certificate, key);
  }

  private static void write(Path from, String password, Path certificate, Path key)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (var in = Files.newInputStream(from)) {
      store.load(in, password.toCharArray());
    }
    Key secret = store.getKey(ALIAS, password.toCharArray());
    writeSecret(key, pem("PRIVATE KEY", secret.getEncoded()));
    Certificate[] chain = store.getCertificateChain(ALIAS);
    StringBuilder text = new StringBuilder();
    // The authority's certificate is left out: it has its own file, which the other end has.
    for (int i = 0; i < Math.max(1, chain.length - 1); i++) {
      text.append(pem("CERTIFICATE", chain[i].getEncoded()));
    }
    Files.writeString(certificate, text);
  }

  /** Writes a new file that only its owner can read from the beginning. */
  static void writeSecret(Path file, String text) throws IOException {
    Files.createFile(
        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(file, text);
  }

  /** Draws random bytes, and returns them as letters, digits, - and _. */
  static String drawn(int bytes) {
    byte[] random = new byte[bytes];
    new SecureRandom().nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  private static void putAuthority(Path certificate, Path key, Path store, String password)
      throws IOException, GeneralSecurityException {
    Certificate signer;
    try (var in = Files.newInputStream(certificate)) {
      signer = CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
    byte[] secret =
        Base64.getMimeDecoder()
            .decode(
                Files.readString(key, StandardCharsets.US_ASCII).replaceAll("-----[^-]+-----", ""));
    KeyStore all = KeyStore.getInstance("PKCS12");
    all.load(null, null);
    all.setKeyEntry(
        AUTHORITY,
        KeyFactory.getInstance(signer.getPublicKey().getAlgorithm())
            .generatePrivate(new PKCS8EncodedKeySpec(secret)),
        password.toCharArray(),
        new Certificate[] {signer});
    try (var out = Files.newOutputStream(store)) {
      all.store(out, password.toCharArray());
    }
  }

  private static void keytool(String password, List<String> arguments) throws IOException {
    Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    List<String> command = new ArrayList<>(List.of(keytool.toString()));
    command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")); // starts sooner
    // The file exists for a second with a random password: many rounds of hashing add nothing.
    for (String rounds : List.of("keyPbe", "certPbe", "mac")) {
      command.add("-J-Dkeystore.pkcs12." + rounds + "IterationCount=1");
    }
    command.addAll(arguments);
    command.addAll(List.of("-storetype", "PKCS12", "-storepass:env", PASSWORD));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put(PASSWORD, password);
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (!process.waitFor(KEYTOOL_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException("keytool takes too long: " + said.strip());
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
    if (process.exitValue() != 0) {
      throw new IOException("keytool says: " + said.strip());
    }
  }

  /** Quotes a value of a distinguished name, so that each character stands for itself. */
  private static String quoted(String value) {
    return "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static String pem(String what, byte[] content) {
    return "-----BEGIN "
        + what
        + "-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content)
        + "\n-----END "
        + what
        + "-----\n";
  }

  private static void remove(Path dir) throws IOException {
    try (Stream<Path> all = Files.list(dir)) {
      for (Path file : all.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(dir);
  }

  private static OsierException failed(String what, Exception cause) {
    return new OsierException(ErrorCode.CONFIGURATION, what + ": " + cause.getMessage(), cause);
  }
}
