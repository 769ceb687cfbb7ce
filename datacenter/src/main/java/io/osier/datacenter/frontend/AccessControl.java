package io.osier.datacenter.frontend;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.scram.ScramCredential;
import io.osier.core.tls.TlsName;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.LoginThrottle;
import io.osier.datacenter.access.RequestRights;
import io.osier.datacenter.access.ScramLogin;
import io.osier.datacenter.access.TransactionRights;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.forward.Forwardable;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.shard.RefusedParts;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides who may log in at the ports for clients, and what each user may ask. The users are looked
 * up for each request, so a change of them takes effect at once, on open connections, too.
 * Thread-safe; no method blocks.
 */
public final class AccessControl {
  private static final int NONCE_BYTES = 18;

  private final Supplier<Users> users;
  private final String cluster;
  private final DecoyCredentials decoys;
  private final AuditLog audit;
  private final LoginThrottle throttle = new LoginThrottle();

  /** Open transactions; a causal keyspace, which alone has some, has one partition. */
  private final TransactionRights transactions =
      new TransactionRights(PartitionConfig.OPEN_TRANSACTIONS_MAX);

  private final LongSupplier nanoTime;
  private final Supplier<String> nonces;

  /** Whether the present users are known, which takes a datacenter some time after its start. */
  private volatile BooleanSupplier known = () -> true;

  /**
   * @param users returns the present users; cheap
   */
  public AccessControl(
      Supplier<Users> users, String cluster, DecoyCredentials decoys, AuditLog audit) {
    this(users, cluster, decoys, audit, System::nanoTime, nonces(new SecureRandom()));
  }

  /**
   * As the other constructor, with the clock and random numbers passed in, for virtual time.
   *
   * @param nanoTime a monotonic clock
   * @param nonces makes nonces for logins, each once, that nobody can guess
   */
  public AccessControl(
      Supplier<Users> users,
      String cluster,
      DecoyCredentials decoys,
      AuditLog audit,
      LongSupplier nanoTime,
      Supplier<String> nonces) {
    this.users = users;
    this.cluster = cluster;
    this.decoys = decoys;
    this.audit = audit;
    this.nanoTime = nanoTime;
    this.nonces = nonces;
  }

  /** Returns a source of nonces that are drawn from these random numbers. */
  static Supplier<String> nonces(RandomGenerator random) {
    return () -> {
      byte[] nonce = new byte[NONCE_BYTES];
      random.nextBytes(nonce);
      return Base64.getEncoder().encodeToString(nonce);
    };
  }

  /** Returns the present users. */
  public Users users() {
    return users.get();
  }

  /** Sets the condition for which logins wait: that the present users are known. */
  public void setKnown(BooleanSupplier isKnown) {
    known = isKnown;
  }

  /**
   * Returns whether logins must wait, since the known users may be old and one of them may have
   * been dropped meanwhile.
   */
  public boolean isWaiting() {
    return !known.getAsBoolean() && !users.get().isOpen();
  }

  /** Returns the log of logins, refusals and administration. */
  public AuditLog audit() {
    return audit;
  }

  // ---------------------------------------------------------------- logins

  /** Begins a login by a password. */
  ScramLogin begin() {
    return new ScramLogin(users.get(), decoys, nonces.get());
  }

  /**
   * Refuses a login if too many of the user, or from the address, have failed.
   *
   * @throws OsierException OVERLOADED, with how long to wait
   */
  public void checkPause(String user, SocketAddress from) {
    long nanos;
    synchronized (throttle) {
      nanos = throttle.pauseNanos(user, address(from), nanoTime.getAsLong());
    }
    if (nanos > 0) {
      audit.loginFailed(user, address(from), "too many logins failed before");
      throw new OsierException(
          ErrorCode.OVERLOADED,
          "too many logins have failed; the next one may come in "
              + (nanos / 1_000_000_000 + 1)
              + " s");
    }
  }

  /** Notes a login that failed, and returns the error for its client. */
  public OsierException failed(String user, SocketAddress from) {
    synchronized (throttle) {
      throttle.failed(user, address(from), nanoTime.getAsLong());
    }
    audit.loginFailed(user, address(from), "unknown user or wrong password");
    return new OsierException(
        ErrorCode.NOT_AUTHENTICATED, "the user is unknown, or the password is wrong");
  }

