package io.osier.datacenter.redis.server;

import static io.osier.datacenter.redis.RespDecoder.text;
import static io.osier.datacenter.redis.command.Plan.answer;
import static io.osier.datacenter.redis.command.RedisErrors.checkArity;
import static io.osier.datacenter.redis.command.RedisErrors.syntax;
import static io.osier.datacenter.redis.command.RedisErrors.unknownPart;
import static io.osier.datacenter.redis.command.Words.option;

import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Glob;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Flag;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.server.Connection.Place;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** COMMAND and its subcommands, which show the table of commands. Static, for any thread. */
final class CommandCommand {
  private CommandCommand() {}

  static Plan command(RespSession session, Place place, byte[][] words) {
    CommandTable table = session.table;
    if (words.length == 1) {
      return answer(RespValue.Array.of(table.all(), CommandCommand::info));
    }
    return switch (option(words[1])) {
      case "COUNT" -> {
        checkArity(words, 2, 2);
        yield answer(table.all().size());
      }
      case "INFO" ->
          answer(
              new RespValue.Array(
                  words.length == 2
                      ? table.all().stream().map(CommandCommand::info).toList()
                      : Arrays.stream(words)
                          .skip(2)
                          .map(table::find)
                          .map(e -> e == null ? new RespValue.NullArray() : info(e))
                          .toList()));
      case "DOCS" -> docs(table, words);
      case "LIST" -> list(table, words);
      case "GETKEYS" -> getKeys(table, words);
      default -> throw unknownPart(words, "COUNT", "DOCS", "GETKEYS", "INFO", "LIST");
    };
  }

  private static RespValue info(CommandTable.Entry entry) {
    RedisCommand c = entry.command();
    List<RespValue> flags = new ArrayList<>();
    for (Flag flag : Flag.values()) {
      if (c.flags().contains(flag)) {
        flags.add(new RespValue.Simple(flag.name().toLowerCase(Locale.ROOT)));
      }
    }
    if (c.keys().isMovable()) {
      flags.add(new RespValue.Simple("movablekeys"));
    }
    RespValue none = RespValue.array();
    List<RespValue> categories =
        AclCommand.categories(c).stream()
            .<RespValue>map(category -> new RespValue.Simple("@" + category))
            .toList();
    return RespValue.array(
        name(c),
        new RespValue.Int(c.arity()),
        new RespValue.Elements(flags),
        new RespValue.Int(c.keys().first()),
        new RespValue.Int(c.keys().last()),
        new RespValue.Int(c.keys().first() == 0 ? 0 : c.keys().step()),
        new RespValue.Elements(categories),
        none,
        none,
        none);
  }

  private static RespValue name(RedisCommand command) {
    return RespValue.Bulk.of(command.name().toLowerCase(Locale.ROOT));
  }

  private static Plan docs(CommandTable table, byte[][] words) {
    Collection<CommandTable.Entry> shown = table.all();
    if (words.length > 2) {
      shown = new ArrayList<>();
      for (int i = 2; i < words.length; i++) {
        CommandTable.Entry entry = table.find(words[i]);
        if (entry != null) {
          shown.add(entry);
        }
      }
    }
    List<RespValue> all = new ArrayList<>();
    for (CommandTable.Entry entry : shown) {
      all.add(name(entry.command()));
      all.add(
          RespValue.pairs(
              "summary", entry.command().summary(),
              "group", entry.command().group(),
              "arity", entry.command().arity()));
    }
    return answer(new RespValue.Pairs(all));
  }

  private static Plan list(CommandTable table, byte[][] words) {
    boolean all = words.length == 2;
    if (!all && (words.length != 5 || !option(words[2]).equals("FILTERBY"))) {
      throw syntax();
    }
    @Nullable String by = all ? null : option(words[3]);
    if (by != null && !List.of("MODULE", "ACLCAT", "PATTERN").contains(by)) {
      throw syntax();
    }
    List<RespValue> names = new ArrayList<>();
    for (CommandTable.Entry entry : table.all()) {
      RedisCommand c = entry.command();
      String name = c.name().toLowerCase(Locale.ROOT);
      if (by == null
          || (by.equals("PATTERN")
              && Glob.matches(Glob.checked(words[4]), name.getBytes(StandardCharsets.US_ASCII)))
          || (by.equals("ACLCAT")
              && AclCommand.categories(c).contains(text(words[4]).toLowerCase(Locale.ROOT)))) {
        names.add(RespValue.Bulk.of(name));
      }
    }
    return answer(new RespValue.Array(names));
  }

  private static Plan getKeys(CommandTable table, byte[][] words) {
    checkArity(words, 3, Integer.MAX_VALUE);
    CommandTable.Entry entry = table.find(words[2]);
    if (entry == null) {
      throw new RedisException("ERR Invalid command specified");
    }
    RedisCommand.Keys keys = entry.command().keys();
    if (keys.first() == 0 && keys.counted() == 0) {
      throw new RedisException("ERR The command has no key arguments");
    }
    int count = words.length - 2;
    if (!entry.fits(count)) {
      throw new RedisException("ERR Invalid number of arguments specified for command");
    }
    byte[][] command = Arrays.copyOfRange(words, 2, words.length);
    if (keys.counted() > 0) {
      long wanted = Numbers.parse(command[keys.counted()]).orElse(0);
      if (wanted < 1 || wanted > count - keys.counted() - 1) {
        throw new RedisException("ERR Invalid arguments specified for command");
      }
    }
    List<RespValue> found = new ArrayList<>();
    keys.of(command).forEach(key -> found.add(new RespValue.Bulk(key)));
    return answer(new RespValue.Array(found));
  }
}
