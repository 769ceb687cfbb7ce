package io.osier.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class BudgetTest {
  @Test
  void whatDoesNotFitIsRefused_andCounted() {
    Budget budget = new Budget("commands", 100);
    assertThat(budget.tryTake(60)).isTrue();
    assertThat(budget.tryTake(41)).isFalse();
    assertThat(budget.usage()).isEqualTo(new Budget.Usage("commands", 100, 60, 1));
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
    Budget budget = new Budget("trails", 100);
    budget.take(100);
    assertThat(budget.isOver()).isFalse();
    budget.take(1);
    assertThat(budget.isOver()).isTrue();
    budget.give(1);
    assertThat(budget.isOver()).isFalse();
    assertThat(budget.usage().plus(new Budget.Usage("other", 50, 20, 3)))
        .isEqualTo(new Budget.Usage("trails", 150, 120, 3));
  }

  @Test
  void whatHasToGo_isCounted() {
    Budget budget = new Budget("trails", 100);
    budget.take(101);
    budget.noteSpent();
    assertThat(budget.usage()).isEqualTo(new Budget.Usage("trails", 100, 101, 1));
  }

  @Test
  void negativeLimit_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Budget("trails", -1));
  }
}