  /** Notes a login with the right password. */
  public void succeeded(String user, SocketAddress from, String client) {
    synchronized (throttle) {
      throttle.succeeded(user, address(from));
    }
    audit.loggedIn(user, address(from), "password", client);
  }

  /**
   * Returns the identity of a client that does not log in: the user of its certificate, or the
   * default user.
   *
   * @param names the names in the certificate
   * @param client the name that the client gives itself
   * @throws OsierException NOT_AUTHENTICATED if there is no such user
   */
  Identity withoutPassword(Set<String> names, SocketAddress from, String client) {
    Optional<Identity> known = unasked(names, from, client);
    if (known.isPresent()) {
      return known.get();
    }
    Optional<String> user = TlsName.user(names, cluster);
    audit.loginFailed(user.orElse(Users.DEFAULT), address(from), "there is no such user");
    throw new OsierException(
        ErrorCode.NOT_AUTHENTICATED,
        user.isPresent()
            ? "the user that the certificate names is unknown here"
            : "who connects here must log in, with a user's name and password or certificate");
  }

  /**
   * Returns the identity of a client that has not logged in and may still do so.
   *
   * @param names the names in the certificate
   * @return empty if there is no such user
   */
  public Optional<Identity> unasked(Set<String> names, SocketAddress from, String client) {
    Optional<String> user = TlsName.user(names, cluster);
    Identity identity = user.map(u -> new Identity(u, Optional.empty())).orElse(Identity.DEFAULT);
    if (identity.in(users.get()).isEmpty()) {
      return Optional.empty();
    }
    user.ifPresent(u -> audit.loggedIn(u, address(from), "certificate", client));
    return Optional.of(identity);
  }

  /** Returns the user that a certificate names; empty if there is none. */
  public Optional<User> ofCertificate(Set<String> names) {
    return TlsName.user(names, cluster).flatMap(u -> users.get().find(u));
  }

  /** Returns the credential with which the password of an unknown user is compared. */
  public ScramCredential decoy(String name) {
    return decoys.of(name, users.get());
  }

  /**
   * Returns an address without its port, by which wrong passwords are counted: for IPv6 its
   * network.
   */
  public static String address(SocketAddress from) {
    if (!(from instanceof InetSocketAddress inet) || inet.getAddress() == null) {
      return String.valueOf(from);
    }
    InetAddress address = inet.getAddress();
    byte[] bytes = address.getAddress();
    return bytes.length == 4
        ? address.getHostAddress()
        : HexFormat.ofDelimiter(":").formatHex(Arrays.copyOf(bytes, 8)) + "::/64";
  }

  // ---------------------------------------------------------------- requests

  /**
   * Returns why a request is refused: the user is gone, or lacks a right.
   *
   * @return null if the request may be done
   */
  @SuppressWarnings("ReferenceEquality") // OPEN is one object
  Reply.@Nullable Failure refusal(ConnectionUser visitor, Request request, SocketAddress from) {
    Users now = users.get();
    if (now == Users.OPEN) {
      return null;
    }
    Optional<User> user = visitor.in(now);
    if (user.isEmpty()) {
      return new Reply.Failure(
          ErrorCode.NOT_AUTHENTICATED,
          "nothing was done: the user is not there any more, or has another password; log in"
              + " again");
    }
    Grant missing = RequestRights.missing(user.get(), request);
    if (missing == null) {
      try {
        missing = missingInTransaction(user.get(), request);
      } catch (OsierException e) {
        return new Reply.Failure(e.code(), e.reason());
      }
    }
    if (missing == null) {
      return null;
    }
    audit.refused(user.get().name(), address(from), RequestWatch.Kind.of(request).label(), missing);
    return forbidden(missing);
  }

  /**
   * Returns the present rights of a user, for steps of a script, which are checked in the
   * partition's turn.
   */
  @SuppressWarnings("ReferenceEquality") // as above
  StepRights stepRights(ConnectionUser visitor) {
    Users now = users.get();
    return now == Users.OPEN ? StepRights.ALL : new StepRights(visitor.in(now));
  }

