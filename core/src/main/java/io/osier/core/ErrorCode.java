package io.osier.core;

/**
 * The kind of an error, with a number that never changes its meaning. The protocol carries {@link
 * #number()}.
 */
public enum ErrorCode {
  /** The request breaks a rule, so that no retry can succeed; the message says which. */
  INVALID_ARGUMENT(1, false),
  /** The datacenter has no keyspace of that name. */
  UNKNOWN_KEYSPACE(2, false),
  /** The key holds an object of another type, or its type does not have the operation. */
  WRONG_TYPE(3, false),
  /** The key is longer than the keyspace's limit. */
  KEY_TOO_LARGE(4, false),
  /** A value, or the object that it would make, is larger than the keyspace's limit. */
  VALUE_TOO_LARGE(5, false),
  /** A queue is full: nothing was done, and trying again later is right. */
  OVERLOADED(6, true),
  /**
   * The time limit ran out. The type of a client's exception says whether an update may have been
   * done; a datacenter that answers with this code does not know.
   */
  TIMEOUT(7, true),
  /** No datacenter could be reached, or the connection was lost. */
  UNAVAILABLE(8, true),
  /** The datacenter has not yet received all updates that the session has seen. */
  SESSION_BEHIND(9, true),
  /**
   * Updates that the session has seen were lost with a datacenter's memory: no datacenter has them.
   */
  SESSION_LOST(10, false),
  /** A frame or record could not be decoded. */
  MALFORMED(11, false),
  /** The peer or client speaks another version of the protocol. */
  VERSION_MISMATCH(12, false),
  /** Another process already runs under this datacenter's name. */
  DUPLICATE_DC(13, false),
  /** A number left the range of a long. */
  OVERFLOW(14, false),
  /** The datacenter is shutting down; nothing was done. */
  SHUTTING_DOWN(15, true),
  /** A setting is missing or has a value that is not allowed. */
  CONFIGURATION(16, false),
  /** A fault of Osier itself; the message and the server's log say more. */
  INTERNAL(17, false),
  /** The disk is full or cannot be written: nothing was done; reads go on. */
  STORE_FULL(18, true),
  /** Stored data is damaged, and is not served. */
  STORE_DAMAGED(19, false),
  /**
   * The transaction is not open at the datacenter: it was committed, aborted or ran out of time, or
   * the datacenter has forgotten it.
   */
  TRANSACTION_ENDED(20, false),
  /** The requested snapshot is older than the history that is kept. */
  SNAPSHOT_TOO_OLD(21, false),
  /**
   * A bounded counter's update needs more rights than the datacenter holds: nothing was done. Other
   * datacenters may hold some, and give them.
   */
  NOT_ENOUGH_RIGHTS(22, true),
  /**
   * The datacenter no longer remembers whether the transaction was committed; it does nothing for
   * it.
   */
  TRANSACTION_FORGOTTEN(23, false),
  /**
   * Every peer refuses the datacenter, or this keyspace, because their configurations differ or the
   * datacenter is no member: nothing was done, since an update would go nowhere. If it is no
   * member, reads are refused, too: its data is old. Another datacenter may take the request.
   */
  REFUSED_BY_PEERS(24, true),
  /**
   * The datacenter does not accept the login: there was none where one is needed, the user is
   * unknown, or the password is wrong; it does not say which. Nothing was done.
   */
  NOT_AUTHENTICATED(25, false),
  /** The user lacks a right, which the message names; nothing was done. */
  FORBIDDEN(26, false),
  /**
   * The peer is no longer a member of the cluster: it was removed, or its stored data is from
   * before it was a member.
   */
  NOT_A_MEMBER(27, false),
  /**
   * A watcher cannot go on from its position: removals since then are not remembered any more. It
   * must begin anew, with the present state.
   */
  HISTORY_TOO_SHORT(28, false),
  /**
   * A watcher was cut off, because it took changes more slowly than they came for longer than they
   * are kept. It may go on from its last position.
   */
  WATCHER_TOO_SLOW(29, false),
  /**
   * The caller has given the call up: its thread was interrupted, or its future was cancelled. The
   * type of a client's exception says whether an update may have been done.
   */
  CANCELLED(30, false);

  private static final ErrorCode[] BY_NUMBER = new ErrorCode[values().length + 1];

  static {
    for (ErrorCode code : values()) {
      BY_NUMBER[code.number] = code;
    }
  }

  private final int number;
  private final boolean retryable;

  ErrorCode(int number, boolean retryable) {
    this.number = number;
    this.retryable = retryable;
  }

  /** Returns the stable number. */
  public int number() {
    return number;
  }

  /** Whether the same request may succeed later, or at another datacenter. */
  public boolean retryable() {
    return retryable;
  }

  /**
   * Returns the code of a number; {@link #INTERNAL} for a number that this version does not know.
   */
  public static ErrorCode of(int number) {
    return number > 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : INTERNAL;
  }
}
