/**
 * MULTI to EXEC, and WATCH. EXEC is one program of one partition: a guard for each watched key, and
 * a script ({@link io.osier.protocol.Call.Script}) that follows the plans of the queued commands,
 * one after the other, within the partition's turn. So a command that reads and then writes what it
 * has computed is not interrupted, sees the updates of the commands before it, and never begins
 * again. All updates are one commit, which becomes visible everywhere as a whole in a causal
 * keyspace. The partition gets the script as code; another datacenter that holds the keyspace gets
 * the words of the commands instead. Pure: it must not know connections or clocks.
 */
@NullMarked
package io.osier.datacenter.redis.transaction;

import org.jspecify.annotations.NullMarked;
