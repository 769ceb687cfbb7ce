package io.osier.testing;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** Objects of an interface with many methods, of which a test is about few. */
public final class Faked {
  private Faked() {}

  /**
   * Returns an object of an interface.
   *
   * @param calls hears of each call, and says what it returns
   */
  public static <T> T of(Class<T> type, InvocationHandler calls) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, calls));
  }
}
