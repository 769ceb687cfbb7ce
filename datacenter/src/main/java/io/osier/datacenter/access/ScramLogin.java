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
 * A datacenter's side of one login by SCRAM-SHA-256: a challenge, then a verdict, once each. The
 * time that it takes does not depend on whether the user exists. Not thread-safe.
 */
public final class ScramLogin {
  /** The client's final message, without extensions: the known ones change nothing here. */
  private static final Pattern FINAL =
      Pattern.compile("c=([A-Za-z0-9+/=]{4,16}),r=([!-+\\--~]{1,256}),p=([A-Za-z0-9+/]{43}=)");

  private static final int NONCE_CHARS_MAX = 128;

  /** The length of the headers n,, and y,,: no channel binding, and no other authorization name. */
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

  /** The outcome of a login. */
  public sealed interface Verdict {
    /**
     * The password is right.
     *
     * @param identity the user
     * @param proof the proof for the client that this datacenter knows the user
     */
    record Accepted(Identity identity, String proof) implements Verdict {}

    /** The password is wrong, or there is no such user. */
    record Refused() implements Verdict {}
  }

  /**
   * Begins a login.
   *
   * @param users the present users
   * @param serverNonce a random text for this login alone, so that proofs of other logins are
   *     worthless here
   */
  public ScramLogin(Users users, DecoyCredentials decoys, String serverNonce) {
    this.users = users;
    this.decoys = decoys;
    this.serverNonce = serverNonce;
  }

  /**
   * Returns the challenge for a client.
   *
   * @param message the client's first message
   * @throws OsierException MALFORMED if it is no such message
   */
  public String challenge(String message) {
    ClientFirstMessage first = parse(message);
    String name = first.getUsername();
    Optional<ScramCredential> known = users.find(name).flatMap(User::credential);
    ScramCredential decoy = decoys.of(name, users); // always made, as it takes time
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
      // The proof covers the exact characters, so a message that would be written differently is
      // refused.
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

  /** Returns the name that the client claims; empty before its first message. */
  public String claimed() {
    Challenge asked = challenge;
    return asked == null ? "" : asked.first.getUsername();
  }

  /**
   * Checks the client's proof.
   *
   * @param message the client's final message
   * @throws OsierException MALFORMED if it is no such message, or belongs to another login
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
    if (!(right && asked.isReal)) { // both were computed in any case
      return new Verdict.Refused();
    }
    return new Verdict.Accepted(
        new Identity(asked.first.getUsername(), Optional.of(asked.credential)),
        new ServerFinalMessage(signature).toString());
  }
}
