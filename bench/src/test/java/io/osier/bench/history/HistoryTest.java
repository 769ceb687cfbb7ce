package io.osier.bench.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.bench.history.History.Op;
import io.osier.bench.history.History.Txn;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The checker finds what is forbidden, and accepts what is allowed. */
final class HistoryTest {
  private static History history(Txn... txns) {
    History history = new History();
    List.of(txns).forEach(history::add);
    return history;
  }

  private static Op w(int key, long value) {
    return new Op(true, key, value);
  }

  private static Op r(int key, long value) {
    return new Op(false, key, value);
  }

  private static Txn txn(int session, int number, List<Integer> after, Op... ops) {
    return new Txn(session, number, List.of(ops), after, "", false);
  }

  private static Txn txn(int session, int number, Op... ops) {
    return txn(session, number, List.of(), ops);
  }

  @Test
  void concurrentWrites_mayBeSeenInAnyOrder() {
    History history =
        history(
            txn(1, 1, w(1, 10)),
            txn(2, 2, w(1, 20)),
            txn(3, 3, r(1, 10)),
            txn(4, 4, r(1, 20)),
            txn(5, 5, r(2, 0), w(2, 30), r(2, 30)));
    assertThat(history.violation()).isEmpty();
  }

  @Test
  void replyWithoutItsPost_isFound() {
    History history =
        history(txn(1, 1, w(1, 10)), txn(2, 2, r(1, 10), w(2, 20)), txn(3, 3, r(2, 20), r(1, 0)));
    assertThat(history.violation().orElseThrow()).contains("although it comes after");
  }

  @Test
  void overwrittenValue_isFound() {
    History history =
        history(
            txn(1, 1, w(1, 10)),
            txn(1, 2, w(1, 11)),
            txn(1, 3, w(2, 20)),
            txn(2, 4, r(2, 20), r(1, 10)));
    assertThat(history.violation().orElseThrow()).contains("although it comes after");
  }

  @Test
  void halfATransaction_isFound() {
    History history = history(txn(1, 1, w(1, 10), w(2, 20)), txn(2, 2, r(1, 10), r(2, 0)));
    assertThat(history.violation().orElseThrow())
        .startsWith("2 of session 2 ")
        .contains("read r2=0 although it comes after another write: 1 of session 1 ");
  }

  private static Txn program(String at, int session, int number, Op... ops) {
    return new Txn(session, number, List.of(ops), List.of(), at, true);
  }

  @Test
  void halfAProgram_isFound() {
    Txn program = program("eu", 1, 1, r(1, 0), w(1, 10), w(2, 20));
    Txn before = program("eu", 2, 2, r(1, 0), r(2, 0));
    Txn after = txn(3, 3, r(2, 20), r(1, 10));
    assertThat(history(program, before, after).violation()).isEmpty();
    assertThat(history(program, program("eu", 2, 2, r(1, 0), r(2, 20))).violation().orElseThrow())
        .startsWith("2 of session 2 eu program ")
        .contains("read r1=0 although it comes after another write: 1 of session 1 ");
    assertThat(history(program, txn(2, 2, r(1, 10), r(2, 0))).violation().orElseThrow())
        .as("elsewhere, by a transaction")
        .contains("read r2=0 although it comes after another write");
  }

  @Test
  void programsAtOneDatacenter_thatReplaceTheSame_areFound() {
    Txn first = program("eu", 1, 1, r(1, 0), w(1, 10), r(1, 10));
    Txn second = program("eu", 2, 2, r(1, 0), w(2, 20), w(1, 11));
    assertThat(history(first, second).violation().orElseThrow())
        .startsWith("both read and replaced r1=0: 1 of session 1 ");
    Txn elsewhere = program("us", 2, 2, r(1, 0), w(2, 20), w(1, 11));
    assertThat(history(first, elsewhere).violation()).as("they are concurrent").isEmpty();
    Txn transaction = txn(2, 2, r(1, 0), w(1, 11));
    assertThat(history(first, transaction).violation()).as("it is no program").isEmpty();
    Txn next = program("eu", 2, 2, r(1, 10), w(1, 11), w(1, 12));
    Txn blind = program("eu", 3, 3, w(1, 13), r(1, 13));
    assertThat(history(first, next, blind).violation()).isEmpty();
  }

