package io.osier.core;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A right that a user has: on all keys of a keyspace, on those that begin with a prefix, or on all
 * keyspaces. As text, for example:
 *
 * <pre>
 *   read shop             all keys of the keyspace shop
 *   write shop cart:      those of its keys that begin with cart:
 *   write shop 0x00ff     those that begin with these bytes
 *   admin *               all keyspaces, and the datacenter itself
 * </pre>
 *
 * @param keyspace empty for all
 * @param prefix with what keys begin; empty for all
 */
public record Grant(Right right, Optional<String> keyspace, Optional<Key> prefix) {
  /** In texts it stands for all keyspaces. */
  public static final String ALL = "*";

  private static final Pattern KEYSPACE = Pattern.compile("[A-Za-z_][A-Za-z0-9._@-]{0,63}");
  private static final String HEX = "0x";

  /** The kinds of rights. None contains another one. */
  public enum Right {
    /** Reads, scans, and reads of transactions. */
    READ,
    /** Updates, and updates of transactions. */
    WRITE,
    /** Inspection, backup, and administrative commands. */
    ADMIN;

    /** Returns the right as texts have it. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public Grant {
    requireNonNull(right, "right");
    if (keyspace.isPresent() && !KEYSPACE.matcher(keyspace.get()).matches()) {
      throw bad("'" + keyspace.get() + "' is no keyspace's name");
    }
  }

  /** Returns a right on all keyspaces. */
  public static Grant onAll(Right right) {
    return new Grant(right, Optional.empty(), Optional.empty());
  }

  /** Returns a right on a keyspace. */
  public static Grant on(Right right, String keyspace) {
    return new Grant(right, Optional.of(keyspace), Optional.empty());
  }

  /** Returns a right on the keys of a keyspace that begin with a prefix. */
  public static Grant on(Right right, String keyspace, Key prefix) {
    return new Grant(right, Optional.of(keyspace), Optional.of(prefix));
  }

  /**
   * Parses a text.
   *
   * @throws OsierException INVALID_ARGUMENT if it is not a right; the message shows the form
   */
  public static Grant parse(String text) {
    String[] parts = text.strip().split("\\s+", 3);
    if (parts.length < 2) {
      throw bad("'" + text + "' is none");
    }
    if (Homes.isHome(parts[1])) {
      throw bad("a right on keyspace '" + Homes.base(parts[1]) + "' is one on its homes, too");
    }
    return new Grant(
        right(parts[0]),
        parts[1].equals(ALL) ? Optional.empty() : Optional.of(parts[1]),
        parts.length == 2 ? Optional.empty() : Optional.of(prefix(parts[2])));
  }

  private static Right right(String text) {
    for (Right right : Right.values()) {
      if (right.label().equals(text)) {
        return right;
      }
    }
    throw bad("'" + text + "' is none of read, write and admin");
  }

  /** Parses the prefix of a text. */
  private static Key prefix(String text) {
    if (text.startsWith(HEX)) {
      try {
        return Key.of(HexFormat.of().parseHex(text.substring(HEX.length())));
      } catch (IllegalArgumentException e) {
        throw bad("after 0x come hexadecimal digits, two for each byte");
      }
    }
    if (text.endsWith(ALL)) {
      // Nearly always a pattern is meant, and not keys that really begin with these characters.
      throw bad(
          "a prefix is written without '*' at its end; one that ends so is written as 0x and its"
              + " bytes");
    }
    return Key.of(text);
  }

  private static OsierException bad(String what) {
    return OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        "a right is written as RIGHT KEYSPACE [PREFIX], for example read shop, write shop cart:, or"
            + " admin *: "
            + what);
  }

  /** Whether this grant gives a right on a key of a keyspace. */
  public boolean covers(Right wanted, String in, Key key) {
    return right == wanted && isFor(in) && (prefix.isEmpty() || begins(key, prefix.get()));
  }

  /**
   * Whether this grant is for a keyspace or some of its keys; it is also for the keyspace's homes.
   */
  public boolean isFor(String in) {
    return keyspace.isEmpty()
        || keyspace.get().equals(in)
        || (Homes.isHome(in) && keyspace.get().equals(Homes.base(in)));
  }

  /** Whether this grant allows everything that another one does. */
  public boolean covers(Grant other) {
    if (right != other.right) {
      return false;
    }
    if (keyspace.isPresent() && other.keyspace.filter(this::isFor).isEmpty()) {
      return false;
    }
    return prefix.isEmpty()
        || (other.prefix.isPresent() && begins(other.prefix.get(), prefix.get()));
  }

  /** Whether a key begins with another one. */
  public static boolean begins(Key key, Key with) {
    int length = with.length();
    if (key.length() < length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (key.byteAt(i) != with.byteAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** Returns the text that {@link #parse} reads. */
  @Override
  public String toString() {
    return right.label()
        + " "
        + keyspace.orElse(ALL)
        + prefix.map(p -> " " + written(p)).orElse("");
  }

  private static String written(Key prefix) {
    byte[] bytes = prefix.toBytes();
    String text = prefix.toString();
    boolean plain =
        text.equals(text.strip())
            && !text.startsWith(HEX)
            && !text.endsWith(ALL)
            && Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes);
    return plain ? text : HEX + HexFormat.of().formatHex(bytes);
  }
}
