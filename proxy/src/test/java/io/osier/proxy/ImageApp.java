package io.osier.proxy;

import io.osier.proxy.values.KryoValues;
import io.osier.proxy.values.ValueCodec;

/** What {@link OwnImageTest} runs: a program that reads, and keeps an object by Kryo. */
final class ImageApp {
  record Pair(String name, long count) {}

  private ImageApp() {}

  public static void main(String[] arguments) {
    ValueCodec<Pair> pairs = KryoValues.builder().register(1, Pair.class).build().codec(Pair.class);
    try (OsierClient client = Osier.connect("eu=" + arguments[0])) {
      long count = client.session().keyspace("shop").counter("c").get();
      System.out.println(pairs.decode(pairs.encode(new Pair("read", count))));
    }
  }
}
