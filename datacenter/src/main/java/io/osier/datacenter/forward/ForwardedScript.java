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
 * A program of one script whose steps another datacenter takes: what the script follows, and the
 * program as it would be if it read a version. It begins with a number that no request of clients
 * has, so who does not know it refuses.
 *
 * @param form what the script follows
 * @param program with the guards, and with a call of the script's first key instead of the script
 */
public record ForwardedScript(byte[] form, Request.Evaluate program) {
  /** See above; what follows copies has 127. */
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

  /** Whether it is one, behind what each question begins with. */
  public static boolean isNext(WireInput rest) {
    return isNext(rest, KIND);
  }

  static boolean isNext(WireInput rest, int kind) {
    return rest.remaining() > 0 && (rest.getBuffer()[rest.position()] & 0xff) == kind;
  }

  static void write(WireOutput out, Call.Script script, Request.Evaluate program) {
    out.writeByte(KIND);
    out.writeBlob(script.form().orElseThrow().get());
    ProtocolCodec.writeBody(out, with(program, new Call.Version(script.key())));
  }

  /**
   * Reads one; once.
   *
   * @throws MalformedException if it is none
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

  /** The keys that the program names: the script's first one, and those of the guards. */
  public Set<Key> keys() {
    Set<Key> keys = new LinkedHashSet<>();
    program.calls().forEach(call -> keys.add(call.key()));
    program.guards().forEach(guard -> keys.add(guard.key()));
    return keys;
  }

  /** The program as it is done, by the steps that its form stands for. */
  public Request.Evaluate doing(Call.Script script) {
    return with(program, script);
  }

  private static Request.Evaluate with(Request.Evaluate program, Call call) {
    return new Request.Evaluate(
        program.keyspace(), List.of(call), program.guards(), program.after(), program.waitMillis());
  }
}
