package io.osier.core.tls;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The content of {@link TlsFiles}. It was checked that the key belongs to the certificate, and that
 * the certificate is valid now.
 *
 * @param authorities empty for those of the Java runtime
 */
record PemFiles(Optional<Own> own, List<X509Certificate> authorities) {
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");

  /** By a public key's algorithm, the algorithm of its signatures. */
  private static final Map<String, String> SIGNATURES =
      Map.of("EC", "SHA256withECDSA", "RSA", "SHA256withRSA", "EdDSA", "EdDSA");

  /**
   * A certificate with its key.
   *
   * @param chain the certificate first, then those that lead to an authority's
   */
  record Own(List<X509Certificate> chain, PrivateKey key) {}

  /**
   * Reads and checks the files.
   *
   * @throws OsierException CONFIGURATION if a file cannot be used
   */
  static PemFiles read(TlsFiles files) {
    return new PemFiles(
        files.own().map(PemFiles::own), files.authorities().map(PemFiles::chain).orElse(List.of()));
  }

  private static Own own(TlsFiles.Own files) {
    List<X509Certificate> chain = chain(files.certificate());
    X509Certificate first = chain.getFirst();
    try {
      first.checkValidity();
    } catch (CertificateExpiredException e) {
      throw bad(files.certificate(), "its certificate has expired, on " + first.getNotAfter(), e);
    } catch (CertificateNotYetValidException e) {
      throw bad(
          files.certificate(),
          "its certificate is not valid before " + first.getNotBefore() + "; is the clock right?",
          e);
    }
    PrivateKey key = key(files.key(), first);
    if (!belongs(key, first)) {
      throw bad(
          files.key(),
          "this key is not the one of the certificate in "
              + files.certificate()
              + "; both must come from the same request",
          null);
    }
    return new Own(chain, key);
  }

  private static List<X509Certificate> chain(Path file) {
    List<X509Certificate> chain = new ArrayList<>();
    Matcher blocks = BLOCK.matcher(text(file));
    while (blocks.find()) {
      if (!blocks.group(1).equals("CERTIFICATE")) {
        continue;
      }
      try {
        chain.add(
            (X509Certificate)
                CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(decode(file, blocks.group(2)))));
      } catch (CertificateException e) {
        throw bad(file, "certificate " + (chain.size() + 1) + " is damaged", e);
      }
    }
    if (chain.isEmpty()) {
      throw bad(file, "there is no certificate in it; it begins with BEGIN CERTIFICATE", null);
    }
    return chain;
  }

  private static PrivateKey key(Path file, X509Certificate of) {
    Matcher blocks = BLOCK.matcher(text(file));
    String other = "";
    while (blocks.find()) {
      if (!blocks.group(1).equals("PRIVATE KEY")) {
        other = blocks.group(1).endsWith("KEY") ? blocks.group(1) : other;
        continue;
      }
      String algorithm = of.getPublicKey().getAlgorithm();
      try {
        return KeyFactory.getInstance(algorithm)
            .generatePrivate(new PKCS8EncodedKeySpec(decode(file, blocks.group(2))));
      } catch (GeneralSecurityException e) {
        throw bad(file, "it is not a key of the certificate's algorithm, " + algorithm, e);
      }
    }
    throw bad(
        file,
        (other.isEmpty() ? "there is no private key in it" : "it has a " + other)
            + "; it must be in PKCS #8 and not encrypted (BEGIN PRIVATE KEY), as made by"
            + " openssl pkcs8 -topk8 -nocrypt",
        null);
  }

  private static boolean belongs(PrivateKey key, X509Certificate to) {
    String algorithm = SIGNATURES.get(to.getPublicKey().getAlgorithm());
    if (algorithm == null) {
      return true; // an unknown kind: the handshake will show it
    }
    byte[] message = {1, 2, 3};
    try {
      Signature sign = Signature.getInstance(algorithm);
      sign.initSign(key);
      sign.update(message);
      byte[] signed = sign.sign();
      Signature verify = Signature.getInstance(algorithm);
      verify.initVerify(to.getPublicKey());
      verify.update(message);
      return verify.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw bad(file, "it cannot be read: " + e.getMessage(), e);
    }
  }

  private static byte[] decode(Path file, String base64) {
    try {
      return Base64.getMimeDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      throw bad(file, "what is between BEGIN and END is not Base64", e);
    }
  }

  private static OsierException bad(Path file, String what, @Nullable Exception cause) {
    String message = file + ": " + what;
    return cause == null
        ? OsierException.of(ErrorCode.CONFIGURATION, message)
        : OsierException.of(ErrorCode.CONFIGURATION, message, cause);
  }
}
