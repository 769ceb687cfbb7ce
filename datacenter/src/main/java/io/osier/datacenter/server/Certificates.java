package io.osier.datacenter.server;

import io.osier.core.OsierException;
import io.osier.core.tls.TlsContext;
import io.osier.datacenter.config.TlsSettings;
import io.osier.propagation.net.PeerTls;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS contexts of a datacenter's ports. From {@link #watch} until {@link #close}, changed files
 * are read again; open connections keep the certificates with which they began. Thread-safe.
 */
final class Certificates implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Certificates.class);

  /** The pause between two checks of the files. */
  private static final long LOOK_MILLIS = 1_000;

  private static final long DAY_MILLIS = 24 * 3_600_000L;
  private static final long WARNED_DAYS = 30;

  private final TlsContext clients;
  private final PeerTls peers;
  private Optional<Thread> watcher = Optional.empty();
  private long warnedMillis;

  /** How often changed files could not be used; written by one thread. */
  private volatile long failed;

  /**
   * Reads the files.
   *
   * @throws OsierException CONFIGURATION if one cannot be used
   */
  Certificates(TlsSettings tls) {
    this.clients =
        new TlsContext(
            tls.files(),
            switch (tls.clientCertificates()) {
              case TRUE -> TlsContext.Trust.CLIENTS;
              case OPTIONAL -> TlsContext.Trust.WHO_SHOWS_ONE;
              case FALSE -> TlsContext.Trust.NOBODY;
            },
            tls.provider(),
            tls.required());
    this.peers =
        new PeerTls(
            new TlsContext(tls.files(), TlsContext.Trust.CLIENTS, tls.provider(), tls.required()),
            new TlsContext(
                tls.files(), TlsContext.Trust.AUTHORITY, tls.provider(), tls.required()));
  }

  /** Returns the TLS context of the client port and the admin port. */
  TlsContext clients() {
    return clients;
  }

  /** Returns the TLS contexts of the peer port and of connections to peers. */
  PeerTls peers() {
    return peers;
  }

  /**
   * Returns when the certificates expire, see {@link TlsContext#expiries}; the same for all ports.
   */
  SortedMap<String, Long> expiries() {
    return clients.expiries();
  }

  /** Starts to check the files, until this is closed. */
  synchronized void watch() {
    watcher = Optional.of(Thread.ofVirtual().name("osier-certificates").start(this::lookOn));
  }

  private void lookOn() {
    try {
      while (true) {
        look(System.currentTimeMillis());
        Thread.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      LOG.debug("certificates are no longer watched for changes", e);
    }
  }

  /** Returns how often changed files could not be used. */
  long failed() {
    return failed;
  }

  /** Reads the files that have changed, and warns of certificates that expire soon. */
  void look(long nowMillis) {
    boolean anew = false;
    String wrong = null;
    for (TlsContext context : List.of(clients, peers.accept(), peers.dial())) {
      try {
        anew |= context.refresh();
      } catch (OsierException e) {
        wrong = e.reason();
      }
    }
    if (wrong != null) {
      long before = failed;
      failed = before + 1;
      LOG.error("{}; the certificates that were read before stay in use", wrong);
    } else if (anew) {
      LOG.info("certificates were read again; new connections use them");
      warnedMillis = 0;
    }
    warn(nowMillis);
  }

  private void warn(long nowMillis) {
    if (nowMillis - warnedMillis < DAY_MILLIS) {
      return;
    }
    expiries()
        .forEach(
            (subject, seconds) -> {
              long left = seconds * 1_000 - nowMillis;
              if (left < WARNED_DAYS * DAY_MILLIS) {
                warnedMillis = nowMillis;
                LOG.warn(
                    "the certificate of {} {}; put a new one in its place: it is read without a"
                        + " restart",
                    subject,
                    left < 0 ? "has expired" : "expires in " + left / DAY_MILLIS + " days");
              }
            });
  }

  @Override
  public synchronized void close() {
    watcher.ifPresent(Thread::interrupt);
  }
}
