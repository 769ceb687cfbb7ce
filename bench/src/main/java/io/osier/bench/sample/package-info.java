/**
 * Samples to read and run in five minutes each: a program's own code against two datacenters in its
 * process. {@code osier sample NAME}.
 */
@NullMarked
package io.osier.bench.sample;

import org.jspecify.annotations.NullMarked;
