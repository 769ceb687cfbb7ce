/**
 * The load runner: osier bench run SCENARIO. A scenario's file says which systems are started, what
 * load they get and what happens meanwhile; this package starts, drives and measures them, variants
 * in turn, and prints one table for each case. It knows no scenario.
 */
@NullMarked
package io.osier.bench.run;

import org.jspecify.annotations.NullMarked;
