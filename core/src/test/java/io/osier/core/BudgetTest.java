package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class BudgetTest {
  @Test
  void whatDoesNotFitIsRefused_andCounted() {
    Budget budget = new Budget("commands", 100);
    assertThat(budget.tryTake(60)).isTrue();
    assertThat(budget.tryTake(41)).isFalse();
    assertThat(budget.used()).isEqualTo(60);
    assertThat(budget.spent()).isEqualTo(1);
    budget.give(60);
    assertThat(budget.tryTake(100)).isTrue();
  }

  @Test
  void whatIsLargerThanTheBudgetIsTakenAlone() {
    Budget budget = new Budget("commands", 100);
    assertThat(budget.tryTake(500)).isTrue();
    assertThat(budget.tryTake(1)).isFalse();
    budget.give(500);
    assertThat(budget.tryTake(1)).isTrue();
    assertThat(budget.tryTake(500)).isFalse();
  }

  @Test
  void whatHasComeIsTakenAnyhow_andTheBudgetIsOver() {
    Budget budget = new Budget("updates for others", 100);
    budget.take(100);
    assertThat(budget.isOver()).isFalse();
    budget.take(1);
    assertThat(budget.isOver()).isTrue();
    budget.give(1);
    assertThat(budget.isOver()).isFalse();
  }

  @Test
  void sharesAreNeverMoreThanTheWhole_whichSumsWhatTheyUse() {
    Budget heap = new Budget("heap", 100);
    Budget commands = heap.share("commands", 40);
    Budget history = heap.share("history", 60);
    assertThatThrownBy(() -> heap.share("more", 1)).isInstanceOf(IllegalArgumentException.class);
    commands.divided(4).forEach(part -> part.take(10));
    history.take(30);
    assertThat(commands.shares()).extracting(Budget::limit).containsExactly(10L, 10L, 10L, 10L);
    assertThat(commands.used()).isEqualTo(40);
    assertThat(heap.used()).isEqualTo(70);
    commands.shares().getFirst().tryTake(1);
    assertThat(heap.spent()).isEqualTo(1);
  }
}
