package io.osier.core.codec;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.util.Pool;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.List;

/**
 * Turns registered types into records and back. A record is
 *
 * <pre>
 *   +----------------+------------------------+---------------------+
 *   | format version | Kryo registration id   | the type's own form |
 *   | 1 byte         | variable-length number |                     |
 *   +----------------+------------------------+---------------------+
 * </pre>
 *
 * <p>Registration ids never change their meaning; each module owns a range: core 20 to 39, crdt 40
 * to 79, propagation 80 to 119, proxy 120 to 199, datacenter from 200 on. Thread-safe.
 */
public final class Codec {
  /** The version that this code writes, and the only one so far that it reads. */
  public static final byte FORMAT_VERSION = 1;

  /**
   * Largest record, in bytes: twice {@link #OBJECT_BYTES_MAX}, since sizes are estimates and frames
   * hold more than one object.
   */
  public static final int RECORD_BYTES_MAX = 1 << 30;

  /**
   * Largest object, in bytes, with what all datacenters do to it before they hear of each other:
   * each keeps it within its keyspace's limit, and together they may exceed that.
   */
  public static final int OBJECT_BYTES_MAX = RECORD_BYTES_MAX / 2;

  /** Buffers above this size are not kept for reuse. */
  private static final int POOLED_BYTES_MAX = 1 << 20;

  /**
   * One registered type.
   *
   * @param type the class
   * @param id its registration id
   * @param serializer its form
   */
  public record Registration<T>(Class<T> type, int id, WireSerializer<T> serializer) {}

  private record Worker(Kryo kryo, WireOutput out) {}

  private final List<Registration<?>> registrations;
  private final Pool<Worker> workers;

  /** A codec for exactly these types. */
  public Codec(List<Registration<?>> registrations) {
    this.registrations = List.copyOf(registrations);
    this.workers =
        new Pool<>(true, false, 32) {
          @Override
          protected Worker create() {
            return new Worker(newKryo(), new WireOutput());
          }
        };
    workers.free(workers.obtain()); // fails here, not later, if two types share an id
  }

  private Kryo newKryo() {
    Kryo kryo = new Kryo();
    kryo.setRegistrationRequired(true);
    kryo.setReferences(false);
    for (Registration<?> r : registrations) {
      if (kryo.getRegistration(r.id) != null) {
        throw new IllegalStateException(
            "registration id " + r.id + " is taken: " + kryo.getRegistration(r.id).getType());
      }
      kryo.register(r.type, r.serializer, r.id);
    }
    return kryo;
  }

  /**
   * Encodes a value of a registered type.
   *
   * @throws IllegalArgumentException if its type is not registered
   * @throws OsierException {@link ErrorCode#VALUE_TOO_LARGE} if the record would be over {@link
   *     #RECORD_BYTES_MAX}
   */
  public byte[] encode(Object value) {
    Worker worker = workers.obtain();
    try {
      WireOutput out = worker.out;
      out.reset();
      out.writeByte(FORMAT_VERSION);
      worker.kryo.writeClassAndObject(out, value);
      return out.toBytes();
    } catch (com.esotericsoftware.kryo.io.KryoBufferOverflowException e) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE, "a record is over " + RECORD_BYTES_MAX + " bytes", e);
    } finally {
      if (worker.out.getBuffer().length <= POOLED_BYTES_MAX) {
        workers.free(worker);
      }
    }
  }

  /**
   * Decodes one record that fills the bytes.
   *
   * @throws MalformedException if it is none, whatever the bytes are
   */
  public Object decode(byte[] bytes) {
    return decode(bytes, 0, bytes.length);
  }

  /** Decodes one record that fills the range of bytes. */
  public Object decode(byte[] bytes, int offset, int length) {
    WireInput in = new WireInput(bytes, offset, length);
    Worker worker = workers.obtain();
    try {
      byte version = in.readByte();
      if (version != FORMAT_VERSION) {
        throw new MalformedException(
            "format version "
                + version
                + " is not "
                + FORMAT_VERSION
                + ", which this version reads");
      }
      Object value = worker.kryo.readClassAndObject(in);
      if (value == null) {
        throw new MalformedException("the record is empty");
      }
      in.expectEnd();
      return value;
    } catch (MalformedException e) {
      throw e;
    } catch (RuntimeException e) {
      // Kryo answers bad input with many exceptions (underflow, unknown id, argument checks of the
      // decoded types); to a caller they are one thing.
      throw new MalformedException("not a record: " + e.getMessage(), e);
    } finally {
      workers.free(worker);
    }
  }

  /**
   * Decodes one record of a given type.
   *
   * @throws MalformedException if it is none, or one of another type
   */
  public <T> T decode(byte[] bytes, Class<T> type) {
    Object value = decode(bytes);
    if (!type.isInstance(value)) {
      throw new MalformedException(
          "expected a " + type.getSimpleName() + ", not a " + value.getClass().getSimpleName());
    }
    return type.cast(value);
  }

  /** The registered types, for tests that go through all of them. */
  public List<Registration<?>> registrations() {
    return registrations;
  }

  /** Whether Kryo would accept the class; used by tests. */
  Serializer<?> serializerOf(Class<?> type) {
    return newKryo().getSerializer(type);
  }
}
