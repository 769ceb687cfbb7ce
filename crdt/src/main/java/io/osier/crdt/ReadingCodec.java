package io.osier.crdt;

import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Encodes readings: a tag, then the fields. Thread-safe. */
public final class ReadingCodec {
  private static final int COUNT = 1;
  private static final int FLAG = 2;
  private static final int SINGLE = 3;
  private static final int MANY = 4;
  private static final int FIELDS = 5;
  private static final int RIGHTS = 6;

  private ReadingCodec() {}

  public static void write(WireOutput out, Reading reading) {
    switch (reading) {
      case Reading.Count r -> {
        out.writeByte(COUNT);
        out.writeSigned(r.value());
      }
      case Reading.Flag r -> {
        out.writeByte(FLAG);
        out.writeBoolean(r.value());
      }
      case Reading.Single r -> {
        out.writeByte(SINGLE);
        out.writeBoolean(r.value().isPresent());
        r.value().ifPresent(out::writeValue);
      }
      case Reading.Many r -> {
        out.writeByte(MANY);
        ItemCodec.writeValues(out, r.values());
      }
      case Reading.Rights r -> {
        out.writeByte(RIGHTS);
        out.writeSigned(r.value());
        out.writeSigned(r.lower());
        out.writeSigned(r.upper());
        out.writeCount(r.shares().size());
        r.shares()
            .forEach(
                (dc, share) -> {
                  out.writeText(dc);
                  out.writeSigned(share.down());
                  out.writeSigned(share.up());
                });
      }
      case Reading.Fields r -> {
        out.writeByte(FIELDS);
        out.writeCount(r.fields().size());
        r.fields()
            .forEach(
                (field, value) -> {
                  field.write(out);
                  write(out, value);
                });
      }
    }
  }

  public static Reading read(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case COUNT -> new Reading.Count(in.readSigned());
      case FLAG -> new Reading.Flag(in.readFlag());
      case SINGLE ->
          new Reading.Single(in.readFlag() ? Optional.of(in.readValue()) : Optional.empty());
      case MANY -> new Reading.Many(ItemCodec.readValues(in));
      case FIELDS -> {
        in.enter();
        int n = in.readCount(4);
        SortedMap<FieldId, Reading> fields = new TreeMap<>();
        for (int i = 0; i < n; i++) {
          FieldId field = FieldId.read(in);
          fields.put(field, read(in));
        }
        in.leave();
        yield new Reading.Fields(fields);
      }
      case RIGHTS -> {
        long value = in.readSigned();
        long lower = in.readSigned();
        long upper = in.readSigned();
        SortedMap<String, Reading.Share> shares = new TreeMap<>();
        for (int n = in.readCount(4); n > 0; n--) {
          shares.put(ItemCodec.readDc(in), new Reading.Share(in.readSigned(), in.readSigned()));
        }
        yield new Reading.Rights(value, lower, upper, shares);
      }
      default -> throw new MalformedException("reading " + tag + " is unknown");
    };
  }
}
