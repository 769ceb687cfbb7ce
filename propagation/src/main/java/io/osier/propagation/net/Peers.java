package io.osier.propagation.net;

import io.osier.propagation.net.link.LinkCompressor;
import io.osier.propagation.net.link.LinkTraffic;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The other datacenters as they are now. A change is seen at once by threads that send and by those
 * that judge greetings; ended diallers are left for the loop to close. Thread-safe.
 */
final class Peers implements PeeringContext.Others {
  private volatile SortedMap<String, Peer> all = Collections.emptySortedMap();
  private volatile Map<String, LinkTraffic> traffic = Map.of();

  private final Disagreements disagreements = new Disagreements();
  private volatile int compressed = LinkCompressor.BYTES_PER_SECOND;

  /** The diallers of peers that are gone or have another address, until the loop has taken them. */
  private final List<Dialler> ended = new ArrayList<>();

  /** Returns the peers by name; an unmodifiable view that does not change. */
  SortedMap<String, Peer> all() {
    return all;
  }

  @Override
  public Set<String> names() {
    return all.keySet();
  }

  @Override
  public Disagreements disagreements() {
    return disagreements;
  }

  /** Returns their traffic by name; an unmodifiable view that does not change. */
  Map<String, LinkTraffic> traffic() {
    return traffic;
  }

  @Override
  public int compressed() {
    return compressed;
  }

  /** Sets how much is compressed on connections that are made from now on. */
  void setCompressed(int bytesPerSecond) {
    compressed = bytesPerSecond;
  }

  /** Sets the other datacenters. */
  synchronized void set(Map<String, InetSocketAddress> addresses, PeeringContext peering) {
    SortedMap<String, Peer> next = new TreeMap<>();
    Map<String, LinkTraffic> carried = new TreeMap<>();
    addresses.forEach(
        (dc, address) -> {
          Peer peer = all.get(dc);
          if (peer == null) {
            peer = new Peer(dc, address, peering);
          } else if (!peer.dialler().isTo(address)) {
            ended.add(peer.dialler());
            peer.setDialler(new Dialler(dc, address, peer.traffic(), peering));
          }
          next.put(dc, peer);
          carried.put(dc, peer.traffic());
        });
    all.forEach(
        (dc, peer) -> {
          if (!next.containsKey(dc)) {
            peer.remove();
            ended.add(peer.dialler());
          }
        });
    all = Collections.unmodifiableSortedMap(next);
    traffic = Collections.unmodifiableMap(carried);
  }

  /** Takes the diallers that have ended since the last call. */
  synchronized List<Dialler> takeEnded() {
    List<Dialler> taken = List.copyOf(ended);
    ended.clear();
    return taken;
  }
}
