package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.protocol.Call;
import io.osier.protocol.Request;
import java.util.LinkedHashSet;
import java.util.Set;

/** What can be seen to be wrong of a program before its partition's turn. Pure. */
final class ProgramChecks {
  private ProgramChecks() {}

  /**
   * All keys that a program is about.
   *
   * @throws OsierException INVALID_ARGUMENT if it has too many calls or guards, or none, or guards a
   *     key that no call is about
   */
  static Set<Key> keys(Request.Evaluate program) {
    int calls = program.calls().size();
    int guards = program.guards().size();
    if (calls < 1 || calls > Request.PROGRAM_MAX || guards > Request.PROGRAM_MAX) {
      throw wrong(
          "a program has 1 to "
              + Request.PROGRAM_MAX
              + " calls, and at most as many guards, not "
              + calls
              + " and "
              + guards);
    }
    Set<Key> keys = new LinkedHashSet<>();
    program.calls().forEach(call -> keys.addAll(call.keys()));
    for (Call.Guard guard : program.guards()) {
      if (!keys.contains(guard.key())) {
        throw wrong(
            "no call of the program is about '" + guard.key() + "', which it guards: read it");
      }
    }
    return keys;
  }

  private static OsierException wrong(String what) {
    return new OsierException(ErrorCode.INVALID_ARGUMENT, what);
  }
}
