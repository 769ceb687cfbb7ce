/**
 * One partition's runner: its inbox, its thread or whoever calls, its turns, and who is told when
 * an update is durable. The partition itself is pure and is called from here.
 */
@NullMarked
package io.osier.datacenter.shard.agent;

import org.jspecify.annotations.NullMarked;
