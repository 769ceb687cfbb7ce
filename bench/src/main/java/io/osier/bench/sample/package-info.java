/**
 * Samples. {@code osier sample NAME}: to read and run in five minutes each, a program's own code
 * against two datacenters in its process. {@code osier bench smoke} runs the wallet and the social
 * network on causal keyspaces of datacenters that are killed, while readers check what they see.
 */
@NullMarked
package io.osier.bench.sample;

import org.jspecify.annotations.NullMarked;
