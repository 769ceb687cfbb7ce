package io.osier.datacenter.access;

import com.ongres.scram.common.ClientFirstMessage;
import com.ongres.scram.common.ScramFunctions;
import com.ongres.scram.common.ScramMechanism;
import com.ongres.scram.common.ServerFinalMessage;
import com.ongres.scram.common.ServerFirstMessage;
import com.ongres.scram.common.exception.ScramParseException;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A datacenter's side of one login by SCRAM-SHA-256: a challenge, then a verdict, once each. What
 * it takes does not depend on whether the user exists. Not thread-safe.
 */
public final class ScramLogin {
  /** The proof, without extensions: those that there are change nothing here. */
  private static final Pattern FINAL =
      Pattern.compile("c=([A-Za-z0-9+/=]{4,16}),r=([!-+\\--~]{1,256}),p=([A-Za-z0-9+/]{43}=)");

  private static final int NONCE_CHARS_MAX = 128;

  /** Of n,, and y,,: no channel binding, and nobody else's name to act in. */
  private static final int HEADER_CHARS = 3;

  private final Users users;
  private final DecoyCredentials decoys;
  private final String serverNonce;
  private @Nullable Challenge challenge;

  private record Challenge(
      String header,
      ClientFirstMessage first,
      ServerFirstMessage server,
      ScramCredential credential,
      boolean isReal) {}

  /** What becomes of a login. */
  public sealed interface Verdict {
    /**
     * The password is right.
     *
     * @param proof that this end knows the user, for the client
     */
    record Accepted(Identity identity, String proof) implements Verdict {}

    /** It is not, or there is no such user. */
    record Refused() implements Verdict {}
  }

  /**
   * @param users those there are now
   * @param serverNonce drawn at random, for this login alone: so no proof of another one is one
   *     here
   */
  public ScramLogin(Users users, DecoyCredentials decoys, String serverNonce) {
    this.users = users;
    this.decoys = decoys;
    this.serverNonce = serverNonce;
  }

  /**
   * What is asked of a client.
   *
   * @param message the client's first one
   * @throws OsierException MALFORMED if it is none
   */
  public String challenge(String message) {
    ClientFirstMessage first = parse(message);
    String name = first.getUsername();
    Optional<ScramCredential> known = users.find(name).flatMap(User::credential);
    ScramCredential decoy = decoys.of(name, users); // made in any case: it takes its time
    ScramCredential credential = known.orElse(decoy);
    ServerFirstMessage server =
        new ServerFirstMessage(
            first.getClientNonce(),
            serverNonce,
            Base64.getEncoder().encodeToString(credential.salt()),
            credential.iterations());
    challenge =
        new Challenge(
            message.substring(0, HEADER_CHARS), first, server, credential, known.isPresent());
    return server.toString();
  }

  private static ClientFirstMessage parse(String message) {
    try {
      ClientFirstMessage first = ClientFirstMessage.parseFrom(message);
      // The proof is of the very characters: what is read in another way is not what was meant.
      if (!(message.startsWith("n,,") || message.startsWith("y,,"))
          || !first.toString().equals(message)
          || !User.isName(first.getUsername())
          || first.getClientNonce().length() > NONCE_CHARS_MAX) {
        throw malformed();
      }
      return first;
    } catch (ScramParseException | IllegalArgumentException e) {
      throw malformed();
    }
  }

  private static OsierException malformed() {
    return new OsierException(
        ErrorCode.MALFORMED, "that is no message of a login by " + ScramCredential.MECHANISM);
  }

  /** Who wants to log in, as they say; the empty name before they have said it. */
  public String claimed() {
    Challenge asked = challenge;
    return asked == null ? "" : asked.first.getUsername();
  }

  /**
   * Looks at the proof.
   *
   * @param message the client's last one
   * @throws OsierException MALFORMED if it is none, or does not belong to this login
   */
  public Verdict verdict(String message) {
    Challenge asked = challenge;
    Matcher parts = FINAL.matcher(message);
    if (asked == null || !parts.matches()) {
      throw malformed();
    }
    challenge = null; // once
    String header =
        Base64.getEncoder().encodeToString(asked.header.getBytes(StandardCharsets.US_ASCII));
    if (!parts.group(1).equals(header) || !parts.group(2).equals(asked.server.getNonce())) {
      throw malformed();
    }
    byte[] proof;
    try {
      proof = Base64.getDecoder().decode(parts.group(3));
    } catch (IllegalArgumentException e) {
      throw malformed();
    }
    ScramMechanism mechanism = ScramMechanism.SCRAM_SHA_256;
    String said = ScramFunctions.authMessage(asked.first, asked.server, null);
    boolean right =
        ScramFunctions.verifyClientProof(mechanism, proof, asked.credential.storedKey(), said);
    byte[] signature =
        ScramFunctions.serverSignature(mechanism, asked.credential.serverKey(), said);
    if (!(right && asked.isReal)) { // both are known by now
      return new Verdict.Refused();
    }
    return new Verdict.Accepted(
        new Identity(asked.first.getUsername(), Optional.of(asked.credential)),
        new ServerFinalMessage(signature).toString());
  }
}
