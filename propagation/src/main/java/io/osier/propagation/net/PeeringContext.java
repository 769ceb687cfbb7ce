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
 * What all connections of a datacenter know. Thread-safe.
 *
 * @param fingerprints by a peer's name, the fingerprints of the keyspaces that both hold
 * @param tls empty if what is said can be read by anybody on the way
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
  /** What a connection must know of the others. */
  interface Others {
    Set<String> names();

    /** How many bytes a second are compressed of what each one is told; 0 for none. */
    int compressed();
  }

  private static final Logger LOG = LoggerFactory.getLogger(PeeringContext.class);

  /** Which of several processes of one name is talked to. */
  PeerIdentities identities() {
    return greeting.identities();
  }

  /** What differs, by name and once; the keyspaces that agree are replicated all the same. */
  KeyspaceAgreement compare(String dc, List<String> mine, List<String> theirs) {
    KeyspaceAgreement agreement = KeyspaceAgreement.of(self.dc(), mine, dc, theirs);
    if (agreement.differing().isEmpty()) {
      if (said.end("=" + dc)) {
        LOG.info("{} and this datacenter agree on all keyspaces", dc);
      }
    } else if (said.isNews("=" + dc, agreement.differing().toString())) {
      agreement
          .differing()
          .forEach(
              (name, what) ->
                  LOG.error("keyspace '{}' is not replicated with {}: {}", name, dc, what));
    }
    listener.compared(dc, agreement.differing());
    return agreement;
  }

  /** Whatever was said of a datacenter is news again. */
  void forgetSaid(String dc) {
    said.end(">" + dc);
    said.end("=" + dc);
    said.end("v" + dc);
  }
}
