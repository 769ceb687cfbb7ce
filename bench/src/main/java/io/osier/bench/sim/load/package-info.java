/**
 * Who works with the datacenters: sessions ({@code SimSession}) of production's client ({@code
 * ClientCalls}) and sessions as the protocol defines them ({@code PlainCalls}), and transactions of
 * production's client ({@code SimTransactions}). {@code ToldSession} holds what callers are told
 * against what the partitions did. {@code Callers} says who takes part. Decides what is asked, when
 * and by whom; what goes wrong is decided elsewhere.
 */
@NullMarked
package io.osier.bench.sim.load;

import org.jspecify.annotations.NullMarked;
