/** A long run on narrow links with a datacenter away: {@code osier bench soak}. */
package io.osier.bench.soak;
