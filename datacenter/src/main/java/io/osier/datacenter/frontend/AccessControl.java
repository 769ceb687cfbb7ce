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
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.shard.RefusedParts;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
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
 * Who may come in through the ports, and what for. The users are looked up for each request, so a
 * change of them takes effect at once, on open connections, too. Thread-safe; nothing here waits.
 */
public final class AccessControl {
  private static final int NONCE_BYTES = 18;

  private final Supplier<Users> users;
  private final String cluster;
  private final DecoyCredentials decoys;
  private final AuditLog audit;
  private final LoginThrottle throttle = new LoginThrottle();

  /** A causal keyspace has one partition. */
  private final TransactionRights transactions =
      new TransactionRights(PartitionConfig.OPEN_TRANSACTIONS_MAX);

  private final LongSupplier nanoTime;
  private final Supplier<String> nonces;

  /** Whether it is known who the users are: of a datacenter that has just started not at once. */
  private volatile BooleanSupplier known = () -> true;

  /**
   * @param users those there are at present; cheap
   */
  public AccessControl(
      Supplier<Users> users, String cluster, DecoyCredentials decoys, AuditLog audit) {
    this(users, cluster, decoys, audit, System::nanoTime, nonces(new SecureRandom()));
  }

  /**
   * As the other one, with time and chance from outside: for tests in virtual time.
   *
   * @param nanoTime a monotonic clock
   * @param nonces for logins, which nobody can guess; each once
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

  /** Nonces as random as what they are drawn from. */
  static Supplier<String> nonces(RandomGenerator random) {
    return () -> {
      byte[] nonce = new byte[NONCE_BYTES];
      random.nextBytes(nonce);
      return Base64.getEncoder().encodeToString(nonce);
    };
  }

  public Users users() {
    return users.get();
  }

  /** Logins wait until this is true. */
  public void setKnown(BooleanSupplier isKnown) {
    known = isKnown;
  }

  /**
   * Whether who logs in must wait: the users that are known may be old, of whom one may have been
   * dropped meanwhile.
   */
  public boolean isWaiting() {
    return !known.getAsBoolean() && !users.get().isOpen();
  }

  public AuditLog audit() {
    return audit;
  }

  // ---------------------------------------------------------------- logins

  ScramLogin begin() {
    return new ScramLogin(users.get(), decoys, nonces.get());
  }

  /**
   * Refuses a login if too many have failed.
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

  /** A password was wrong, or the user does not exist. */
  public OsierException failed(String user, SocketAddress from) {
    synchronized (throttle) {
      throttle.failed(user, address(from), nanoTime.getAsLong());
    }
    audit.loginFailed(user, address(from), "unknown user or wrong password");
    return new OsierException(
        ErrorCode.NOT_AUTHENTICATED, "the user is unknown, or the password is wrong");
  }

  /** A password was right. */
  public void succeeded(String user, SocketAddress from, String client) {
    synchronized (throttle) {
      throttle.succeeded(user, address(from));
    }
    audit.loggedIn(user, address(from), "password", client);
  }

  /**
   * Who comes without a password: the user of the certificate that was shown, or the default one.
   *
   * @param names what the certificate names
   * @param client as it calls itself
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
   * Who comes without a password, where that may still follow.
   *
   * @param names what the certificate names that was shown
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

  public Optional<User> ofCertificate(Set<String> names) {
    return TlsName.user(names, cluster).flatMap(u -> users.get().find(u));
  }

  /** What a password is compared with of a user that there is not. */
  public ScramCredential decoy(String name) {
    return decoys.of(name, users.get());
  }

  /** An address without its port, as bad passwords are counted by: of IPv6 the network. */
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
   * Why a request is not done: the user is gone, or a right is missing.
   *
   * @return null if it may be done
   */
  @SuppressWarnings("ReferenceEquality") // the one there is while nobody was ever named
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
    audit.refused(user.get().name(), address(from), RequestTimes.Kind.of(request).label(), missing);
    return forbidden(missing);
  }

  /** What a user may do now of steps that are decided on in a partition's turn. */
  @SuppressWarnings("ReferenceEquality") // as above
  StepRights stepRights(ConnectionUser visitor) {
    Users now = users.get();
    return now == Users.OPEN ? StepRights.ALL : new StepRights(visitor.in(now));
  }

  /** Notes what a user was refused of steps that were decided on in a partition's turn. */
  void noteMissing(StepRights rights, String user, SocketAddress from) {
    rights
        .missing()
        .ifPresent(
            missing ->
                audit.refused(user, address(from), RequestTimes.Kind.PROGRAM.label(), missing));
  }

  /** Which parts of a batch, of which {@link #refusal} is not, are not done: a right is missing. */
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
    String kind = RequestTimes.Kind.of(batch).label();
    Grant first = missing.get(missing.firstKey());
    audit.refused(user.get().name(), address(from), kind, requireNonNull(first));
    SortedMap<Integer, Reply.Failure> refused = new TreeMap<>();
    missing.forEach((part, right) -> refused.put(part, forbidden(right)));
    return new RefusedParts(refused);
  }

  /** Why something is not done for which a right is missing. */
  public static Reply.Failure forbidden(Grant missing) {
    return new Reply.Failure(
        ErrorCode.FORBIDDEN, "nothing was done: a right is missing: " + missing);
  }

  private @Nullable Grant missingInTransaction(User user, Request request) {
    Request.Transact step = step(request);
    if (step == null) {
      return null;
    }
    synchronized (transactions) {
      return transactions.missing(user, step, nanoTime.getAsLong());
    }
  }

  /**
   * What ends a transaction whose commit was refused because a right is missing: it could only be
   * aborted.
   *
   * @return null if there is none to end, or none of this user
   */
  Request.@Nullable Transact abortOf(
      ConnectionUser visitor, Request request, Reply.Failure refusal) {
    Request.Transact step = step(request);
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
    } catch (OsierException e) { // somebody else's
      return null;
    }
  }

  private static Request.@Nullable Transact step(Request request) {
    return switch (request) {
      case Request.Transact t -> t;
      case Request.Repeat r -> r.step();
      default -> null;
    };
  }

  /** A request that was not refused here has been answered, whoever did it or refused it. */
  @SuppressWarnings("ReferenceEquality") // as above
  void answered(Request request, Reply reply) {
    Request.Transact step = step(request);
    if (step == null || users.get() == Users.OPEN) {
      return;
    }
    synchronized (transactions) {
      transactions.answered(step, reply);
    }
  }

  /** Of how many transactions it is kept by which rights they updated. */
  int transactionsKept() {
    synchronized (transactions) {
      return transactions.size();
    }
  }

  /** What may be shown of the answer to a scan that may be done. */
  Reply visible(Identity identity, Request.Scan scan, Reply reply) {
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
