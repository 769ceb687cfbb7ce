/**
 * Samples. {@code osier sample NAME}: to read and run in five minutes each, a program's own code
 * against two datacenters in its process. {@code osier bench wallet} and {@code social}: causal
 * keyspaces at three datacenter processes, whose links are cut and which are killed, while readers
 * check what they see.
 */
@NullMarked
package io.osier.bench.sample;

import org.jspecify.annotations.NullMarked;
