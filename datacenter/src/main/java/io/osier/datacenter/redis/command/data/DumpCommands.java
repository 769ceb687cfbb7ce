package io.osier.datacenter.redis.command.data;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Numbers;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.datacenter.redis.command.data.Deadlines.Unit;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * DUMP and RESTORE. The payload is Osier's own form: a name and version, what the key holds as
 * Redis sees it, and a checksum. Static, for any thread.
 */
final class DumpCommands {
  private static final String NAME = "osier1";
  private static final byte[] RESTORE = "restore".getBytes(US_ASCII);
  private static final String TAKEN = "BUSYKEY Target key name already exists.";
  private static final int SUM_BYTES = 8;

  /**
   * The most elements, or fields and values together: as many as a command has words. Each takes a
   * hundred bytes of heap.
   */
  private static final int TEXTS_MAX = 1 << 20;

  private DumpCommands() {}

  static Plan dump(Scope scope, byte[][] words) {
    return Plans.read(
        scope,
        Key.of(words[1]),
        Plans.WHOLE,
        answer -> answer.exists() ? new RespValue.Bulk(payload(answer)) : RespValue.NULL);
  }

  private static byte[] payload(Reply.Answer answer) {
    CrdtType type = answer.type().orElseThrow();
    List<byte[]> texts = new ArrayList<>();
    if (Texts.isHash(type)) {
      for (Map.Entry<String, byte[]> e : Texts.fields(answer).entrySet()) {
        texts.add(Texts.fieldName(e.getKey()));
        texts.add(e.getValue());
      }
    } else if (Texts.isSet(type)) {
      texts.addAll(Texts.elements(SetCommands.elements(answer)));
    } else {
      texts.add(Texts.string(answer).orElseThrow());
    }
    checkCount(texts.size());
    byte[] content =
        WireOutput.bytesOf(
            out -> {
              out.writeText(NAME);
              out.writeText(Texts.typeName(type));
              out.writeCount(texts.size());
              texts.forEach(out::writeBlob);
            });
    byte[] payload = Arrays.copyOf(content, content.length + SUM_BYTES);
    System.arraycopy(sum(payload), 0, payload, content.length, SUM_BYTES);
    return payload;
  }

  private static void checkCount(int texts) {
    if (texts > TEXTS_MAX) {
      throw new RedisException(
          "ERR a key with "
              + texts
              + " elements, or fields and values, is too large for DUMP and RESTORE: at most "
              + TEXTS_MAX);
    }
  }

  /** Returns the checksum of all but the last eight bytes. */
  private static byte[] sum(byte[] payload) {
    CRC32C crc = new CRC32C();
    crc.update(payload, 0, payload.length - SUM_BYTES);
    return String.format("%08x", crc.getValue()).getBytes(US_ASCII);
  }

  static Plan restore(Scope scope, byte[][] w) {
    Words words = new Words(w);
    Key key = words.key();
    byte[] lives = words.next();
    byte[] payload = words.next();
    boolean replaces = false;
    boolean isTime = false;
    while (words.hasNext()) {
      switch (words.option()) {
        case "REPLACE" -> replaces = true;
        case "ABSTTL" -> isTime = true;
        case "IDLETIME", "FREQ" -> words.integer(); // ignored, since no key is ever evicted
        default -> throw RedisErrors.syntax();
      }
    }
    long millis = Numbers.integer(lives);
    if (millis < 0) {
      throw new RedisException("ERR Invalid TTL value, must be >= 0");
    }
    Unit unit = isTime ? Unit.AT_MILLIS : Unit.MILLIS;
    if (replaces) {
      Call call = replacement(scope, key, millis, unit, payload);
      return Plans.run(scope, List.of(call), parts -> Plan.ok());
    }
    return Plans.ask(
        Plans.read(scope, key, Plans.EXISTS),
        reply -> // an existing key is an error even if the payload is damaged
        ((Reply.Answer) reply).exists()
                ? Plans.error(TAKEN)
                : Plans.run(
                    scope,
                    List.of(Plans.testAbsent(key), replacement(scope, key, millis, unit, payload)),
                    parts -> Plan.ok(),
                    parts -> Plans.error(TAKEN)));
  }

  private static Call replacement(Scope scope, Key key, long millis, Unit unit, byte[] payload) {
    CrdtType type;
    Operation update;
    try {
      WireInput in = checked(payload);
      String kind = in.readText(payload.length);
      List<byte[]> texts = new ArrayList<>();
      int count = in.readCount(1);
      checkCount(count);
      for (int left = count; left > 0; left--) {
        texts.add(in.readBlob(payload.length));
      }
      in.expectEnd();
      type =
          switch (kind) {
            case "string" -> CrdtType.STRING;
            case "set" -> CrdtType.AW_SET;
            case "hash" -> CrdtType.OR_MAP;
            default -> throw damaged();
          };
      update = update(type, texts);
    } catch (OsierException e) {
      throw damaged();
    }
    return new Call.Replace(
        key,
        type,
        millis == 0
            ? update
            : new Operation.WithDeadline(update, Deadlines.of(scope, millis, unit, RESTORE)),
        false);
  }

  private static WireInput checked(byte[] payload) {
    int length = payload.length - SUM_BYTES;
    if (length < 0
        || !Arrays.equals(Arrays.copyOfRange(payload, length, payload.length), sum(payload))) {
      throw damaged();
    }
    WireInput in = new WireInput(payload, 0, length);
    if (!in.readText(payload.length).equals(NAME)) {
      throw damaged();
    }
    return in;
  }

  private static Operation update(CrdtType type, List<byte[]> texts) {
    if (type == CrdtType.STRING && texts.size() == 1) {
      return Texts.assign(texts.getFirst());
    }
    if (type == CrdtType.AW_SET && !texts.isEmpty()) {
      return new Operation.Add(texts.stream().map(Value::ofText).toList());
    }
    if (type != CrdtType.OR_MAP || texts.isEmpty() || texts.size() % 2 == 1) {
      throw damaged();
    }
    List<Operation.FieldUpdate> updates = new ArrayList<>(texts.size() / 2);
    for (int i = 0; i < texts.size(); i += 2) {
      updates.add(Texts.fieldUpdate(Texts.name(texts.get(i)), Texts.assign(texts.get(i + 1))));
    }
    return new Operation.UpdateFields(updates);
  }

  private static RedisException damaged() {
    return new RedisException("ERR DUMP payload version or checksum are wrong");
  }
}
