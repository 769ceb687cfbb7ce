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
 * A growing buffer that encodes Osier's small types. A replica is written in full once a record and
 * by its number afterwards, since every dot carries one. Not thread-safe.
 */
public final class WireOutput extends Output {
  /** The length of a shorter text takes one byte. */
  private static final int SHORT_TEXT = 0x80;

  /** Larger buffers than this are not kept for reuse. */
  private static final int KEPT_BYTES_MAX = 1 << 20;

  private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

  /** A thread's buffer for {@link #bytesOf}. */
  private static final class Scratch {
    private WireOutput out = new WireOutput();
    private boolean isBusy;
  }

  /** With more replicas than this, they are looked up by their hash. */
  private static final int SCANNED_MAX = 16;

  private final List<ReplicaId> dictionary = new ArrayList<>(4);

  /** Replica → index in the dictionary, once that is too long to be scanned; otherwise empty. */
  private final Map<ReplicaId, Integer> places = new HashMap<>(0);

  /** Creates a buffer that grows up to {@link Codec#RECORD_BYTES_MAX}. */
  public WireOutput() {
    this(Codec.RECORD_BYTES_MAX);
  }

  /** Creates a buffer that grows up to this many bytes. */
  public WireOutput(int bytesMax) {
    super(256, bytesMax);
  }

  /**
   * Returns the bytes that {@code content} writes into an empty buffer. The thread reuses the
   * buffer, which has grown already, so only the result is copied.
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
   * Returns how many bytes {@code content} writes into this buffer from its beginning; empty if
   * they are more than it may grow to. The buffer's former content is lost.
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

  /** Begins another record behind those in the buffer: it knows none of their replicas. */
  public void startRecord() {
    dictionary.clear();
    if (!places.isEmpty()) {
      places.clear();
    }
  }

  /**
   * Makes a replica known to both sides beforehand, so that it takes one byte. The reader must do
   * the same, in the same order, before it reads a replica.
   */
  public void presetReplica(ReplicaId replica) {
    dictionary.add(replica);
  }

  public int replicas() {
    return dictionary.size();
  }

  /** Whether these replicas have the first numbers, in their order. */
  public boolean numbersFirst(List<ReplicaId> replicas) {
    return replicas.size() <= dictionary.size()
        && dictionary.subList(0, replicas.size()).equals(replicas);
  }

  /** Writes a non-negative number; small ones take few bytes. */
  public void writeNumber(long number) {
    if (number < 0) {
      throw new IllegalArgumentException("not a non-negative number: " + number);
    }
    writeVarLong(number, true);
  }

  /** Writes any number; small absolute values take few bytes. */
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

  /** Returns the replica's index in the dictionary, or -1. */
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

  /** Writes a dot given by its parts. */
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
          writeLong(Double.doubleToLongBits(v.content())); // there is one NaN, so one encoded form
    }
  }
}
