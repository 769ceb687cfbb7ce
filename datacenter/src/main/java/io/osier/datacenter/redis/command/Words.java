package io.osier.datacenter.redis.command;

import io.osier.core.Key;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Reads a command's words from left to right. Not thread-safe. */
public final class Words {
  private final byte[][] words;
  private int at;

  /** Begins behind the command's name. */
  public Words(byte[][] words) {
    this.words = words;
    this.at = 1;
  }

  public boolean hasNext() {
    return at < words.length;
  }

  public int left() {
    return words.length - at;
  }

  /** Returns the next word; throws RedisException with a syntax error if there is none. */
  public byte[] next() {
    if (at == words.length) {
      throw RedisErrors.syntax();
    }
    return words[at++];
  }

  public Key key() {
    return Key.of(next());
  }

  public List<Key> keys() {
    return keys(left());
  }

  public List<Key> keys(int count) {
    List<Key> keys = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      keys.add(key());
    }
    return keys;
  }

  public List<byte[]> rest() {
    List<byte[]> rest = new ArrayList<>(left());
    while (hasNext()) {
      rest.add(next());
    }
    return rest;
  }

  public long integer() {
    return Numbers.integer(next());
  }

  /** Returns the next word in capitals, as the name of an option. */
  public String option() {
    return option(next());
  }

  /** Returns a word in capitals; an empty text for a word that is too long to be an option. */
  public static String option(byte[] word) {
    return word.length > 32
        ? ""
        : new String(word, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
  }

  /** Skips the next word if it is this option; returns whether it is. */
  public boolean takes(String option) {
    if (hasNext() && option(words[at]).equals(option)) {
      at++;
      return true;
    }
    return false;
  }
}
