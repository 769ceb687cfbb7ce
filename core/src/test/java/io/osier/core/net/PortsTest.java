package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PortsTest {
  /** Two listeners of a datacenter once drew the same port, so that it did not start. */
  @Test
  void portIsDrawnOnce() {
    // By chance alone, about 56 of so many would be drawn twice.
    assertThat(draw(1_500)).doesNotHaveDuplicates();
  }

  private static List<Integer> draw(int n) {
    return IntStream.range(0, n).mapToObj(i -> Ports.free()).toList();
  }

  /**
   * Plays another process: a class loaded anew, which knows nothing of the ports drawn by this one.
   */
  @Test
  void portThatAnotherProcessHasDrawn_isNotDrawn() throws Exception {
    URL classes = Ports.class.getProtectionDomain().getCodeSource().getLocation();
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
      var free = loader.loadClass(Ports.class.getName()).getMethod("free");
      assertThat(free.getDeclaringClass()).isNotSameAs(Ports.class);
      Set<Integer> drawn = new HashSet<>(draw(3_000));
      for (int i = 0; i < 3_000; i++) {
        assertThat(drawn).doesNotContain((Integer) free.invoke(null));
      }
    }
  }
}
