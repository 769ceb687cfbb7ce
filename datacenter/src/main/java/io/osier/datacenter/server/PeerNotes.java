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

/** Gives the notes of other datacenters to whom they concern. Thread-safe. */
final class PeerNotes {
  private static final Logger LOG = LoggerFactory.getLogger(PeerNotes.class);

  private final Traces traces;
  private final Control control;
  private final PubSub pubSub;
  private volatile @Nullable Reports reports; // null while everything is being started

  PeerNotes(Traces traces, Control control, PubSub pubSub) {
    this.traces = traces;
    this.control = control;
    this.pubSub = pubSub;
  }

  /** From now on these hear what is for nobody else. */
  void setReports(Reports all) {
    reports = all;
  }

  /** Another datacenter has sent a note. */
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

  /** A client of another datacenter has published something. */
  private void published(ReplicaId peer, byte[] note) {
    try {
      pubSub.received(note);
    } catch (MalformedException e) {
      LOG.debug("{} sends a note that cannot be read", peer, e);
    }
  }
}
