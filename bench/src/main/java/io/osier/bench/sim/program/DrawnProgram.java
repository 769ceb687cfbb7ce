package io.osier.bench.sim.program;

import io.osier.bench.sim.check.ProgramCheck;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A program that writes: the calls of which all have something and those that it may have besides.
 *
 * @param at whose programs' objects it is about
 * @param number its own
 * @param calls all of them, in their order
 * @param steps how many of them, the first ones, are done by a script; never all
 */
record DrawnProgram(ReplicaId at, int number, List<Call> calls, int steps) {
  private static final int TAKEN_MAX = 3;

  /**
   * Draws one.
   *
   * @param assigns to the datacenter's register; empty for nothing
   */
  static DrawnProgram draw(
      ProgramObjects objects, ReplicaId at, int number, Optional<Long> assigns, Random random) {
    int group = number / ProgramObjects.GROUP;
    Operation add = new Operation.Add(Value.of(number));
    List<Call> calls = new ArrayList<>();
    objects.sets(group).forEach(set -> calls.add(update(set, add)));
    calls.add(update(objects.counter(group, at), new Operation.Increment(1)));
    assigns.ifPresent(
        value -> calls.add(update(objects.register(at), new Operation.Assign(Value.of(value)))));
    if (random.nextBoolean()) {
      ObjectId bag = objects.bag(at);
      calls.add(update(bag, add));
      int most = 1 + random.nextInt(TAKEN_MAX);
      calls.add(new Call.Take(bag.key(), bag.type(), most, random.nextLong()));
    }
    Collections.shuffle(calls, random);
    if (random.nextBoolean()) {
      calls.addAll(random.nextInt(calls.size() + 1), moves(objects.moved(at), number));
    }
    int steps = random.nextInt(3) == 0 ? 1 + random.nextInt(calls.size() - 1) : 0;
    return new DrawnProgram(at, number, calls, steps);
  }

  private static Call.Update update(ObjectId object, Operation operation) {
    return new Call.Update(object.key(), object.type(), operation, Optional.empty());
  }

  private static List<Call> moves(List<Key> keys, int number) {
    CrdtType type = ProgramObjects.MOVED.get(number % ProgramObjects.MOVED.size());
    Operation assign = new Operation.Assign(Value.of(number));
    return List.of(
        new Call.Replace(keys.get(0), type, assign, false),
        new Call.Rename(keys.get(0), keys.get(1), false),
        new Call.Copy(keys.get(1), keys.get(2), false));
  }

  /** The calls that a script does, if there are some. */
  List<Call> scripted() {
    return calls.subList(0, steps);
  }

  /** The calls behind the script. */
  List<Call> others() {
    return calls.subList(steps, calls.size());
  }

  private boolean takes() {
    return calls.stream().anyMatch(Call.Take.class::isInstance);
  }

  private boolean moves() {
    return calls.stream().anyMatch(Call.Rename.class::isInstance);
  }

  /** It is about to be asked for. */
  void begins(ProgramCheck check) {
    if (takes()) {
      check.takes().begins(at, number, TAKEN_MAX);
    }
    if (moves()) {
      check.moves().begins(at, number);
    }
  }

  /** It was not done. */
  void never(ProgramCheck check) {
    if (takes()) {
      check.takes().never(at, number);
    }
    check.moves().never(number);
  }

  /**
   * It was done.
   *
   * @param parts the answers to its calls; of another number where it was done otherwise
   * @param fault what is wrong with the steps of its script; null if nothing
   */
  void done(ProgramCheck check, List<Reply> parts, @Nullable String fault) {
    if (fault != null) {
      throw new Violation("program", "of program %d of %s %s", number, at, fault);
    }
    List<Long> taken = new ArrayList<>();
    for (int i = 0; i < parts.size() && parts.size() == calls.size(); i++) {
      Call call = calls.get(i);
      Reply part = parts.get(i);
      Optional<Reading> took =
          part instanceof Reply.Done d
              ? d.answer().flatMap(Reply.Answer::reading)
              : part instanceof Reply.Answer a ? a.reading() : Optional.empty();
      if (call instanceof Call.Take && took.isPresent()) {
        taken.addAll(numbers(took.get()));
      } else if (!(part instanceof Reply.Done)) {
        throw new Violation(
            "program", "of program %d of %s %s is answered %s", number, at, call, part);
      }
    }
    if (takes()) {
      check.takes().done(at, number, taken);
    }
    check.moves().done(number);
  }

  /** The numbers that a register or a set holds. */
  static List<Long> numbers(Reading reading) {
    List<Value> values =
        reading instanceof Reading.Single one
            ? one.value().stream().toList()
            : ((Reading.Many) reading).values();
    return values.stream().map(value -> ((Value.Int) value).content()).toList();
  }
}
