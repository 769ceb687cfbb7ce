package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.text;
import static io.osier.datacenter.redis.command.Plan.answer;
import static io.osier.datacenter.redis.command.RedisErrors.checkArity;
import static io.osier.datacenter.redis.command.RedisErrors.unknownPart;
import static io.osier.datacenter.redis.command.Words.option;

import io.osier.core.Grant;
import io.osier.datacenter.access.RequestRights;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * ACL and its subcommands, which only show users: {@code osier cli user} creates and changes them.
 * Static, for any thread.
 */
final class AclCommand {
  private AclCommand() {}

  static Plan acl(RespSession session, Place place, byte[][] words) {
    String part = option(words[1]);
    switch (part) {
      case "WHOAMI" -> checkArity(words, 2, 2);
      case "LIST", "USERS", "GETUSER", "DRYRUN" -> session.client.checkAdmin("acl|" + part);
      default -> {}
    }
    Users users = session.requests.access().users();
    return switch (part) {
      case "WHOAMI" -> answer(RespValue.Bulk.of(session.client.user));
      case "CAT" -> cat(session, words);
      case "LIST" ->
          answer(
              RespValue.Array.of(
                  users.all(), u -> RespValue.Bulk.of("user " + u.name() + " on " + rights(u))));
      case "USERS" -> answer(RespValue.Array.of(users.all(), u -> RespValue.Bulk.of(u.name())));
      case "GETUSER" -> {
        checkArity(words, 3, 3);
        yield answer(
            users.find(text(words[2])).map(AclCommand::shown).orElse(new RespValue.NullArray()));
      }
      case "DRYRUN" -> {
        checkArity(words, 4, Integer.MAX_VALUE);
        yield dryRun(session, place, words);
      }
      case "SETUSER", "DELUSER", "SAVE", "LOAD" ->
          throw new RedisException(
              "ERR users are those of Osier: osier cli user creates and changes them");
      default -> throw unknownPart(words, "CAT", "DRYRUN", "GETUSER", "LIST", "USERS", "WHOAMI");
    };
  }

  private static Plan cat(RespSession session, byte[][] words) {
    Set<String> found = new TreeSet<>();
    for (CommandTable.Entry entry : session.table.all()) {
      List<String> categories = categories(entry.command());
      if (words.length == 2) {
        found.addAll(categories);
      } else if (categories.contains(text(words[2]).toLowerCase(Locale.ROOT))) {
        found.add(entry.command().name().toLowerCase(Locale.ROOT));
      }
    }
    if (found.isEmpty()) {
      throw new RedisException("ERR Unknown category '" + text(words[2]) + "'");
    }
    return answer(RespValue.Array.of(found, RespValue.Bulk::of));
  }

  /** Returns a command's categories: its group, and what its flags say. */
  static List<String> categories(RedisCommand command) {
    List<String> all = new ArrayList<>();
    all.add(command.group());
    if (command.flags().contains(RedisCommand.Flag.WRITE)) {
      all.add("write");
    } else if (command.flags().contains(RedisCommand.Flag.READONLY)) {
      all.add("read");
    }
    if (command.flags().contains(RedisCommand.Flag.ADMIN)) {
      all.add("admin");
    }
    all.add(command.flags().contains(RedisCommand.Flag.FAST) ? "fast" : "slow");
    return all;
  }

  private static String rights(User user) {
    return user.grants().stream().map(Grant::toString).collect(Collectors.joining(", "));
  }

  private static RespValue shown(User user) {
    return RespValue.pairs(
        "flags",
        new RespValue.Elements(List.of(RespValue.Bulk.of("on"))),
        "passwords",
        RespValue.array(),
        "commands",
        "+@all",
        "keys",
        rights(user),
        "channels",
        "",
        "selectors",
        RespValue.array());
  }

  /** ACL DRYRUN: whether a user may do a command, judged by the command's first requests. */
  private static Plan dryRun(RespSession session, Place place, byte[][] words) {
    Optional<User> user = session.requests.access().users().find(text(words[2]));
    if (user.isEmpty()) {
      throw new RedisException("ERR User '" + text(words[2]) + "' not found");
    }
    CommandTable.Entry entry = session.table.find(words[3]);
    if (entry == null) {
      throw new RedisException("ERR Command '" + text(words[3]) + "' not found");
    }
    byte[][] command = Arrays.copyOfRange(words, 3, words.length);
    if (!entry.fits(command.length)) {
      throw RedisErrors.arity(text(words[3]));
    }
    if (entry.has(RedisCommand.Flag.ADMIN) && !user.get().may(Grant.onAll(Grant.Right.ADMIN))) {
      return answer(RespValue.Bulk.of("User " + user.get().name() + " has not the right: admin *"));
    }
    // To plan a command that reads or writes keys changes nothing of the session.
    boolean isOfData = entry.has(RedisCommand.Flag.READONLY) || entry.has(RedisCommand.Flag.WRITE);
    if (isOfData && entry.plan(session, place, command) instanceof Plan.Ask ask) {
      for (Request request : ask.requests()) {
        @Nullable Grant missing = RequestRights.missing(user.get(), request);
        if (missing != null) {
          return answer(
              RespValue.Bulk.of("User " + user.get().name() + " has not the right: " + missing));
        }
      }
    }
    return answer(RespValue.OK);
  }
}
