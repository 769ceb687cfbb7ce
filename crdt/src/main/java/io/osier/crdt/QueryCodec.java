package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.Optional;

/** Encodes queries: a tag, then the fields. Thread-safe. */
public final class QueryCodec {
  private static final int WHOLE = 1;
  private static final int CONTAINS = 2;
  private static final int SIZE = 3;
  private static final int SELECT = 4;
  private static final int QUERY_RIGHTS = 5;
  private static final int AMONG = 6;
  private static final int EXISTS = 7;
  private static final int TIME_TO_LIVE = 8;
  private static final int PART_TIME_TO_LIVE = 9;
  private static final int UNTIL_EXPIRY = 10;
  private static final int RANGE = 11;

  // Flags of a range.
  private static final int DESCENDING = 1;
  private static final int FROM = 2;
  private static final int FROM_INCLUSIVE = 4;
  private static final int TO = 8;
  private static final int TO_INCLUSIVE = 16;

  private QueryCodec() {}

  /** Writes a query. */
  public static void write(WireOutput out, Query query) {
    switch (query) {
      case Query.Whole q -> out.writeByte(WHOLE);
      case Query.Contains q -> {
        out.writeByte(CONTAINS);
        out.writeValue(q.element());
      }
      case Query.Among q -> {
        out.writeByte(AMONG);
        ItemCodec.writeValues(out, q.elements());
      }
      case Query.Size q -> out.writeByte(SIZE);
      case Query.Rights q -> out.writeByte(QUERY_RIGHTS);
      case Query.Exists q -> out.writeByte(EXISTS);
      case Query.TimeToLive q -> out.writeByte(TIME_TO_LIVE);
      case Query.UntilExpiry q -> out.writeByte(UNTIL_EXPIRY);
      case Query.PartTimeToLive q -> {
        out.writeByte(PART_TIME_TO_LIVE);
        ItemCodec.writePart(out, q.part());
      }
      case Query.Deadline q ->
          throw OsierException.of(
              ErrorCode.INVALID_ARGUMENT,
              "a deadline cannot be sent as a query: ask for the time to live");
      case Query.Range q -> {
        out.writeByte(RANGE);
        out.writeByte(
            (q.descending() ? DESCENDING : 0)
                | endFlags(q.from(), FROM, FROM_INCLUSIVE)
                | endFlags(q.to(), TO, TO_INCLUSIVE));
        q.from().ifPresent(bound -> ItemCodec.writePart(out, bound.part()));
        q.to().ifPresent(bound -> ItemCodec.writePart(out, bound.part()));
        out.writeNumber(q.limit());
      }
      case Query.Select q -> {
        out.writeByte(SELECT);
        out.writeCount(q.names().size());
        q.names().forEach(out::writeText);
      }
    }
  }

  /** Reads a query. */
  public static Query read(WireInput in) {
    int tag = in.readByte();
    return switch (tag) {
      case WHOLE -> new Query.Whole();
      case CONTAINS -> new Query.Contains(in.readValue());
      case AMONG -> new Query.Among(ItemCodec.readValues(in));
      case SIZE -> new Query.Size();
      case QUERY_RIGHTS -> new Query.Rights();
      case EXISTS -> new Query.Exists();
      case TIME_TO_LIVE -> new Query.TimeToLive();
      case UNTIL_EXPIRY -> new Query.UntilExpiry();
      case PART_TIME_TO_LIVE -> new Query.PartTimeToLive(ItemCodec.readPart(in));
      case RANGE -> readRange(in);
      case SELECT -> new Query.Select(ItemCodec.readList(in, 1, ItemCodec::readName));
      default -> throw new MalformedException("query " + tag + " is unknown");
    };
  }

  private static int endFlags(Optional<Query.Bound> end, int present, int inclusive) {
    return end.map(bound -> present | (bound.inclusive() ? inclusive : 0)).orElse(0);
  }

  private static Query.Range readRange(WireInput in) {
    int flags = in.readByteUnsigned();
    if ((flags & ~(DESCENDING | FROM | FROM_INCLUSIVE | TO | TO_INCLUSIVE)) != 0) {
      throw new MalformedException("flags " + flags + " of a range are unknown");
    }
    Optional<Query.Bound> from = readBound(in, flags, FROM, FROM_INCLUSIVE);
    Optional<Query.Bound> to = readBound(in, flags, TO, TO_INCLUSIVE);
    long limit = in.readNumber();
    return new Query.Range(
        from, to, (flags & DESCENDING) != 0, (int) Math.min(limit, Integer.MAX_VALUE));
  }

  private static Optional<Query.Bound> readBound(
      WireInput in, int flags, int present, int inclusive) {
    return (flags & present) == 0
        ? Optional.empty()
        : Optional.of(new Query.Bound(ItemCodec.readPart(in), (flags & inclusive) != 0));
  }
}
