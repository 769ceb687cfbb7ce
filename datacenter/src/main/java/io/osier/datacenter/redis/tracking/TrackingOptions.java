package io.osier.datacenter.redis.tracking;

import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The options of CLIENT TRACKING ON. Immutable.
 *
 * @param broadcast the client hears of all keys with one of the prefixes, and not of the keys that
 *     it has read
 * @param optIn it hears only of keys that it has read behind CLIENT CACHING YES
 * @param optOut it does not hear of keys that it has read behind CLIENT CACHING NO
 * @param noLoop it does not hear of its own changes
 * @param redirect the id of the connection that hears in its place; 0 for itself
 * @param prefixes the prefixes; none for all keys
 */
public record TrackingOptions(
    boolean broadcast,
    boolean optIn,
    boolean optOut,
    boolean noLoop,
    long redirect,
    List<Prefix> prefixes) {
  /**
   * Reads the options of a command.
   *
   * @param words the command's words; the fourth one is the first option
   * @throws RedisException if they are wrong
   */
  public static TrackingOptions parse(byte[][] words) {
    boolean broadcast = false;
    boolean optIn = false;
    boolean optOut = false;
    boolean noLoop = false;
    long redirect = 0;
    List<Prefix> prefixes = new ArrayList<>();
    for (int i = 3; i < words.length; i++) {
      boolean more = i + 1 < words.length;
      String option = Words.option(words[i]);
      if (option.equals("REDIRECT") && more) {
        if (redirect != 0) {
          throw new RedisException("ERR A client can only redirect to a single other client");
        }
        redirect = Numbers.integer(words[++i], "ERR Invalid client ID");
      } else if (option.equals("PREFIX") && more) {
        prefixes.add(Prefix.of(words[++i]));
      } else {
        switch (option) {
          case "BCAST" -> broadcast = true;
          case "OPTIN" -> optIn = true;
          case "OPTOUT" -> optOut = true;
          case "NOLOOP" -> noLoop = true;
          default -> throw RedisErrors.syntax();
        }
      }
    }
    TrackingOptions all =
        new TrackingOptions(broadcast, optIn, optOut, noLoop, redirect, List.copyOf(prefixes));
    all.check();
    return all;
  }

  private void check() {
    if (!broadcast && !prefixes.isEmpty()) {
      throw new RedisException("ERR PREFIX option requires BCAST mode to be enabled");
    }
    if (broadcast && (optIn || optOut)) {
      throw new RedisException("ERR OPTIN and OPTOUT are not compatible with BCAST");
    }
    if (optIn && optOut) {
      throw new RedisException("ERR You can't specify both OPTIN mode and OPTOUT mode");
    }
    NavigableSet<Prefix> before = new TreeSet<>();
    for (Prefix each : prefixes) {
      @Nullable Prefix other = overlapping(before, each);
      if (other != null) {
        throw overlap(other, "another provided", each);
      }
      before.add(each);
    }
  }

  /**
   * Checks that a client may change to these options.
   *
   * @throws RedisException if they contradict the former ones, or a prefix overlaps with a former
   *     one
   */
  void checkFollows(TrackingOptions former, NavigableSet<Prefix> formerPrefixes) {
    String what =
        former.broadcast != broadcast
            ? "BCAST mode on/off"
            : (former.optIn && optOut) || (former.optOut && optIn) ? "OPTIN/OPTOUT mode" : "";
    if (!what.isEmpty()) {
      throw new RedisException(
          "ERR You can't switch "
              + what
              + " before disabling tracking for this client, and then re-enabling it with a"
              + " different mode.");
    }
    for (Prefix each : prefixes) {
      @Nullable Prefix other = overlapping(formerPrefixes, each);
      if (other != null) {
        throw overlap(each, "an existing", other);
      }
    }
  }

  /**
   * Returns one of several prefixes, which do not overlap with each other, that overlaps with
   * another one; null if none does.
   */
  private static @Nullable Prefix overlapping(NavigableSet<Prefix> several, Prefix with) {
    Prefix before = several.floor(with);
    if (before != null && before.overlaps(with)) {
      return before;
    }
    Prefix behind = several.ceiling(with);
    return behind != null && behind.overlaps(with) ? behind : null;
  }

  private static RedisException overlap(Prefix one, String what, Prefix other) {
    return new RedisException(
        "ERR Prefix '"
            + one
            + "' overlaps with "
            + what
            + " prefix '"
            + other
            + "'. Prefixes for a single client must not overlap.");
  }

  /** Returns the flags that CLIENT TRACKINGINFO shows. */
  List<String> flags() {
    return Stream.of(
            "on",
            broadcast ? "bcast" : "",
            optIn ? "optin" : "",
            optOut ? "optout" : "",
            noLoop ? "noloop" : "")
        .filter(flag -> !flag.isEmpty())
        .toList();
  }
}
