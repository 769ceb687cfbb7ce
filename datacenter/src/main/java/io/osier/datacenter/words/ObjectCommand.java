package io.osier.datacenter.words;

import io.osier.core.Key;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import java.util.Optional;

public sealed interface ObjectCommand {
  record Read(Key key, CrdtType type, Query query) implements ObjectCommand {}

  /**
   * Updates an object.
   *
   * @param ask what to show of it; empty for nothing
   * @param condition what must hold for it to be done; empty for nothing
   */
  record Update(
      Key key,
      CrdtType type,
      Operation operation,
      Optional<Request.Ask> ask,
      Optional<Request.Condition> condition)
      implements ObjectCommand {
    /** An update without a condition, which shows nothing. */
    public Update(Key key, CrdtType type, Operation operation) {
      this(key, type, operation, Optional.empty(), Optional.empty());
    }

    Update with(Operation other) {
      return new Update(key, type, other, ask, condition);
    }

    /** Whether it counts, so that people want to see how far. */
    public boolean isCounting() {
      return condition.isEmpty()
          && (done() instanceof Operation.Increment || done() instanceof Operation.IncrementWithin);
    }

    private Operation done() {
      return switch (operation) {
        case Operation.WithDeadline both -> both.update();
        case Operation.WithPartDeadlines both -> both.update();
        default -> operation;
      };
    }

    /** What is shown of the answer to what it asks: of an addition what is new. */
    public Reading shown(Reading answer) {
      return done() instanceof Operation.Add add && answer instanceof Reading.Many former
          ? new Reading.Many(new Query.Among(add.elements()).absent(former.values()))
          : answer;
    }
  }

  /** Asks how long an element or field lives on. */
  record PartTimeToLive(Key key, CrdtType type, Part part) implements ObjectCommand {}
}
