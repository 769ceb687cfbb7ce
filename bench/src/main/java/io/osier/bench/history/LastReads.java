package io.osier.bench.history;

import io.osier.bench.cluster.LocalCluster;
import io.osier.bench.history.History.Op;
import io.osier.core.OsierException;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Reads all registers at every datacenter after all sessions have ended, until all datacenters show
 * the same. The reading sessions come after all other sessions.
 */
final class LastReads {
  private static final Duration AT_MOST = Duration.ofSeconds(60);

  /** A session at one datacenter alone. */
  private record Reader(String dc, Keyspace keyspace, int session) {}

  private final Recorder recorder;
  private final List<Integer> keys;
  private final List<Integer> before = new ArrayList<>();

  LastReads(Recorder recorder, int keys) {
    this.recorder = recorder;
    this.keys = IntStream.range(0, keys).boxed().toList();
  }

  void run(LocalCluster cluster) {
    List<Recorder.Past> pasts = recorder.endings();
    pasts.forEach(p -> before.addAll(p.txns()));
    List<OsierClient> clients = new ArrayList<>();
    List<Reader> readers = new ArrayList<>();
    try {
      for (String dc : cluster.dcs()) {
        OsierClient client = cluster.only(dc);
        clients.add(client);
        Session session = client.session();
        pasts.forEach(p -> session.join(p.decoded()));
        readers.add(new Reader(dc, session.keyspace(Registers.KEYSPACE), recorder.newSession()));
      }
      long deadline = System.nanoTime() + AT_MOST.toNanos();
      Set<List<Op>> different = new HashSet<>();
      do {
        LockSupport.parkNanos(different.isEmpty() ? 0 : 200_000_000);
        different.clear();
        readers.forEach(r -> different.add(read(r, deadline)));
      } while (different.size() > 1 && System.nanoTime() < deadline);
      if (different.size() > 1) {
        recorder.broken("the datacenters still differ in the end: " + different);
      }
    } catch (OsierException e) {
      recorder.broken("the last reads fail: " + e.code() + ": " + e.reason());
    } finally {
      clients.forEach(OsierClient::close);
    }
  }

  private List<Op> read(Reader reader, long deadline) {
    while (true) {
      try {
        List<Op> ops = Registers.reads(keys, reader.keyspace.readTogether(Registers.gets(keys)));
        recorder.add(reader.session, ops, before, reader.dc);
        return ops;
      } catch (OsierException e) {
        if (!e.code().retryable() || System.nanoTime() > deadline) {
          throw e;
        }
        LockSupport.parkNanos(200_000_000);
      }
    }
  }
}
