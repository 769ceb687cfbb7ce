/**
 * MULTI to EXEC, and WATCH. EXEC is one program of one partition: a guard for each watched key, and
 * a script ({@link io.osier.protocol.Call.Script}) that follows the plans of the queued commands,
 * one after the other, within the partition's turn. So a command that reads and then writes what it
 * has computed has nobody come between, sees what those before it have made, and never begins anew;
 * all of it is one commit, which in a causal keyspace becomes visible everywhere as a whole. The
 * script goes to the partition as code; to another datacenter, which holds the keyspace, go the
 * words of the commands instead. Pure: it must not know connections or clocks.
 */
@NullMarked
package io.osier.datacenter.redis.transaction;

import org.jspecify.annotations.NullMarked;