  /** Notes in the audit log that a user lacked a right to steps of a script. */
  void noteMissing(StepRights rights, String user, SocketAddress from) {
    rights
        .missing()
        .ifPresent(
            missing ->
                audit.refused(user, address(from), RequestWatch.Kind.PROGRAM.label(), missing));
  }

  /**
   * Returns the parts of a batch that are refused for want of a right, of a batch that {@link
   * #refusal} lets pass.
   */
  @SuppressWarnings("ReferenceEquality") // as above
  RefusedParts refusedParts(ConnectionUser visitor, Request batch, SocketAddress from) {
    Users now = users.get();
    Optional<User> user = now == Users.OPEN ? Optional.empty() : visitor.in(now);
    if (user.isEmpty()) {
      return RefusedParts.NONE;
    }
    SortedMap<Integer, Grant> missing = RequestRights.missingOfParts(user.get(), batch);
    if (missing.isEmpty()) {
      return RefusedParts.NONE;
    }
    String kind = RequestWatch.Kind.of(batch).label();
    Grant first = missing.get(missing.firstKey());
    audit.refused(user.get().name(), address(from), kind, requireNonNull(first));
    SortedMap<Integer, Reply.Failure> refused = new TreeMap<>();
    missing.forEach((part, right) -> refused.put(part, forbidden(right)));
    return new RefusedParts(refused);
  }

  /** Returns the answer to a request for which a right is missing. */
  public static Reply.Failure forbidden(Grant missing) {
    return new Reply.Failure(
        ErrorCode.FORBIDDEN, "nothing was done: a right is missing: " + missing);
  }

  private @Nullable Grant missingInTransaction(User user, Request request) {
    Request.Transact step = Forwardable.step(request);
    if (step == null) {
      return null;
    }
    synchronized (transactions) {
      return transactions.missing(user, step, nanoTime.getAsLong());
    }
  }

  /**
   * Returns the request that aborts a transaction whose commit was refused for want of a right,
   * since it could not end otherwise.
   *
   * @return null if the request was no commit of a transaction of this user
   */
  Request.@Nullable Transact abortOf(
      ConnectionUser visitor, Request request, Reply.Failure refusal) {
    Request.Transact step = Forwardable.step(request);
    Optional<User> user = visitor.in(users.get());
    if (step == null
        || step.end() != Request.End.COMMIT
        || step.step() == 1
        || refusal.code() != ErrorCode.FORBIDDEN
        || user.isEmpty()) {
      return null;
    }
    Request.Transact abort =
        new Request.Transact(
            step.keyspace(),
            step.transaction(),
            step.step(),
            Optional.empty(),
            List.of(),
            List.of(),
            Request.End.ABORT);
    try {
      return missingInTransaction(user.get(), abort) == null ? abort : null;
    } catch (OsierException e) { // another user's
      return null;
    }
  }

  /** Notes the answer to a request that was not refused here. */
  @SuppressWarnings("ReferenceEquality") // as above
  void answered(Request request, Reply reply) {
    Request.Transact step = Forwardable.step(request);
    if (step == null || users.get() == Users.OPEN) {
      return;
    }
    synchronized (transactions) {
      transactions.answered(step, reply);
    }
  }

  /** Returns how many transactions are remembered with the rights of their updates. */
  int transactionsKept() {
    synchronized (transactions) {
      return transactions.size();
    }
  }

  /** Returns the part of the answer to a scan that a user may see. */
  Reply visible(Identity identity, ScanRequest scan, Reply reply) {
    if (reply instanceof Reply.Failure) {
      return reply;
    }
    Optional<User> user = identity.in(users.get());
    if (user.isEmpty() || RequestRights.missing(user.get(), scan) != null) {
      return new Reply.Failure(ErrorCode.FORBIDDEN, "the right was revoked meanwhile");
    }
    Optional<Key> end = RequestRights.endOf(user.get(), scan);
    return reply instanceof Reply.Page page && end.isPresent()
        ? RequestRights.within(end.get(), page)
        : reply;
  }
}
