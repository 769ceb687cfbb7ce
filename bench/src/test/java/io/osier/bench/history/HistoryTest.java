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

  private static Txn txn(int session, int number, Op... ops) {
    return new Txn(session, number, List.of(ops));
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
    assertThat(history.lines())
        .startsWith("w(1,10,1,1)", "w(1,20,2,2)", "r(1,10,3,3)")
        .endsWith("r(2,0,5,5)", "w(2,30,5,5)", "r(2,30,5,5)");
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
    assertThat(history.violation()).isPresent();
  }

  @Test
  void unrepeatableAndUnwrittenReads_areFound() {
    assertThat(history(txn(1, 1, w(1, 10)), txn(2, 2, r(1, 0), r(1, 10))).violation()).isPresent();
    assertThat(history(txn(1, 1, r(1, 99))).violation().orElseThrow()).contains("nobody wrote");
    assertThat(history(txn(1, 1, w(1, 10), w(1, 11)), txn(2, 2, r(1, 10))).violation())
        .as("not its last write")
        .isPresent();
    assertThat(history(txn(1, 1, r(1, 20), w(2, 10)), txn(2, 2, r(2, 10), w(1, 20))).violation())
        .hasValue("causality has a cycle");
  }
}
