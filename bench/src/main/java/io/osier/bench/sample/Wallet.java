package io.osier.bench.sample;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.crdt.types.BoundedCounter;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.Keyspace.Get;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** A bank: accounts are never overdrawn, and transfers neither make nor lose money. */
public final class Wallet extends SampleUnderFaults {
  private static final int ACCOUNTS = 20;
  private static final long PAID_IN = 100L;

  private final AtomicLongArray expected = new AtomicLongArray(ACCOUNTS);

  /** By account, the sum of transfers of unknown outcome. */
  private final AtomicLongArray uncertain = new AtomicLongArray(ACCOUNTS);

  private final AtomicLong transfers = new AtomicLong();
  private final AtomicLong declined = new AtomicLong();

  @Override
  public String keyspace() {
    return "wallet";
  }

  private static String account(int i) {
    return "account-" + i;
  }

  @Override
  void prepare(Keyspace keyspace) {
    try (Transaction tx = keyspace.begin()) {
      for (int i = 0; i < ACCOUNTS; i++) {
        tx.boundedCounter(account(i)).create(0, BoundedCounter.NO_UPPER);
        tx.boundedCounter(account(i)).increment(PAID_IN);
        expected.set(i, PAID_IN);
      }
      tx.commit();
    }
  }

  @Override
  void act(Keyspace keyspace, String dc, Random random) {
    int from = random.nextInt(ACCOUNTS);
    int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
    long amount = 1 + random.nextLong(20);
    try (Transaction tx = keyspace.begin()) {
      long balance = tx.boundedCounter(account(from)).get();
      if (balance < amount) {
        declined.incrementAndGet();
        return;
      }
      tx.boundedCounter(account(from)).decrement(amount);
      tx.boundedCounter(account(to)).increment(amount);
      tx.commit();
    } catch (OutcomeUnknownException e) {
      uncertain.addAndGet(from, amount);
      uncertain.addAndGet(to, amount);
      throw e;
    } catch (OsierException e) {
      if (e.code() == ErrorCode.INVALID_ARGUMENT || e.code() == ErrorCode.NOT_ENOUGH_RIGHTS) {
        declined.incrementAndGet(); // not created here yet, or others hold the rights
        return;
      }
      throw e;
    }
    transfers.incrementAndGet();
    expected.addAndGet(from, -amount);
    expected.addAndGet(to, amount);
  }

  private static List<Long> balances(Keyspace keyspace) {
    List<Get> reads = new ArrayList<>();
    for (int i = 0; i < ACCOUNTS; i++) {
      reads.add(new Get(account(i), CrdtType.BOUNDED_COUNTER));
    }
    List<Long> balances = new ArrayList<>();
    for (Found found : keyspace.readTogether(reads)) {
      balances.add(((Reading.Count) found.reading().orElseThrow()).value());
    }
    return balances;
  }

  @Override
  void check(Keyspace keyspace, String dc) {
    check(dc, balances(keyspace));
  }

  /** Checks the balances of all accounts on one snapshot of a datacenter. */
  void check(String dc, List<Long> balances) {
    long sum = balances.stream().mapToLong(b -> b).sum();
    if (sum != (long) ACCOUNTS * PAID_IN && sum != 0) { // 0: before the accounts have come
      violated("the sum at %s is %d: %s", dc, sum, balances);
    }
    if (balances.stream().anyMatch(b -> b < 0)) {
      violated("an account is overdrawn at %s: %s", dc, balances);
    }
  }

  @Override
  void checkEnd(Keyspace keyspace, String dc) {
    checkEnd(dc, balances(keyspace));
  }

  /** Checks the balances of all accounts at a datacenter at the end. */
  void checkEnd(String dc, List<Long> balances) {
    for (int i = 0; i < ACCOUNTS; i++) {
      if (Math.abs(balances.get(i) - expected.get(i)) > uncertain.get(i)) {
        violated(
            "%s has %d in %s; by the confirmed transfers it is %d",
            dc, balances.get(i), account(i), expected.get(i));
      }
    }
  }

  @Override
  List<AtomicLong> counts() {
    return List.of(transfers);
  }

  @Override
  String summary() {
    return transfers + " transfers, " + declined + " declined";
  }
}
