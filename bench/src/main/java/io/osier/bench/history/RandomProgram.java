package io.osier.bench.history;

import io.osier.bench.history.History.Op;
import io.osier.crdt.CrdtType;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Program;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * A program that reads, writes, or reads and replaces each of some registers.
 *
 * @param calls its reads, which have no value yet, and writes
 */
record RandomProgram(List<Op> calls) {
  static RandomProgram draw(List<Integer> keys, Recorder recorder, Random random) {
    List<Op> calls = new ArrayList<>();
    for (int key : keys) {
      int which = random.nextInt(4);
      if (which != 0) {
        calls.add(new Op(false, key, 0));
      }
      if (which != 1) {
        calls.add(new Op(true, key, recorder.newValue()));
      }
    }
    if (random.nextInt(4) == 0) {
      // A key that the program has written or read before.
      calls.add(new Op(false, keys.getFirst(), 0));
    }
    return new RandomProgram(calls);
  }

  /** Returns the writes, which may have been done even if there is no answer. */
  List<Op> writes() {
    return calls.stream().filter(Op::write).toList();
  }

  /** Runs the program, and returns its reads and writes. */
  List<Op> run(Keyspace keyspace, Recorder recorder) {
    Program program = keyspace.program();
    for (Op call : calls) {
      var unused =
          call.write()
              ? program.update(
                  Registers.key(call.key()),
                  CrdtType.LWW_REGISTER,
                  Registers.assign(call.value()),
                  Optional.empty())
              : program.read(Registers.key(call.key()), Registers.TYPE, Registers.WHOLE);
    }
    Program.Result result = program.run();
    List<Op> ops = new ArrayList<>();
    for (int i = 0; i < calls.size(); i++) {
      Op call = calls.get(i);
      ops.add(call.write() ? call : Registers.read(call.key(), result.found(i)));
      if (call.write() && !result.isDone(i)) {
        recorder.broken("a program did not do " + call);
      }
    }
    return ops;
  }
}
