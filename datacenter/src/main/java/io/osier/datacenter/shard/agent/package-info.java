/**
 * Runs one partition: its inbox, the thread or the callers that run it, its batches, and the
 * answers that leave when an update is durable. The partition itself is pure and is called from
 * here.
 */
@NullMarked
package io.osier.datacenter.shard.agent;

import org.jspecify.annotations.NullMarked;
