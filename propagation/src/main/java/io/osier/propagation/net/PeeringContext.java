package io.osier.propagation.net;

import io.osier.core.ReplicaId;
import io.osier.core.net.Network;
import io.osier.propagation.net.link.KeyspaceAgreement;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all connections of a datacenter share. Thread-safe.
 *
 * @param fingerprints returns for a peer's name the fingerprints of the keyspaces that both hold
 * @param tls empty if connections are not encrypted
 */
record PeeringContext(
    ReplicaId self,
    Function<String, List<String>> fingerprints,
    Greeting greeting,
    LogThrottle said,
    Others others,
    PeerListener listener,
    Optional<PeerTls> tls,
    Network network) {
  /** The other datacenters, as far as a connection must know them. */
  interface Others {
    Set<String> names();

    /** Returns the differences between this datacenter's keyspaces and theirs. */
    Disagreements disagreements();

    /** Returns how many bytes a second are compressed on each connection; 0 for none. */
    int compressed();
  }

  private static final Logger LOG = LoggerFactory.getLogger(PeeringContext.class);

  /** Returns the part that chooses between several processes of one name. */
  PeerIdentities identities() {
    return greeting.identities();
  }

  /**
   * Compares fingerprints, and logs each difference that lasts by name, once. Keyspaces that agree
   * are replicated in any case.
   */
  KeyspaceAgreement compare(String dc, List<String> mine, List<String> theirs) {
    KeyspaceAgreement agreement = KeyspaceAgreement.of(self.dc(), mine, dc, theirs);
    Disagreements disagreements = others.disagreements();
    Disagreements.Compared compared = disagreements.compared(dc, agreement.differing());
    if (compared.isMended()) {
      LOG.info("{} and this datacenter agree on all keyspaces", dc);
    }
    if (!compared.found().isEmpty()) {
      network.later(
          () ->
              disagreements
                  .lasting(dc, compared.found())
                  .forEach(
                      d ->
                          LOG.error(
                              "keyspace '{}' is not replicated with {}: {}",
                              d.keyspace(),
                              dc,
                              d.what())),
          Disagreements.LASTING_MILLIS);
    }
    listener.compared(dc, agreement.differing());
    return agreement;
  }

  /** Forgets the log lines about a datacenter, so that they are written again. */
  void forgetSaid(String dc) {
    said.end(">" + dc);
    others.disagreements().forget(dc);
    said.end("v" + dc);
  }
}
