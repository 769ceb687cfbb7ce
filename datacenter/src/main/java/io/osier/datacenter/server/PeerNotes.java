package io.osier.datacenter.server;

import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.datacenter.control.execution.Control;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.pubsub.PublishNote;
import io.osier.datacenter.trace.Traces;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes the notes of other datacenters on by their kind. Thread-safe. */
final class PeerNotes {
  private static final Logger LOG = LoggerFactory.getLogger(PeerNotes.class);

  private final Traces traces;
  private final Control control;
  private final PubSub pubSub;
  private volatile @Nullable Reports reports; // null during the start

  PeerNotes(Traces traces, Control control, PubSub pubSub) {
    this.traces = traces;
    this.control = control;
    this.pubSub = pubSub;
  }

  /** Sets the receiver of notes that no other part takes. */
  void setReports(Reports all) {
    reports = all;
  }

  /** Handles a note of another datacenter. */
  void noted(ReplicaId peer, byte[] content) {
    if (Traces.isNote(content)) {
      traces.noted(peer, content);
      return;
    }
    if (PublishNote.isOne(content)) {
      published(peer, content);
      return;
    }
    Reports to = reports;
    if (to != null && !control.joining().noted(peer.dc(), content)) {
      to.noted(peer.dc(), content);
    }
  }

  /** Handles a message that a client of another datacenter has published. */
  private void published(ReplicaId peer, byte[] note) {
    try {
      pubSub.received(note);
    } catch (MalformedException e) {
      LOG.debug("{} sent a note that cannot be decoded", peer, e);
    }
  }
}