  @Test
  void unrepeatableAndUnwrittenReads_areFound() {
    assertThat(history(txn(1, 1, w(1, 10)), txn(2, 2, r(1, 0), r(1, 10))).violation().orElseThrow())
        .startsWith("2 of session 2 ")
        .endsWith("read r1=10 where it must read 0");
    assertThat(history(txn(1, 1, w(1, 10), r(1, 0))).violation().orElseThrow())
        .as("its own write")
        .endsWith("read r1=0 where it must read 10");
    assertThat(history(txn(1, 1, r(1, 99))).violation().orElseThrow()).contains("nobody wrote");
    assertThat(
            history(txn(1, 1, w(1, 10), w(1, 11)), txn(2, 2, r(1, 10))).violation().orElseThrow())
        .as("not its last write")
        .contains("nobody wrote in the end");
    assertThat(history(txn(1, 1, r(1, 20), w(2, 10)), txn(2, 2, r(2, 10), w(1, 20))).violation())
        .hasValueSatisfying(v -> assertThat(v).startsWith("causality has a cycle"));
    assertThat(history(txn(1, 1, r(1, History.ABORTED))).violation().orElseThrow())
        .contains("aborted");
  }

  @Test
  void transactionsThatWinByHalves_areFound() {
    Txn eu = txn(1, 1, w(1, 10), w(2, 11));
    Txn us = txn(2, 2, w(1, 20), w(2, 21));
    // Somebody sees both of them, by other keys or by session order, and who won at each key.
    History halves =
        history(eu, us, txn(3, 3, r(1, 20)), txn(3, 4, r(2, 11)), txn(3, 5, r(1, 20), r(2, 11)));
    assertThat(halves.violation().orElseThrow()).contains("seen to lose");
    History whole =
        history(eu, us, txn(3, 3, r(1, 10)), txn(3, 4, r(2, 21)), txn(3, 5, r(1, 20), r(2, 21)));
    assertThat(whole.violation()).isEmpty();
  }

  @Test
  void whoeverLost_neverWinsElsewhere() {
    Txn eu = txn(1, 1, w(1, 10), w(3, 12));
    Txn us = txn(2, 2, w(1, 20), w(4, 22));
    Txn first = txn(3, 3, r(3, 12), r(4, 22), r(1, 10));
    Txn second = txn(4, 4, r(3, 12), r(4, 22), r(1, 20));
    assertThat(history(eu, us, first).violation()).isEmpty();
    assertThat(history(eu, us, second).violation()).isEmpty();
    assertThat(history(eu, us, first, second).violation().orElseThrow()).contains("seen to lose");
  }

  @Test
  void whatWasSeen_thatWinsThroughAThird_isFound() {
    Txn eu = txn(1, 1, w(3, 10));
    Txn us = txn(2, 2, r(3, 10), w(1, 20), w(5, 21));
    Txn ap = txn(3, 3, w(1, 30), w(3, 31), w(4, 32));
    History history = history(eu, us, ap, txn(4, 4, r(5, 21), r(4, 32), r(1, 30), r(3, 10)));
    assertThat(history.violation().orElseThrow()).contains("seen to lose");
  }

  @Test
  void clocksThatWereHanded_areCausality() {
    Txn write = txn(1, 1, w(1, 10));
    Txn handed = txn(2, 2, List.of(1), r(1, 0));
    assertThat(history(write, txn(2, 2, r(1, 0))).violation()).isEmpty();
    assertThat(history(write, handed).violation().orElseThrow()).contains("comes after");
    // Reads that did not wait for each other are sessions of their own, with what was before them.
    Txn later = txn(1, 2, w(1, 11));
    Txn one = txn(3, 3, List.of(1), r(1, 11));
    Txn other = txn(4, 4, List.of(1), r(1, 10));
    Txn next = txn(1, 5, List.of(3, 4), r(1, 10));
    assertThat(history(write, later, one, other).violation()).isEmpty();
    assertThat(history(write, later, one, other, next).violation()).isPresent();
  }

  @Test
  void manyTransactions_areCheckedInTimeAndMemoryThatGrowWithThem() {
    History history = new History();
    int number = 0;
    long[] last = new long[3];
    for (int i = 0; i < 50_000; i++) {
      int key = i % 3;
      long value = i + 1L;
      history.add(txn(1 + i % 20, ++number, r(key, last[key]), w(key, value)));
      last[key] = value;
    }
    assertThat(history.violation()).isEmpty();
    history.add(txn(99, ++number, r(0, last[0]), r(1, last[1] - 300)));
    assertThat(history.violation()).isPresent();
  }
}
