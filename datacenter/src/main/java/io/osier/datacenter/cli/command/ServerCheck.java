package io.osier.datacenter.cli.command;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.ListenAddress;
import io.osier.core.tls.PasswordFile;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.TlsSettings;
import io.osier.datacenter.config.UserSettings;
import io.osier.datacenter.store.files.StoreLayout;
import io.osier.datacenter.store.rocks.RocksDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Checks whether the machine has what a start needs, and changes nothing. For one thread. */
final class ServerCheck {
  private final DatacenterConfig config;
  private final List<String> problems = new ArrayList<>();

  private ServerCheck(DatacenterConfig config) {
    this.config = config;
  }

  /**
   * Returns the reasons why a datacenter with this configuration would not start here; empty if it
   * would.
   */
  static List<String> problems(DatacenterConfig config) {
    ServerCheck check = new ServerCheck(config);
    check.port("osier.listen.client-port", config.host(), config.clientPort());
    check.port("osier.listen.peer-port", config.host(), config.peerPort());
    config.admin().ifPresent(admin -> check.port("osier.admin.port", admin.host(), admin.port()));
    config
        .redis()
        .ifPresent(redis -> check.port("osier.listen.redis-port", config.host(), redis.port()));
    config.store().dir().ifPresent(check::store);
    config.tls().ifPresent(check::certificates);
    config.users().stream().map(UserSettings::passwordFile).forEach(f -> f.ifPresent(check::file));
    return check.problems;
  }

  private void port(String key, String host, int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(ListenAddress.of(host, port));
    } catch (IOException e) {
      problems.add(key + ": " + host + ":" + port + " cannot be listened on: " + e.getMessage());
    }
  }

  private void store(Path dir) {
    try {
      Path database = StoreLayout.database(dir);
      if (Files.exists(database)) {
        if (isInUse(database)) {
          problems.add("osier.store.dir: " + dir + " is in use by another process");
        } else {
          RocksDatabase.openReadOnly(
                  dir, config.store().durability(), config.cluster(), config.dc())
              .close();
        }
        return;
      }
    } catch (OsierException e) {
      if (e.code() != ErrorCode.STORE_FULL) { // the database exists and is still empty
        problems.add(e.reason());
      }
      return;
    }
    Path parent = dir.toAbsolutePath();
    while (!Files.exists(parent) && parent.getParent() != null) {
      parent = parent.getParent();
    }
    if (!Files.isDirectory(parent) || !Files.isWritable(parent)) {
      problems.add(
          "osier.store.dir: "
              + dir
              + " cannot be made: "
              + parent
              + (Files.isDirectory(parent) ? " cannot be written" : " is no directory"));
    }
  }

  /** Returns whether a process uses the database, by the lock that RocksDB holds on a file. */
  private boolean isInUse(Path database) {
    Path lock = database.resolve("LOCK");
    if (!Files.exists(lock)) {
      return false;
    }
    try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
        FileLock held = channel.tryLock()) {
      return held == null;
    } catch (IOException e) {
      problems.add("osier.store.dir: " + lock + " cannot be written: " + e);
      return false;
    }
  }

  private void certificates(TlsSettings tls) {
    try {
      long now = Instant.now().getEpochSecond();
      new TlsContext(tls.files(), TlsContext.Trust.CLIENTS, tls.provider(), tls.required())
          .expiries()
          .forEach(
              (subject, second) -> {
                if (second <= now) {
                  problems.add(
                      "osier.tls: the certificate of "
                          + subject
                          + " has expired, on "
                          + Instant.ofEpochSecond(second));
                }
              });
      tls.files().own().ifPresent(own -> name(own.certificate()));
    } catch (OsierException e) {
      problems.add(e.reason());
    }
  }

  /** Checks that a certificate is this datacenter's, if it has to be, or is one of Osier's. */
  private void name(Path certificate) {
    Set<String> names;
    try (InputStream in = Files.newInputStream(certificate)) {
      names =
          CertificateFactory.getInstance("X.509").generateCertificate(in)
                  instanceof X509Certificate read
              ? TlsName.of(read)
              : Set.of();
    } catch (IOException | CertificateException e) {
      problems.add("osier.tls.certificate: " + certificate + " cannot be read: " + e.getMessage());
      return;
    }
    String wanted = TlsName.ofDatacenter(config.cluster(), config.dc());
    boolean hasOthers = !config.peers().isEmpty();
    if (!names.contains(wanted) && (hasOthers || !names.isEmpty())) {
      problems.add(
          "osier.tls.certificate: "
              + certificate
              + " names "
              + (names.isEmpty() ? "no datacenter" : String.join(", ", names))
              + ", not "
              + wanted
              + ", so other datacenters refuse this one; osier cert dc makes one");
    }
  }

  private void file(Path password) {
    try {
      Arrays.fill(PasswordFile.read(password, problem -> "osier.users: " + problem), '\0');
    } catch (OsierException e) {
      problems.add(e.reason());
    }
  }
}
