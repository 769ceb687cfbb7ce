package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.crdt.Part;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Draw;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisCommand.Keys;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Table;
import io.osier.datacenter.redis.command.Words;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** HRANDFIELD and HSCAN. Static, for any thread. */
final class HashWalks {
  private HashWalks() {}

  static List<RedisCommand> all() {
    return new Table("hash")
        .reads("HRANDFIELD", -2, Keys.ONE, "Draws fields of a hash.", HashWalks::draw)
        .reads("HSCAN", -3, Keys.ONE, "Shows a hash's fields in steps.", HashWalks::scan)
        .list();
  }

  private static Plan draw(Scope scope, byte[][] words) {
    boolean one = words.length == 2;
    long count = one ? 1 : Draw.count(words[2]);
    boolean withValues = words.length == 4 && Words.option(words[3]).equals("WITHVALUES");
    if (words.length > 4 || (words.length == 4 && !withValues)) {
      throw RedisErrors.syntax();
    }
    return Plans.read(
        scope,
        Key.of(words[1]),
        Plans.WHOLE,
        answer -> {
          List<Map.Entry<String, byte[]>> fields = List.copyOf(Texts.fields(answer).entrySet());
          if (one && fields.isEmpty()) {
            return RespValue.NULL;
          }
          List<Map.Entry<String, byte[]>> drawn = Draw.of(fields, count, scope.seed());
          if (one) {
            return new RespValue.Bulk(Texts.fieldName(drawn.getFirst().getKey()));
          }
          return new RespValue.Array(shown(drawn, withValues, scope.resp3()));
        });
  }

  private static List<RespValue> shown(
      List<Map.Entry<String, byte[]>> fields, boolean withValues, boolean inPairs) {
    List<RespValue> shown = new ArrayList<>();
    for (Map.Entry<String, byte[]> field : fields) {
      RespValue name = new RespValue.Bulk(Texts.fieldName(field.getKey()));
      RespValue value = new RespValue.Bulk(field.getValue());
      if (withValues && inPairs) {
        shown.add(new RespValue.Array(List.of(name, value)));
      } else {
        shown.add(name);
        if (withValues) {
          shown.add(value);
        }
      }
    }
    return shown;
  }

  private static Plan scan(Scope scope, byte[][] words) {
    Walk walk = Walk.of(scope, words);
    return Plans.read(
        scope, Key.of(words[1]), walk.query(), answer -> scanned(scope, walk, answer));
  }

  private static RespValue scanned(Scope scope, Walk walk, Reply.Answer answer) {
    Map<String, byte[]> fields = Texts.fields(answer);
    List<RespValue> shown = new ArrayList<>();
    fields.forEach(
        (name, value) -> {
          byte[] bytes = Texts.fieldName(name);
          if (walk.shows(bytes)) {
            shown.add(new RespValue.Bulk(bytes));
            if (walk.values()) {
              shown.add(new RespValue.Bulk(value));
            }
          }
        });
    if (!answer.exists()) {
      return walk.answer(scope, 0, Optional.empty(), shown);
    }
    var all = answer.reading().orElseThrow().asFields().fields();
    Optional<Part> last =
        all.isEmpty() ? Optional.empty() : Optional.of(new Part.Field(all.lastKey().name()));
    return walk.answer(scope, all.size(), last, shown);
  }
}
