package io.osier.datacenter.admin;

import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Collects the statuses of the other datacenters for this one's dashboard, and decides what to tell
 * the others. Statuses travel as notes over the peer links: these work wherever Osier works at all,
 * while a peer's admin port may only listen on its loopback, or be behind a firewall.
 *
 * <p>A datacenter with a viewer asks each peer once a second, and names the datacenters that it has
 * not heard of lately (the missing ones). Peers ask the missing ones in turn, and tell what they
 * know of them, so that a datacenter behind a cut link is seen through a third one. Without viewers
 * nothing is asked. Bounded: one status of at most {@value #STATUS_BYTES_MAX} bytes is kept for
 * each configured peer, and a peer is answered at most once in {@value #ANSWER_MILLIS} ms.
 *
 * <p>Pure, with time passed in; not thread-safe.
 */
final class StatusBoard {
  /** Largest status, in bytes of UTF-8: with its head it fits into a note. */
  static final int STATUS_BYTES_MAX = 60 << 10;

  /** After so long without a status a datacenter is missing, and others are asked for it. */
  static final long MISSING_MILLIS = 2_500;

  /** After so long a status is forgotten. */
  static final long FORGOTTEN_MILLIS = 60_000;

  /** The least time between two answers to one peer; questions that come faster are ignored. */
  static final long ANSWER_MILLIS = 300;

  private static final int NAME_MAX = 64;
  private static final int ASK = 1;
  private static final int TELL = 2;

  sealed interface Note {}

  /**
   * Asks for a datacenter's status.
   *
   * @param missing datacenters of which the asker has not heard lately
   */
  record Ask(Set<String> missing) implements Note {
    Ask {
      missing = Set.copyOf(missing);
    }
  }

  /**
   * Tells a datacenter's status.
   *
   * @param dc the datacenter that the status is about: the sender, or a third one
   * @param ageMillis the status's age
   * @param status the status, as JSON
   */
  record Tell(String dc, long ageMillis, String status) implements Note {}

  /**
   * A datacenter's last status.
   *
   * @param by the datacenter that told it: itself, or a third one
   */
  record Heard(String dc, long ageMillis, String by, String status) {}

  private record Entry(long atNanos, String by, String status) {}

  private Set<String> peers;
  private final Map<String, Entry> entries = new TreeMap<>();
  private final Map<String, Long> answered = new TreeMap<>();

  StatusBoard(Collection<String> peers) {
    this.peers = new TreeSet<>(peers);
  }

  void setPeers(Collection<String> others) {
    peers = new TreeSet<>(others);
    entries.keySet().retainAll(peers);
    answered.keySet().retainAll(peers);
  }

  Set<String> peers() {
    return peers;
  }

  Ask ask(long nowNanos) {
    Set<String> missing = new TreeSet<>();
    for (String dc : peers) {
      Entry entry = entries.get(dc);
      if (entry == null || !entry.by.equals(dc) || millis(entry, nowNanos) > MISSING_MILLIS) {
        missing.add(dc);
      }
    }
    return new Ask(missing);
  }

  /** Returns those of a peer's missing datacenters that this one should ask in turn. */
  Set<String> further(String from, Ask ask) {
    Set<String> further = new TreeSet<>(ask.missing);
    further.retainAll(peers);
    further.remove(from);
    return further;
  }

  /** Returns whether to answer a peer's question; if so, counts it as answered. */
  boolean mayAnswer(String to, long nowNanos) {
    Long last = answered.get(to);
    if (!peers.contains(to) || (last != null && nowNanos - last < ANSWER_MILLIS * 1_000_000)) {
      return false;
    }
    answered.put(to, nowNanos);
    return true;
  }

  /** Returns the statuses of missing datacenters that this one has from themselves. */
  List<Tell> known(Set<String> missing, long nowNanos) {
    List<Tell> known = new ArrayList<>();
    for (String dc : missing) {
      Entry entry = entries.get(dc);
      if (entry != null && entry.by.equals(dc) && millis(entry, nowNanos) <= FORGOTTEN_MILLIS) {
        known.add(new Tell(dc, millis(entry, nowNanos), entry.status));
      }
    }
    return known;
  }

  /** Takes a status that a peer tells, unless a newer one is known. */
  void told(String from, Tell tell, long nowNanos) {
    if (!peers.contains(from) || !peers.contains(tell.dc)) {
      return;
    }
    long at = nowNanos - Math.clamp(tell.ageMillis, 0, FORGOTTEN_MILLIS) * 1_000_000;
    Entry entry = entries.get(tell.dc);
    if (entry == null || at - entry.atNanos > 0) {
      entries.put(tell.dc, new Entry(at, from, tell.status));
    }
  }

  /** Returns the last known status of each peer, and forgets those that are too old. */
  List<Heard> heard(long nowNanos) {
    entries.values().removeIf(entry -> millis(entry, nowNanos) > FORGOTTEN_MILLIS);
    List<Heard> heard = new ArrayList<>();
    entries.forEach((dc, e) -> heard.add(new Heard(dc, millis(e, nowNanos), e.by, e.status)));
    return heard;
  }

  private static long millis(Entry entry, long nowNanos) {
    return Math.max(0, (nowNanos - entry.atNanos) / 1_000_000);
  }

  static byte[] encode(Note note) {
    return WireOutput.bytesOf(
        out -> {
          switch (note) {
            case Ask ask -> {
              out.writeByte(ASK);
              out.writeCount(ask.missing.size());
              ask.missing.stream().sorted().forEach(out::writeText);
            }
            case Tell tell -> {
              out.writeByte(TELL);
              out.writeText(tell.dc);
              out.writeNumber(tell.ageMillis);
              out.writeBlob(tell.status.getBytes(StandardCharsets.UTF_8));
            }
          }
        });
  }

  /**
   * Decodes a note.
   *
   * @throws MalformedException if the bytes are no such note
   */
  static Note decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "a note", StatusBoard::read);
  }

  private static Note read(WireInput in) {
    int kind = in.readByte();
    return switch (kind) {
      case ASK -> {
        int n = in.readCount(1);
        Set<String> missing = new TreeSet<>();
        for (int i = 0; i < n; i++) {
          missing.add(in.readText(NAME_MAX));
        }
        yield new Ask(missing);
      }
      case TELL ->
          new Tell(
              in.readText(NAME_MAX),
              in.readNumber(),
              new String(in.readBlob(STATUS_BYTES_MAX), StandardCharsets.UTF_8));
      default -> throw new MalformedException("a note of kind " + kind + " is unknown");
    };
  }
}
