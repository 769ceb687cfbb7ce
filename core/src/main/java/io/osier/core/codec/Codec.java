package io.osier.core.codec;

import com.esotericsoftware.kryo.KryoException;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What all encoded forms have in common: the version of the format, with which every message, frame
 * and token begins, the largest sizes, and that bytes that are wrong are one kind of error,
 * whatever is wrong with them.
 *
 * <p>Of Kryo only the buffers are used, below {@link WireInput} and {@link WireOutput}: they grow,
 * and they know numbers of variable length. Its serializers and its registry of classes are not:
 * each form is written field by field by who knows it, with a number for each alternative.
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

  private Codec() {}

  /** Writes the version, with which a message begins. */
  public static void writeVersion(WireOutput out) {
    out.writeByte(FORMAT_VERSION);
  }

  /**
   * Reads the version.
   *
   * @throws MalformedException if it is another one
   */
  public static void expectVersion(WireInput in) {
    try {
      int version = in.readByte();
      if (version != FORMAT_VERSION) {
        throw new MalformedException("format version " + version + " is not " + FORMAT_VERSION);
      }
    } catch (KryoException e) {
      throw new MalformedException("no format version: " + e.getMessage(), e);
    }
  }

  /**
   * Decodes what a store had, which may ask for more of it meanwhile: another error than one of the
   * bytes, such as one of the disk, stays what it is.
   *
   * @param what it is, for the error: "a record"
   * @throws MalformedException if it is none, whatever the bytes are
   */
  public static <T> T decode(String what, Supplier<T> reader) {
    try {
      return reader.get();
    } catch (MalformedException e) {
      throw e;
    } catch (OsierException e) {
      boolean isOfBytes = e.code() == ErrorCode.MALFORMED || e.code() == ErrorCode.INVALID_ARGUMENT;
      throw isOfBytes ? malformed(what, e) : e;
    } catch (RuntimeException e) {
      throw malformed(what, e);
    }
  }

  private static MalformedException malformed(String what, RuntimeException e) {
    return new MalformedException("not " + what + ": " + OsierException.reasonOf(e), e);
  }

  /**
   * Reads what fills the rest of the input.
   *
   * @param what it is, for the error: "a message"
   * @throws MalformedException if it is none, whatever the bytes are
   */
  public static <T> T readAll(WireInput in, String what, Function<WireInput, T> reader) {
    try {
      T value = reader.apply(in);
      in.expectEnd();
      return value;
    } catch (MalformedException e) {
      throw e;
    } catch (RuntimeException e) {
      // Underflow, argument checks of the decoded types: to a caller they are one thing.
      throw malformed(what, e);
    }
  }
}
