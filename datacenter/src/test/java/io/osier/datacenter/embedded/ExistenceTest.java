package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.Transaction;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether keys hold something and of which type, by network and in the process. */
@NullUnmarked // what is null is refused
final class ExistenceTest {
  @AutoClose private static final Ways ways = new Ways();

  private static void holds(ObjectSpace space, String key, CrdtType type) {
    assertThat(space.type(key)).as("type of %s", key).isEqualTo(Optional.ofNullable(type));
    assertThat(space.exists(key)).as("%s exists", key).isEqualTo(type != null);
  }

  /** An operation after which an object exists, and one after which it does not. */
  private static List<Operation> operations(CrdtType type) {
    Operation clear = new Operation.Clear();
    Value a = Value.of("a");
    return switch (type) {
      case PN_COUNTER, G_COUNTER -> List.of(new Operation.Increment(1), clear);
      case STRING -> List.of(new Operation.Increment(0), clear);
      case LWW_REGISTER, MV_REGISTER, MIN_REGISTER, MAX_REGISTER ->
          List.of(new Operation.Assign(a), clear);
      case EW_FLAG, DW_FLAG -> List.of(new Operation.SetFlag(true), new Operation.SetFlag(false));
      case G_SET -> List.of(new Operation.Add(a), clear);
      case AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS ->
          List.of(new Operation.Add(a), new Operation.Remove(a));
      case OR_MAP ->
          List.of(
              new Operation.UpdateFields(
                  new FieldId("f", CrdtType.LWW_REGISTER), new Operation.Assign(a)),
              new Operation.RemoveFields(List.of("f")));
      case BOUNDED_COUNTER -> List.of(new Operation.Bound(0, 5, List.of()));
    };
  }

  @EachWay
  void everyType_existsWhileItDiffersFromANewOne(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    for (CrdtType type : CrdtType.values()) {
      String key = "e" + type.number();
      holds(keyspace, key, null);
      List<Operation> operations = operations(type);
      keyspace.update(Key.of(key), type, operations.getFirst());
      holds(keyspace, key, type);
      if (operations.size() > 1) {
        keyspace.update(Key.of(key), type, operations.getLast());
        holds(keyspace, key, null);
        keyspace.update(Key.of(key), type, operations.getFirst());
        holds(keyspace, key, type);
      }
    }
    keyspace.counter("zero").increment(1);
    keyspace.counter("zero").increment(-1);
    holds(keyspace, "zero", CrdtType.PN_COUNTER);
    keyspace.counter("zero").clear();
    holds(keyspace, "zero", null);
  }

  @EachWay
  void valueIsNotSent(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    keyspace.register("large").assign(Value.of(new byte[1_000_000]));
    Keyspace.Found found = keyspace.read(Key.of("large"), Optional.empty(), new Query.Exists());
    assertThat(found.reading()).contains(new Reading.Flag(true));
    assertThat(
            keyspace
                .read(Key.of("none"), Optional.of(CrdtType.AW_SET), new Query.Exists())
                .reading())
        .contains(new Reading.Flag(false));
    Request.Ask before = new Request.Ask(true, new Query.Exists());
    for (boolean there : new boolean[] {false, true}) {
      assertThat(
              keyspace
                  .update(Key.of("new"), CrdtType.AW_SET, new Operation.Add(Value.of(1)), before)
                  .reading())
          .as("whether it was there")
          .contains(new Reading.Flag(there));
    }
  }

  @BothWays
  void inATransaction_itIsWhatTheTransactionSees(String how) {
    Keyspace bank = ways.here(how, "bank");
    bank.counter("before").increment();
    bank.set("cleared").add("a");
    try (Transaction transaction = bank.begin()) {
      bank.counter("later").increment();
      transaction.register("own").assign("x");
      transaction.set("cleared").clear();
      holds(transaction, "before", CrdtType.PN_COUNTER);
      holds(transaction, "later", null);
      holds(transaction, "own", CrdtType.LWW_REGISTER);
      holds(transaction, "cleared", null);
      holds(bank, "own", null);
      holds(bank, "cleared", CrdtType.AW_SET);
      transaction.commit();
    }
    holds(bank, "own", CrdtType.LWW_REGISTER);
    holds(bank, "cleared", null);
  }

  /** What was seen elsewhere is seen here: a session does not lose sight of a key. */
  @ParameterizedTest
  @CsvSource({"shop", "bank"})
  void sessionsGuarantees_hold(String name) {
    ways.there("network", name).counter("there").increment(1);
    await().until(() -> ways.here("network", name).exists("there"));
    Keyspace here = ways.here("network", name);
    assertThat(here.type("there")).contains(CrdtType.PN_COUNTER);
    assertThat(here.token().toString()).as("what it has seen").contains("us/");
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, bank"})
  void whatIsNoKey_isRefused(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    for (String key : new String[] {null, "", "k".repeat(Key.LENGTH_MAX + 1)}) {
      assertThat(keyspace.existsAsync(key)).isCompletedExceptionally();
      assertThatThrownBy(() -> keyspace.type(key))
          .isInstanceOfSatisfying(
              OsierException.class,
              e -> assertThat(e.code()).isIn(ErrorCode.INVALID_ARGUMENT, ErrorCode.KEY_TOO_LARGE));
    }
  }
}
