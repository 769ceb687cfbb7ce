package io.osier.core.codec;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import com.esotericsoftware.kryo.io.Output;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * A growing buffer that writes Osier's small types in their one form. Replicas are written in full
 * once a record and by number afterwards, since every dot carries one. Not thread-safe.
 */
public final class WireOutput extends Output {
  /** Below it the length of a text takes one byte. */
  private static final int SHORT_TEXT = 0x80;

  /** Larger buffers than this are not kept for reuse. */
  private static final int KEPT_BYTES_MAX = 1 << 20;

  private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

  /** A thread's buffer for {@link #bytesOf}. */
  private static final class Scratch {
    private WireOutput out = new WireOutput();
    private boolean isBusy;
  }

  /** More replicas than this are looked up by their hash. */
  private static final int SCANNED_MAX = 16;

  private final List<ReplicaId> dictionary = new ArrayList<>(4);

  /** Replica → place in the dictionary, once that is too long to be scanned; otherwise empty. */
  private final Map<ReplicaId, Integer> places = new HashMap<>(0);

  /** A buffer that grows up to {@link Codec#RECORD_BYTES_MAX}. */
  public WireOutput() {
    this(Codec.RECORD_BYTES_MAX);
  }

  /** A buffer that grows up to so many bytes. */
  public WireOutput(int bytesMax) {
    super(256, bytesMax);
  }

  /**
   * The bytes that are written into an empty buffer, which the thread uses again and again: it has
   * grown already, so nothing is copied but the result.
   */
  public static byte[] bytesOf(Consumer<WireOutput> content) {
    Scratch scratch = SCRATCH.get();
    if (scratch.isBusy) {
      return bytesOf(new WireOutput(), content); // called while content is written
    }
    scratch.isBusy = true;
    try {
      return bytesOf(scratch.out, content);
    } finally {
      scratch.isBusy = false;
      if (scratch.out.getBuffer().length > KEPT_BYTES_MAX) {
        scratch.out = new WireOutput();
      }
    }
  }

  /**
   * How many bytes are written into this buffer, from its beginning; empty if they are more than it
   * may grow to. What was in it is lost.
   */
  public OptionalInt sizeOf(Consumer<WireOutput> content) {
    reset();
    try {
      content.accept(this);
      return OptionalInt.of(position());
    } catch (KryoBufferOverflowException e) {
      return OptionalInt.empty();
    }
  }

  private static byte[] bytesOf(WireOutput out, Consumer<WireOutput> content) {
    out.reset();
    content.accept(out);
    return out.toBytes();
  }

  @Override
  public void reset() {
    super.reset();
    if (dictionary != null) {
      startRecord();
    }
  }

  /** Begins another record behind those that are there: it knows no replica of theirs. */
  public void startRecord() {
    dictionary.clear();
    if (!places.isEmpty()) {
      places.clear();
    }
  }

  /**
   * Makes a replica known to both sides beforehand, so that it costs one byte. The reader must do
   * the same, in the same order, before it reads a replica.
   */
  public void presetReplica(ReplicaId replica) {
    dictionary.add(replica);
  }

  public int replicas() {
    return dictionary.size();
  }

  /** Whether these have the first numbers, in their order. */
  public boolean numbersFirst(List<ReplicaId> replicas) {
    return replicas.size() <= dictionary.size()
        && dictionary.subList(0, replicas.size()).equals(replicas);
  }

  /** Writes a non-negative number, small ones short. */
  public void writeNumber(long number) {
    if (number < 0) {
      throw new IllegalArgumentException("not a non-negative number: " + number);
    }
    writeVarLong(number, true);
  }

  /** Writes any number, small absolute values short. */
  public void writeSigned(long number) {
    writeVarLong(number, false);
  }

  /** Writes how many items follow. */
  public void writeCount(int count) {
    writeVarInt(count, true);
  }

  public void writeBlob(byte[] bytes) {
    writeVarInt(bytes.length, true);
    writeBytes(bytes);
  }

  /** Writes a text as UTF-8 with its length. */
  public void writeText(String text) {
    int n = text.length();
    if (n >= SHORT_TEXT) {
      writeBlob(text.getBytes(StandardCharsets.UTF_8));
      return;
    }
    int start = position;
    require(1 + n);
    buffer[position++] = (byte) n;
    for (int i = 0; i < n; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        position = start;
        writeBlob(text.getBytes(StandardCharsets.UTF_8));
        return;
      }
      buffer[position++] = (byte) c;
    }
  }

  public void writeKey(Key key) {
    int n = key.length();
    writeVarInt(n, true);
    require(n);
    key.copyTo(buffer, position);
    position += n;
  }

  /** Writes a replica: its number in the record's dictionary, or 0 and the replica itself. */
  public void writeReplica(ReplicaId replica) {
    int place = placeOf(replica);
    writeVarInt(place + 1, true);
    if (place < 0) {
      writeText(replica.dc());
      writeNumber(replica.incarnation());
      dictionary.add(replica);
    }
  }

  /** The replica's place in the dictionary, or -1. */
  private int placeOf(ReplicaId replica) {
    if (dictionary.size() > SCANNED_MAX) {
      for (int i = places.size(); i < dictionary.size(); i++) {
        places.put(dictionary.get(i), i);
      }
      return places.getOrDefault(replica, -1);
    }
    for (int i = 0; i < dictionary.size(); i++) {
      ReplicaId known = dictionary.get(i);
      if (known == replica || known.equals(replica)) {
        return i;
      }
    }
    return -1;
  }

  public void writeDot(Dot dot) {
    writeDot(dot.replica(), dot.number());
  }

  /** Writes a dot that is no object. */
  public void writeDot(ReplicaId replica, long number) {
    writeReplica(replica);
    writeNumber(number);
  }

  public void writeVector(VersionVector vector) {
    writeCount(vector.size());
    for (int i = 0; i < vector.size(); i++) {
      writeReplica(vector.replica(i));
      writeNumber(vector.number(i));
    }
  }

  public void writeContext(CausalContext context) {
    writeCount(context.size());
    for (int i = 0; i < context.size(); i++) {
      writeReplica(context.replica(i));
      writeRanges(context, i);
    }
  }

  /** Writes a causal context without its replicas, which the reader must know in their order. */
  public void writeRanges(CausalContext context) {
    for (int i = 0; i < context.size(); i++) {
      writeRanges(context, i);
    }
  }

  private void writeRanges(CausalContext context, int i) {
    int n = context.rangeCount(i);
    writeCount(n);
    long from = 0;
    for (int k = 0; k < n; k++) {
      writeNumber(context.rangeAfter(i, k) - from);
      writeNumber(context.rangeLast(i, k) - context.rangeAfter(i, k));
      from = context.rangeLast(i, k);
    }
  }

  /** Writes a value: its kind, then its content. */
  public void writeValue(Value value) {
    writeByte(value.kind());
    switch (value) {
      case Value.Bytes v -> writeBlob(v.content());
      case Value.Str v -> writeText(v.content());
      case Value.Int v -> writeSigned(v.content());
      case Value.Real v ->
          writeLong(Double.doubleToLongBits(v.content())); // one NaN, so one encoded form
    }
  }
}
