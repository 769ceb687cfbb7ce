package io.osier.datacenter.forward;

import io.osier.core.Dot;
import io.osier.core.HolderTerms;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the answers that were passed on have shown, all connections together: for each partition one
 * version vector. Whoever was answered by one holder and asks another asks for what is behind it.
 * Pure; used under its owner's lock.
 */
public final class ShownVersions {
  ShownVersions() {}

  /** By keyspace, then by partition. */
  private final Map<String, Map<Integer, VersionVector>> shown = new HashMap<>();

  VersionVector of(String keyspace, int partition) {
    return shown.getOrDefault(keyspace, Map.of()).getOrDefault(partition, VersionVector.EMPTY);
  }

  /** There is no such keyspace any more. */
  void forget(String keyspace) {
    shown.remove(keyspace);
  }

  /**
   * A holder says that something of a partition that was shown is lost: what former lives of these
   * replicas had made, as it has found out, or who holds it no more, since whoever is removed alive
   * has shipped all. It is asked for no more, whoever asks.
   *
   * @param living those that are up
   * @param holders those that hold it at present
   */
  void lost(
      String keyspace, int partition, Collection<ReplicaId> living, Collection<String> holders) {
    Map<ReplicaId, Long> kept = new HashMap<>();
    VersionVector seen = of(keyspace, partition);
    for (int i = 0; i < seen.size(); i++) {
      ReplicaId of = seen.replica(i);
      boolean isFormer =
          living.stream()
              .anyMatch(
                  now ->
                      now.dc().equals(of.dc())
                          && now.incarnation() > HolderTerms.life(of).incarnation());
      if (!isFormer && holders.contains(of.dc())) {
        kept.put(of, seen.number(i));
      }
    }
    if (kept.size() < seen.size()) {
      shown.getOrDefault(keyspace, Map.of()).put(partition, VersionVector.of(kept));
    }
  }

  /**
   * Notes an answer that is passed on.
   *
   * @param partition that the request is about; empty if it is about all of them
   */
  void answered(Request request, Optional<Integer> partition, Reply reply) {
    String keyspace = Forwardable.keyspace(request).orElse("");
    if (partition.isPresent()) {
      VersionVector seen = seen(reply);
      if (!(reply instanceof Reply.Failure)) {
        seen = seen.join(request.after());
      }
      saw(keyspace, partition.get(), seen);
      return;
    }
    List<VersionVector> all = seenOfAll(reply);
    for (int i = 0; i < all.size(); i++) {
      saw(keyspace, i, all.get(i));
    }
  }

  void saw(String keyspace, int partition, VersionVector seen) {
    if (!seen.isEmpty()) {
      shown
          .computeIfAbsent(keyspace, k -> new HashMap<>())
          .merge(partition, seen, VersionVector::join);
    }
  }

  /** Returns what an answer about one partition has shown. */
  public static VersionVector seen(Reply reply) {
    return switch (reply) {
      case Reply.Done r ->
          raised(r.answer().map(Reply.Answer::seen).orElse(VersionVector.EMPTY), r.dot());
      case Reply.Answer r -> r.seen();
      case Reply.All r -> seen(r.parts());
      case Reply.Evaluated r ->
          r.dot().map(dot -> raised(seen(r.parts()), dot)).orElseGet(() -> seen(r.parts()));
      case Reply.Transacted r -> r.dot().map(dot -> raised(r.clock(), dot)).orElse(r.clock());
      case Reply.Changes r when r.places().size() == 1 -> r.places().getFirst().seen();
      default -> VersionVector.EMPTY;
    };
  }

  private static VersionVector seen(List<Reply> parts) {
    VersionVector all = VersionVector.EMPTY;
    for (Reply part : parts) {
      all = all.join(seen(part));
    }
    return all;
  }

  private static VersionVector raised(VersionVector seen, Dot dot) {
    return seen.raised(dot.replica(), dot.number());
  }

  /** Returns what an answer about all partitions has shown, in their order. */
  public static List<VersionVector> seenOfAll(Reply reply) {
    return switch (reply) {
      case Reply.Page r -> r.seen();
      case Reply.Counted r -> r.seen();
      case Reply.Changes r -> {
        List<VersionVector> all = new ArrayList<>();
        r.places().forEach(place -> all.add(place.seen()));
        yield all;
      }
      default -> List.of();
    };
  }
}
