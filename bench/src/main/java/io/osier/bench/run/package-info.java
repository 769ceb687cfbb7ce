/**
 * The load runner: osier bench run SCENARIO. A scenario's file says which systems are started,
 * which load they get and which steps happen meanwhile. This package starts the systems, runs the
 * loads and measures, its variants in turn, and prints a table for each case. It contains no
 * scenario.
 */
@NullMarked
package io.osier.bench.run;

import org.jspecify.annotations.NullMarked;
