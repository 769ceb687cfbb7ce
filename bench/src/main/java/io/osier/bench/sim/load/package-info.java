/**
 * Who works with the datacenters. {@code SimClient} and {@code SimTransactor} are a session and a
 * transaction as they are defined; {@code ToldSession} and {@code SimTransactions} are those of
 * production's client, and hold what it tells its callers against what the partitions did. {@code
 * Callers} says who takes part. Decides what is asked, when and by whom; what goes wrong is decided
 * elsewhere.
 */
@NullMarked
package io.osier.bench.sim.load;

import org.jspecify.annotations.NullMarked;
