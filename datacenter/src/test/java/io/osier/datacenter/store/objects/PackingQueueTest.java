package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.datacenter.store.objects.PackingQueue.Loose;
import org.junit.jupiter.api.Test;

final class PackingQueueTest {
  private final PackingQueue queue = new PackingQueue(100);

  private static Loose key(String name) {
    return new Loose(Key.of(name), KeyObjects.NOTHING);
  }

  @Test
  void keyThatIsChangedAgain_countsWithWhatItTakesNow() {
    Loose key = key("k");
    queue.put(key, 60);
    queue.put(key, 60);
    assertThat(queue.isOver()).isFalse();
    queue.put(key, 101);
    assertThat(queue.isOver()).isTrue();
    queue.put(key, 40);
    queue.put(key("other"), 60);
    assertThat(queue.isOver()).isFalse();
    assertThat(queue.take()).isSameAs(key);
    queue.done(key);
    queue.put(key, 40);
    assertThat(queue.isOver()).isFalse();
    queue.put(key, 41);
    assertThat(queue.isOver()).isTrue();
  }

  @Test
  void keysThatWereUsed_areTakenLast() {
    Loose first = key("first");
    Loose second = key("second");
    Loose third = key("third");
    queue.put(first, 1);
    queue.put(second, 1);
    queue.put(third, 1);
    first.isUsed = true;
    assertThat(queue.take()).isSameAs(second);
    first.isUsed = true;
    third.isUsed = true;
    assertThat(queue.take()).as("all were used: the longest waiting one").isSameAs(third);
    assertThat(queue.take()).isSameAs(first);
    assertThat(queue.take()).isNull();
  }
}
