package io.osier.datacenter.forward;

import io.osier.core.Key;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.protocol.Call;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Request;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The forwarded form of a program of one script, whose steps another datacenter executes: the
 * script's form, and the program as if it read a version instead. It begins with a number that no
 * request of clients has, so a datacenter that does not know it refuses.
 *
 * @param form the script's form, from which its steps follow
 * @param program with the guards, and with a call of the script's first key instead of the script
 */
public record ForwardedScript(byte[] form, Request.Evaluate program) {
  /** See above; {@code copies} has 127. */
  static final int KIND = 126;

  /** The script of a request that can travel; null if there is none. */
  static Call.@Nullable Script of(Request request) {
    return request instanceof Request.Evaluate e
            && e.calls().size() == 1
            && e.calls().getFirst() instanceof Call.Script script
            && script.form().isPresent()
        ? script
        : null;
  }

  /** Returns whether such a program comes next, after the beginning that all questions have. */
  public static boolean isNext(WireInput rest) {
    return isNext(rest, KIND);
  }

  /** Returns whether a question or an answer of this kind comes next. */
  public static boolean isNext(WireInput rest, int kind) {
    return rest.remaining() > 0 && (rest.getBuffer()[rest.position()] & 0xff) == kind;
  }

  static void write(WireOutput out, Call.Script script, Request.Evaluate program) {
    out.writeByte(KIND);
    out.writeBlob(script.form().orElseThrow().get());
    ProtocolCodec.writeBody(out, with(program, new Call.Version(script.key())));
  }

  /**
   * Reads the program; once.
   *
   * @throws MalformedException if the bytes are no such program
   */
  public static ForwardedScript read(WireInput in) {
    return Codec.decode(
        "a forwarded script",
        () -> {
          in.readByte();
          byte[] form = in.readBlob(Codec.RECORD_BYTES_MAX);
          if (ProtocolCodec.decodeRequestBody(in) instanceof Request.Evaluate program) {
            return new ForwardedScript(form, program);
          }
          throw new MalformedException("a script is one of a program");
        });
  }

  /** Returns the keys that the program names: the script's first one, and those of the guards. */
  public Set<Key> keys() {
    Set<Key> keys = new LinkedHashSet<>();
    program.calls().forEach(call -> keys.add(call.key()));
    program.guards().forEach(guard -> keys.add(guard.key()));
    return keys;
  }

  /** Returns the program with the script that its form stands for. */
  public Request.Evaluate doing(Call.Script script) {
    return with(program, script);
  }

  private static Request.Evaluate with(Request.Evaluate program, Call call) {
    return new Request.Evaluate(
        program.keyspace(), List.of(call), program.guards(), program.after(), program.waitMillis());
  }
}
